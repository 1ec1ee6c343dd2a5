"""All trials in order, as a value: a sequence that is never changed, and of which a changed one is nearly all shared.

A tree whose leaves have at most `WIDTH` trials. A change makes the nodes above it anew, of which there are four among a
million trials, and shares all others with the sequence before; whoever holds that one sees nothing of it. Each node
knows how many trials of each kind are below it, so that the few that are pending among very many are at hand.

References:
    Okasaki (1998), Purely functional data structures; Bagwell and Rompf (2011), RRB-trees.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, NamedTuple, Self, cast, overload

from robustbo.trials.by_point import ByPoint
from robustbo.trials.identity import Point, point_of
from robustbo.trials.trial import OPEN, STATES, Trial

WIDTH = 32
LOST = "lost"  # told, where one of several outcomes came to no finite number
RETRIED = "to be retried"  # failed, and a flake by the user's word
BARRED = "barred"  # failed, and never to be asked for again, by the user's word
OPENED = "open"
ASIDE: Any = "aside"  # in tables of decisions: a trial of another source than the target, which is looked at elsewhere
KINDS = (*STATES, OPENED, LOST, RETRIED, BARRED, ASIDE)
DIGIT = 40  # bits of a count
UNIT = {kind: 1 << DIGIT * place for place, kind in enumerate(KINDS)}  # one trial of that kind, in a tally


class Node(NamedTuple):
    """A part of a sequence.

    Attributes:
        parts: Trials, or nodes that are one lower.
        tally: How many trials there are of each kind: a number with a digit a kind.
    """

    parts: tuple[Any, ...]
    tally: int


EMPTY = Node((), 0)


def tally_of(trial: Trial) -> int:
    """One of each kind that a trial is of."""
    tally = UNIT[trial.state]
    if trial.state in OPEN:
        tally += UNIT[OPENED]
    if trial.state == "told" and any(outcome.is_lost for outcome in trial.outcomes.values()):
        tally += UNIT[LOST]
    if trial.state == "failed" and trial.retry is not None:
        tally += UNIT[RETRIED if trial.retry else BARRED]
    return tally


def num_of(tally: int, kind: str) -> int:
    """Number of trials of a kind in a tally."""
    return tally // UNIT[kind] % (1 << DIGIT)


class Trials(Sequence[Trial]):
    """Trials in order, as a tuple has them; what `with_changes` changes costs the same for ten and for a million.

    Example:
        >>> trials = Trials([Trial(0, {"x": 0.5}, state="told")])
        >>> more = trials.with_changes({1: Trial(1, {"x": 0.75})})
        >>> len(trials), len(more), more.num("told"), more.at((("x", False, 0.75),))
        (1, 2, 1, (Trial(number=1, params={'x': 0.75}),))
    """

    def __init__(self, trials: Iterable[Trial] = ()) -> None:
        self._root, self._height, self._length = EMPTY, 0, 0
        self._by_point: ByPoint | None = None  # made when it is first asked for, and from then on carried along
        vars(self).update(vars(self.with_changes(dict(enumerate(trials)))))

    @classmethod
    def of(cls, trials: Iterable[Trial]) -> "Trials":
        """Trials as such a sequence, if they are none yet."""
        return trials if isinstance(trials, cls) else cls(trials)

    def __reduce__(self) -> tuple[Any, ...]:
        return Trials, (tuple(self),)  # hashes differ between processes, and so do maps by point

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Trial]:
        return _all(self._root, self._height)

    @overload
    def __getitem__(self, place: int) -> Trial: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Trial, ...]: ...
    def __getitem__(self, place: int | slice) -> Trial | tuple[Trial, ...]:
        if isinstance(place, slice):
            return tuple(self[number] for number in range(self._length)[place])
        place, node = range(self._length)[place], self._root
        for height in range(self._height, 0, -1):
            first, place = divmod(place, WIDTH**height)
            node = node.parts[first]
        return cast(Trial, node.parts[place])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trials | tuple):
            return NotImplemented
        if isinstance(other, Trials) and self._root is other._root:
            return True
        return len(self) == len(other) and all(a is b or a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def num(self, kind: str) -> int:
        """Number of trials of a kind: a state, or another of `KINDS`."""
        return num_of(self._root.tally, kind)

    def having(self, kind: str) -> Iterator[Trial]:
        """The trials of a kind, in order; parts without any are passed over."""
        return _with_kind(self._root, self._height, kind)

    @property
    def by_point(self) -> ByPoint:
        """The trials at each point: where they were measured, and where they had been asked for."""
        if self._by_point is None:
            self._by_point = ByPoint.of(None if trial.state == ASIDE else trial.point for trial in self)
            for trial in self:
                if trial.target is not None and trial.state != ASIDE:
                    self._by_point = self._by_point.with_trial(trial.number, point_of(trial.target))
        return self._by_point

    def at(self, point: Point) -> tuple[Trial, ...]:
        """The trials at a point, in order."""
        trials = (self[number] for number in sorted({*self.by_point.at(point)}))
        return tuple(trial for trial in trials if trial.target is None or trial.point == point)

    def open_at(self, point: Point) -> list[Trial]:
        """The trials at a point that may still be told, in order."""
        numbers = self.by_point.at(point)
        if numbers and numbers.count > self.num(OPENED):
            return [trial for trial in self.having(OPENED) if trial.point == point]
        return [trial for trial in self.at(point) if trial.is_open]

    def with_changes(self, changes: Mapping[int, Trial]) -> Self:
        """The sequence with other trials in some places, and new ones behind the last.

        Args:
            changes: By the place; new ones follow each other without a gap.
        """
        trials, new = object.__new__(type(self)), sorted(place for place in changes if place >= self._length)
        trials._length = max([self._length, *(place + 1 for place in changes)])
        root, trials._height, trials._by_point = self._root, self._height, self._by_point
        while trials._length > WIDTH ** (trials._height + 1):
            root, trials._height = Node((root,), root.tally), trials._height + 1
        trials._root = _rebuild(root, trials._height, sorted(changes.items()))
        trials._by_point = self._points_after(changes, new)
        return trials

    def _points_after(self, changes: Mapping[int, Trial], new: Sequence[int]) -> ByPoint | None:
        """The trials at each point after changes, as `by_point` makes them; None where that has to be done anew."""
        points = self._by_point
        if points is None:
            return None
        for place, trial in changes.items():
            if place < self._length and trial.target is not None and self[place].params != trial.params:
                if self[place].target is not None:  # it has left a place where nothing has been then
                    return None
                points = points.with_trial(place, trial.point)
        for place in new:
            points = points.with_trial(place, changes[place].point)
            if (target := changes[place].target) is not None:
                points = points.with_trial(place, point_of(target))
        return points


def _rebuild(node: Node, height: int, changes: Sequence[tuple[int, Trial]]) -> Node:
    parts, tally = list(node.parts), node.tally
    if height:
        below = WIDTH**height
        for place, group in groupby(changes, lambda change: change[0] // below):
            before = parts[place] if place < len(parts) else EMPTY
            after = _rebuild(before, height - 1, [(number % below, trial) for number, trial in group])
            parts[place : place + 1] = [after]
            tally += after.tally - before.tally
    else:
        for place, trial in changes:
            tally += tally_of(trial) - sum(map(tally_of, parts[place : place + 1]))
            parts[place : place + 1] = [trial]
    return Node(tuple(parts), tally)


def _all(node: Node, height: int) -> Iterator[Trial]:
    if not height:
        return iter(node.parts)
    return chain.from_iterable(_all(part, height - 1) for part in node.parts)


def _with_kind(node: Node, height: int, kind: str) -> Iterator[Trial]:
    if height:
        parts = (part for part in node.parts if num_of(part.tally, kind))
        return chain.from_iterable(_with_kind(part, height - 1, kind) for part in parts)
    return (trial for trial in node.parts if num_of(tally_of(trial), kind))


class Draft:
    """Trials that events change one after the other, before they are a value again.

    Attributes:
        num_ended: How many are neither pending nor queued.
    """

    def __init__(self, trials: Trials) -> None:
        self._trials, self._length = trials, len(trials)
        self._changes: dict[int, Trial] = {}
        self.num_ended = len(trials) - trials.num(OPENED)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: int) -> Trial:
        changed = self._changes.get(number)
        return self._trials[number] if changed is None else changed

    def __setitem__(self, number: int, trial: Trial) -> None:
        self.num_ended += int(self[number].is_open) - int(trial.is_open)
        self._changes[number] = trial

    def put(self, trial: Trial) -> None:
        """Put a trial in its place, if that has changed."""
        if trial is not self[trial.number]:
            self[trial.number] = trial

    def append(self, trial: Trial) -> None:
        """Add one behind the last."""
        self.num_ended += int(not trial.is_open)
        self._changes[self._length] = trial
        self._length += 1

    def to_trials(self) -> Trials:
        """The trials as they are now."""
        return self._trials.with_changes(self._changes) if self._changes else self._trials
