"""A map from points to their trials that is never changed; one with a trial more shares nearly all of it.

A hash trie: a leaf is a dict of at most `WIDTH` points, and beyond that a branch has a part for each digit of a point's
hash. So what another trial costs does not depend on how many there are.

References:
    Bagwell (2001), Ideal hash trees.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from robustbo.trials.identity import Point

BITS = 5  # of a hash that a branch looks at
WIDTH = 1 << BITS
DEEPEST = 12  # below which hashes are the same, and a leaf may have any number of points


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The trials at one point, the last one first.

    Attributes:
        count: How many.
        last: The number of the last one.
        before: Those before it.
    """

    count: int
    last: int
    before: "Numbers | None" = None

    def __iter__(self) -> Iterator[int]:
        entry: Numbers | None = self
        while entry is not None:
            yield entry.last
            entry = entry.before


Leaf = dict[Point, Numbers]
Node = Any  # a leaf, or a tuple of nodes


class ByPoint(Collection[Point]):
    """The points that there are trials at, and the numbers of these.

    Example:
        >>> point = (("x", False, 0.5),)
        >>> one = ByPoint.of([point])
        >>> two = one.with_trial(1, point)
        >>> [*one.at(point)], [*two.at(point)], len(two)
        ([0], [1, 0], 1)
    """

    def __init__(self, size: int, root: Node) -> None:
        self._size, self._root = size, root

    def __len__(self) -> int:
        return self._size

    def __contains__(self, point: object) -> bool:
        return bool(self.at(point))

    def __iter__(self) -> Iterator[Point]:
        return _points(self._root)

    @classmethod
    def of(cls, points: Iterable[Point | None]) -> "ByPoint":
        """The map of trials number 0, 1, 2, ... at these points; one without a point is left out."""
        leaf: Leaf = {}
        for number, point in enumerate(points):
            if point is not None:
                leaf[point] = _behind(leaf.get(point), number)
        return cls(len(leaf), _spread(leaf, 0))

    def at(self, point: Any) -> Numbers | tuple[()]:
        """The trials at a point, the last one first; empty where there are none."""
        node, digits = self._root, hash(point)
        while isinstance(node, tuple):
            node, digits = node[digits % WIDTH], digits >> BITS
        return node.get(point, ())

    def with_trial(self, number: int, point: Point) -> "ByPoint":
        """The map with one more trial."""
        return ByPoint(self._size + (point not in self), _insert(self._root, number, point, 0))


def _behind(before: Numbers | None, number: int) -> Numbers:
    return Numbers(1 if before is None else before.count + 1, number, before)


def _digit(point: Point, depth: int) -> int:
    return (hash(point) >> BITS * depth) % WIDTH


def _insert(node: Node, number: int, point: Point, depth: int) -> Node:
    if isinstance(node, dict):
        return _spread({**node, point: _behind(node.get(point), number)}, depth)
    place = _digit(point, depth)
    return (*node[:place], _insert(node[place], number, point, depth + 1), *node[place + 1 :])


def _spread(leaf: Leaf, depth: int) -> Node:
    """A leaf, or the branch that it becomes where it has too many points."""
    if len(leaf) <= WIDTH or depth > DEEPEST:
        return leaf
    parts: list[Leaf] = [{} for _ in range(WIDTH)]
    for point, numbers in leaf.items():
        parts[_digit(point, depth)][point] = numbers
    return tuple(_spread(part, depth + 1) for part in parts)


def _points(node: Node) -> Iterator[Point]:
    if isinstance(node, dict):
        yield from node
    else:
        for part in node:
            yield from _points(part)
