"""Who runs a cell: our own loop, Ax where it is installed, or a fit after another."""

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from robustbo.errors import SpecError
from robustbo.replay.cells import optimization, regression
from robustbo.replay.cells.cell import Cell, Progress


def run(cell: Cell, progress: Progress) -> None:
    """Run a cell to its last trial, from wherever it stopped.

    Raises:
        SpecError: If Ax is to decide and is not installed, or what is recorded belongs to another spec.
        FitError: If a surrogate cannot be fitted; what was recorded before stays.
    """
    ENGINES[cell.engine](cell, progress)


def _run_ax(cell: Cell, progress: Progress) -> None:
    """Ax is imported here alone: it takes seconds."""
    if importlib.util.find_spec("ax") is None:
        raise SpecError(f"method {cell.method!r} needs ax-platform; pip install 'robustbo[ax]'")
    importlib.import_module("robustbo.replay.cells.ax").run(cell, progress)


ENGINES: dict[str, Callable[[Any, Progress], None]] = {
    optimization.OURS: optimization.run,
    "ax": _run_ax,
    "ax-default": _run_ax,
    "fits": regression.run,
}
