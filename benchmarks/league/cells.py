"""A cell: one replication of one method on one problem in one setting, recorded whole into a file of its own."""

import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common.whole_cells import read_entry, record_entry
from benchmarks.league import plan
from benchmarks.league.environments import python_of
from benchmarks.league.methods import Measurement, Method, Ours, PipedPeer, Point
from benchmarks.league.protocol import CannotSearch
from robustbo import seeds
from robustbo.tasks.failing import InjectedFailure


class Cell(NamedTuple):
    """A cell.

    Attributes:
        work: The folder of what is recorded, and of the environments of peers.
        commit: Of the code, where it is recorded.
        trials: How many there are.
    """

    work: Path
    replication: int
    method: str
    problem: str
    setting: str
    commit: str = ""
    trials: int = plan.BUDGETS[-1]

    @property
    def alike(self) -> "Cell":
        """The cell that this one cannot differ from; itself of most. See `plan.alike`."""
        method, setting = plan.alike(self.method, self.problem, self.setting)
        return self._replace(method=method, setting=setting)

    @property
    def file(self) -> Path:
        """File of its record."""
        name = f"{self.problem}-{self.setting}-{self.replication:02}.json.gz"
        return self.work / "cells" / self.method / name

    def entry(self) -> dict[str, Any] | None:
        """Record of the cell; None where there is none yet."""
        return read_entry(self.alike.file)

    @property
    def root(self) -> int:
        """Seed of the replication, which all methods and settings of a problem have."""
        seed = plan.spec_of(self.problem, self.setting).seed
        return seeds.derive(seed, self.replication, "replication")


def start(cell: Cell) -> Method:
    """The method at the beginning of a cell; raises as `PipedPeer`."""
    spec = plan.spec_of(cell.problem, cell.setting)
    if cell.method in plan.OURS:
        return Ours(cell.method, spec, cell.root)
    environment = plan.METHODS[cell.method].environment
    python = sys.executable if environment is None else python_of(cell.work, environment)
    return PipedPeer(cell.method, spec, cell.root, python)


def run(cell: Cell) -> dict[str, Any]:
    """A cell from its first trial to its last; where the method cannot search the space, why not."""
    begun_at = time.process_time()
    try:
        method = start(cell)
    except CannotSearch as error:
        return {"cannot": str(error), "cpu_s": 0.0}
    try:
        record = _run_trials(cell, method)
    finally:
        rest = method.close()
    seconds = time.process_time() - begun_at + method.seconds
    return record | rest | {"cpu_s": round(seconds, 3)}


def _run_trials(cell: Cell, method: Method) -> dict[str, Any]:
    spec = plan.spec_of(cell.problem, cell.setting)
    problem, corruption = spec.load_problem(), spec.build_corruption()
    points: list[Point] = []
    told: list[Measurement] = []
    recommended: dict[int, Point] = {}
    asks: list[float] = []
    value: float | None = None
    for number in range(cell.trials):
        before = _seconds(method)
        points.append(method.ask(number))
        asks.append(_seconds(method) - before)
        clean = problem.truth(points[-1])
        where = {"root": cell.root, "number": number, "num_earlier": points[:-1].count(points[-1]), "last": value}
        value, is_wrong = spec.measure(corruption, points[-1], clean, **where)
        told.append(Measurement(value, clean, bool(is_wrong)))
        before = _seconds(method)
        method.tell(told[-1])
        asks[-1] += _seconds(method) - before
        if number + 1 in (*plan.BUDGETS, cell.trials):
            recommended[number + 1] = _measurable(method.recommend(), corruption, points, told, problem.maximizes)
    return {
        "points": points,
        "values": [measurement.value for measurement in told],
        "clean": [measurement.clean for measurement in told],
        "wrong": [number for number, measurement in enumerate(told) if measurement.is_wrong],
        "recommended": recommended,
        "recommended_clean": {number: problem.truth(point) for number, point in recommended.items()},
        "ask_s": [round(seconds, 4) for seconds in asks],
    }


def _seconds(method: Method) -> float:
    """Seconds of the processor that a method has taken: of a peer those of its process."""
    return time.process_time() if isinstance(method, Ours) else method.seconds


def _measurable(point: Point, corruption: Any, points: list[Point], told: list[Measurement], maximizes: bool) -> Point:
    """A recommended point; the best measured one in the place of a point where every trial crashes."""
    if not (isinstance(corruption, InjectedFailure) and corruption.fails_at(point)):
        return point
    sign = -1.0 if maximizes else 1.0
    complete = [(sign * m.value, number) for number, m in enumerate(told) if m.value is not None]
    return points[min(complete)[1]] if complete else point


def record(cell: Cell) -> tuple[Cell, float, str]:
    """Record a cell: its seconds of the processor, and why it failed if it did."""
    entry, failure = record_entry(cell.file, partial(run, cell), cell.commit)
    if entry is None:
        return cell, 0.0, failure
    return cell, entry["cpu_s"], f"cannot: {entry['cannot']}" if "cannot" in entry else ""
