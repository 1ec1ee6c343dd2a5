"""Methods as a cell drives them: ours in this process, and peers at the other end of a pipe.

A peer is given a space as `PeerSpace` makes it: what follows by an equation is left out, linear constraints are told,
columns of a pool are ordered lists, or the box around them where rows lie scattered; the nearest free row is measured.
A suggestion beyond a constraint costs no trial: it is told as a failure, and the peer is asked again, up to `TRIES`
times; then a point is drawn, as where a peer fails at an ask. A peer is not told who measures: none has a word for it.
"""

from pathlib import Path
from typing import Any, NamedTuple, Protocol

from benchmarks.league.protocol import PeerError, PeerProcess
from robustbo.optimizer import Optimizer
from robustbo.replay.cells.own_loop import FAILED
from robustbo.replay.cells.peer_space import PeerSpace
from robustbo.replay.cells.scattered import Rows
from robustbo.replay.spec.optimization import RunSpec
from robustbo.searchspace.pool import Pool

TRIES = 20  # suggestions for a trial
SURROGATES = {"default": "auto", "student-t": "student-t"}  # of the other methods it is the plain GP
Point = dict[str, Any]


class Measurement(NamedTuple):
    """A trial's value, None where it failed, the true one, and whether the value is wrong."""

    value: float | None
    clean: float
    is_wrong: bool


class Method(Protocol):
    """Method that proposes points, is told what was measured, and recommends one."""

    @property
    def seconds(self) -> float:
        """Seconds of the processor so far; those of ours are counted by the cell, and are 0 here."""

    def ask(self, number: int) -> Point:
        """The point of a trial."""

    def tell(self, measurement: Measurement) -> None:
        """Take what was measured there."""

    def recommend(self) -> Point:
        """The point that is believed to be best now."""

    def close(self) -> dict[str, Any]:
        """End it, and return what else is to be kept of it."""


class Ours:
    """Our optimizer, or one that knows more than a user: "informed" of wrong values, "oracle" of true ones."""

    seconds = 0.0

    def __init__(self, name: str, spec: RunSpec, root: int) -> None:
        problem, self._name, self._spec, self._root = spec.load_problem(), name, spec, root
        surrogate: Any = SURROGATES.get(name, "standard")
        self._corruption = spec.build_corruption()
        self._optimizer = Optimizer(problem.space, direction=problem.direction, surrogate=surrogate, seed=root)

    def ask(self, number: int) -> Point:
        """Point of the next trial; it is told which worker measures."""
        source = {} if self._name == "oracle" else self._spec.source(self._corruption, self._root, number)
        self._trial = self._optimizer.ask(by=source)
        return dict(self._trial.params)

    def tell(self, measurement: Measurement) -> None:
        """The trial's value."""
        value = measurement.clean if self._name == "oracle" else measurement.value
        if value is None:
            self._optimizer.fail(self._trial, FAILED)
        else:
            self._optimizer.tell(self._trial, value)
        if self._name == "informed" and measurement.is_wrong:
            self._optimizer.exclude(self._trial)

    def recommend(self) -> Point:
        """Best point of the study."""
        return dict(self._optimizer.best().trial.params)

    def close(self) -> dict[str, Any]:
        """Return nothing: versions of our own libraries are kept by all cells."""
        return {}


class PipedPeer:
    """Another library, at the other end of a pipe.

    Raises:
        CannotSearch: If it cannot search the space.
        PeerError: If it cannot begin.
    """

    def __init__(self, name: str, spec: RunSpec, root: int, python: str | Path, log: Path | None = None) -> None:
        problem, self._root = spec.load_problem(), root
        self._space = PeerSpace(problem.space)
        self._rows = Rows(problem.space) if isinstance(problem.space, Pool) else None
        self._sign = -1.0 if problem.maximizes else 1.0
        self._best: tuple[float, Point] | None = None
        self._drawn, self._refused, self._why = 0, 0, ""
        self._process = PeerProcess(python, name, log)
        space = {parameter: p.to_dict() for parameter, p in self._space.parameters.items()}
        linear = [constraint for constraint in self._space.linear if constraint is not None]
        message = {"space": space, "constraints": linear, "direction": problem.direction}
        try:
            self._process.call("begin", seed=root % 2**31, budget=spec.trials, **message)
        except BaseException:
            self._process.close()
            raise

    @property
    def seconds(self) -> float:
        """Seconds of the peer's processor."""
        return self._process.seconds

    def ask(self, number: int) -> Point:
        """The peer's suggestion, the row nearest to that, or a point that is drawn."""
        for _ in range(TRIES):
            try:
                self._params = self._process.call("ask")["point"]
            except PeerError as error:
                if not self._process.is_alive:
                    raise
                self._why = str(error)
                break
            if self._rows is not None:
                return self._instead(self._rows.nearest(self._params))
            if (point := self._space.complete(self._params).point) is not None:
                self._point = point
                return point
            self._refused += 1
            self._process.call("tell", point=self._params, value=None)
        self._drawn += 1
        return self._instead(self._space.draw(self._root, number))

    def _instead(self, point: Point) -> Point:
        """Measure another point than the suggestion."""
        if self._rows is not None:
            self._rows.take(point)
        self._point, self._params = point, self._space.own(point, is_whole=True)
        return point

    def tell(self, measurement: Measurement) -> None:
        """Send the value, and keep the best."""
        if measurement.value is not None:
            pair = self._sign * measurement.value, self._point
            self._best = pair if self._best is None or pair[0] < self._best[0] else self._best
        self._process.call("tell", point=self._params, value=measurement.value)

    def recommend(self) -> Point:
        """The point that it recommends; the best measured one where that is no point, or it fails."""
        try:
            point = self._space.complete(self._process.call("recommend")["point"]).point
        except PeerError as error:
            if not self._process.is_alive:
                raise
            self._why, point = str(error), None
        if point is not None:
            return point
        return self._point if self._best is None else self._best[1]

    def close(self) -> dict[str, Any]:
        """Versions of its libraries, the suggestions refused, the points drawn in its place, and its last error."""
        try:
            versions = self._process.call("end")["versions"]
        except PeerError:
            versions = {}
        self._process.close()
        return {"peer": versions, "refused": self._refused, "drawn": self._drawn, "error": self._why}
