"""The two kinds of run and who runs their cells: our own loop, Ax where it is installed, or a fit after another."""

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path

from robustbo.errors import SpecError
from robustbo.replay.cells import optimization as ours
from robustbo.replay.cells import regression as regressions
from robustbo.replay.cells.optimization import CELLS, Cell
from robustbo.replay.cells.regression import RegressionCell
from robustbo.replay.spec.optimization import AnySpec, RunSpec

AnyCell = Cell | RegressionCell


def run(cell: AnyCell, progress: Callable[[int, float | None], None]) -> None:
    """Run a cell to its last trial; as `cells.optimization.run` or `cells.regression.run`, whoever decides.

    Raises:
        SpecError: If Ax is to decide and is not installed, or what is recorded belongs to another spec.
        FitError: If a surrogate cannot be fitted; what was recorded before stays.
    """
    if isinstance(cell, RegressionCell):
        regressions.run(cell, progress)
    elif cell.is_ours:
        ours.run(cell, progress)
    elif importlib.util.find_spec("ax") is None:
        raise SpecError(f"method {cell.method!r} needs ax-platform; pip install 'robustbo[ax]'")
    else:
        importlib.import_module("robustbo.replay.cells.ax").run(cell, progress)


def cells(spec: AnySpec, folder: Path) -> Sequence[AnyCell]:
    """All cells of a run, replication by replication."""
    return ours.cells(spec, folder) if isinstance(spec, RunSpec) else regressions.cells(spec, folder)


def cells_in(folder: Path) -> Sequence[AnyCell]:
    """All cells recorded in a folder, each with the spec that it was recorded with.

    Raises:
        SpecError: If there is none.
    """
    found: Sequence[AnyCell] = ours.cells_in(folder) or regressions.cells_in(folder)
    if not found:
        raise SpecError(f"{folder}: expected a recorded run (a folder with {CELLS}/*.jsonl in it), found none")
    return found


def is_other_kind(spec: AnySpec, folder: Path) -> bool:
    """Whether a folder holds a run of the other kind."""
    other = regressions.SUFFIX if isinstance(spec, RunSpec) else ours.TRUTH
    return any((folder / CELLS).glob(f"*{other}"))


def trials_done(cell: AnyCell) -> int:
    """How many trials, or fits, of a cell are recorded; raises what reading them does."""
    return len(regressions.entries(cell) if isinstance(cell, RegressionCell) else ours.recorded(cell).entries)
