"""Many expressions at many points, in few operations of arrays: what is alike in them is computed at once.

The programs of all expressions become one graph, in which equal parts are one node. Nodes of one depth and operation
are a group, and a group is one operation of NumPy. Slopes are carried along from the parameters (forward mode), by the
same groups.

Notation (N nodes, k parameters, n points, e expressions):
    V   k x n    values of the parameters
    W   N x n    values of the nodes: the parameters, the numbers, then one group after the other
    D   N x k    slopes of the nodes at one point

References:
    Griewank and Walther, Evaluating Derivatives (2008), section 3.1 (forward propagation of tangents).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustbo.searchspace.constraints import arithmetic
from robustbo.searchspace.constraints.grammar import Program

Array = NDArray[np.float64]
Index = NDArray[np.intp]
SIGNS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power}
MOST_TOGETHER = 2**18  # values of nodes at once: 2 MiB, which a processor's cache holds


class ExpressionNode(NamedTuple):
    """A node of the graph: an operation and its operands, its depth, and its value where it is a number."""

    kind: str
    operands: tuple[int, ...] = ()
    depth: int = 0
    number: float | None = None


class Group(NamedTuple):
    """Nodes of one operation, whose operands are nodes before them.

    Attributes:
        kind: The operation, as a step of a program has it.
        exponent: Of a power whose exponent is the same number in all.
        into: Which nodes these are.
        first: The first operands.
        second: The others; of one operand, the first again.
    """

    kind: str
    exponent: float | None
    into: slice
    first: Index
    second: Index


class ExpressionBatch:
    """Expressions that are evaluated together.

    Example:
        >>> from robustbo.searchspace.constraints.grammar import read_expression
        >>> batch = ExpressionBatch([read_expression("x * y + 1"), read_expression("x**2 / y")], ["x", "y"])
        >>> batch.values(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [[4.0, 9.0], [0.3333333333333333, 1.0]]
        >>> batch.slopes(np.array([2.0, 4.0])).tolist()
        [[4.0, 2.0], [1.0, -0.25]]
    """

    def __init__(self, programs: Sequence[Program], names: Sequence[str]) -> None:
        graph = _Graph(names)
        roots = [graph.add(program) for program in programs]
        order = sorted(range(len(graph.nodes)), key=lambda i: (graph.nodes[i].depth, *graph.alike(i), i))
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        self._numbers = np.array([graph.nodes[i].number for i in order if graph.nodes[i].number is not None])
        self._num_names, self._num_nodes = len(names), len(order)
        self._roots = place[roots]
        self._groups = _group_nodes(graph, order, place)

    def values(self, V: Array) -> Array:
        """``e x n`` values at ``n`` points, given ``k x n``; NaN where there is no finite one."""
        count = V.shape[1]
        together = max(1, MOST_TOGETHER // self._num_nodes) if self._num_nodes else count
        with np.errstate(all="ignore"):
            if count <= together:
                return self._evaluate(V)[self._roots]
            parts = [self._evaluate(V[:, i : i + together])[self._roots] for i in range(0, count, together)]
        return np.concatenate(parts, axis=1)

    def slopes(self, v: Array) -> Array:
        """``e x k`` slopes along the parameters at one point of ``k`` values; not finite where there is none."""
        with np.errstate(all="ignore"):
            w = self._evaluate(v[:, None])[:, 0]
            D = np.zeros((self._num_nodes, self._num_names))
            D[: self._num_names] = np.eye(self._num_names)
            for group in self._groups:
                D[group.into] = _slopes(group, w, D)
            return D[self._roots]

    def _evaluate(self, V: Array) -> Array:
        W = np.empty((self._num_nodes, V.shape[1]))
        W[: self._num_names] = V
        W[self._num_names : self._num_names + len(self._numbers)] = self._numbers[:, None]
        for group in self._groups:
            values = _values(group, W)
            is_finite = np.isfinite(values)
            W[group.into] = values if is_finite.all() else np.where(is_finite, values, np.nan)
        return W


class _Graph:
    """The nodes of programs: those of the parameters first; parts without a parameter are numbers."""

    def __init__(self, names: Sequence[str]) -> None:
        self.nodes = [ExpressionNode("name") for _ in names]
        self._names = {name: i for i, name in enumerate(names)}
        self._known: dict[Any, int] = {}

    def add(self, program: Program) -> int:
        """The number of the node that is a program's value."""
        stack: list[int] = []
        for kind, value in program:
            if kind == "name":
                stack.append(self._names[value])
            elif kind == "number":
                stack.append(self._node(ExpressionNode("number", number=float(value))))
            else:
                operands = [stack.pop() for _ in range(1 if kind == "negative" else 2)][::-1]
                stack.append(self._operation(kind, tuple(operands)))
        return stack.pop()

    def _operation(self, kind: str, operands: tuple[int, ...]) -> int:
        numbers = [number for i in operands if (number := self.nodes[i].number) is not None]
        if len(numbers) == len(operands):
            return self._node(ExpressionNode("number", number=arithmetic.VALUES[kind](*numbers)))
        return self._node(ExpressionNode(kind, operands, 1 + max(self.nodes[i].depth for i in operands)))

    def _node(self, node: ExpressionNode) -> int:
        key = (node.kind, node.operands, repr(node.number))  # -0.0 is not 0.0, and NaN is itself
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(node)
        return self._known[key]

    def exponent(self, i: int) -> float | None:
        """The number that a power's exponent is."""
        node = self.nodes[i]
        return self.nodes[node.operands[1]].number if node.kind == "**" else None

    def alike(self, i: int) -> tuple[bool, str, str]:
        """A key that nodes of one depth share where they are computed at once; parameters come before numbers."""
        node = self.nodes[i]
        return node.kind != "name", node.kind, repr(self.exponent(i))


def _group_nodes(graph: _Graph, order: Sequence[int], place: Index) -> list[Group]:
    groups: list[Group] = []
    begin = 0
    while begin < len(order):
        node, end = graph.nodes[order[begin]], begin + 1
        key = node.depth, graph.alike(order[begin])
        while end < len(order) and (graph.nodes[order[end]].depth, graph.alike(order[end])) == key:
            end += 1
        if node.depth:
            operands = [graph.nodes[i].operands for i in order[begin:end]]
            first, second = (place[[pair[at] for pair in operands]] for at in (0, -1))
            groups.append(Group(node.kind, graph.exponent(order[begin]), slice(begin, end), first, second))
        begin = end
    return groups


def _values(group: Group, W: Array) -> Array:
    """``g x n`` values of a group's nodes."""
    first = W[group.first]
    if group.kind == "negative":
        return -first
    if group.exponent == 2.0:
        return first * first
    if group.exponent == 3.0:
        return first * first * first
    return np.asarray(SIGNS[group.kind](first, W[group.second] if group.exponent is None else group.exponent))


def _slopes(group: Group, w: Array, D: Array) -> Array:
    """``g x k`` slopes of a group's nodes at one point."""
    a, b, to = (part[:, None] for part in (w[group.first], w[group.second], w[group.into]))
    along_a, along_b = D[group.first], D[group.second]
    if group.kind == "negative":
        return -along_a
    if group.kind in ("+", "-"):
        return along_a + along_b if group.kind == "+" else along_a - along_b
    if group.kind == "*":
        return _times(along_a, b) + _times(along_b, a)
    if group.kind == "/":
        return _times(along_a, 1.0 / b) - _times(along_b, to / b)
    rising = np.where(b == 0.0, 0.0, b * a ** (b - 1.0))
    growing = np.where((a == 0.0) & (b >= 0.0), 0.0, to * np.log(a))
    return _times(along_a, rising) + _times(along_b, growing)


def _times(slopes: Array, factor: Array) -> Array:
    """The product, in which no slope stays none whatever it is multiplied by."""
    return np.where(slopes == 0.0, 0.0, slopes * factor)
