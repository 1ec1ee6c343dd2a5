"""Engines that run a cell: our own loop, BoTorch, Ax or Optuna where it is installed, or fits in turn."""

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from robustbo.errors import SpecError
from robustbo.replay.cells import optimization, own_loop, regression
from robustbo.replay.cells.cell import Cell, Progress
from robustbo.replay.cells.peer import silence

BOTORCH = "botorch"  # which is asked for several outcomes alone


def run(cell: Cell, progress: Progress) -> None:
    """Run a cell to its last trial, from wherever it stopped.

    Raises:
        SpecError: If Ax or Optuna is to decide and is not installed, or what is recorded belongs to another spec.
        FitError: If a surrogate cannot be fitted; what was recorded before stays.
    """
    ENGINES[cell.engine](cell, progress)


def _peer(name: str, package: str) -> Callable[[Any, Progress], None]:
    """Engine of another library, which is imported here alone: that takes seconds."""

    def run_theirs(cell: Any, progress: Progress) -> None:
        if importlib.util.find_spec(name) is None:
            raise SpecError(f"method {cell.method!r} needs {package}; pip install 'robustbo[{name}]'")
        file = f"{name}_several" if cell.settings.outcomes and name != BOTORCH else name
        with silence():
            theirs = importlib.import_module(f"robustbo.replay.cells.{file}")
        theirs.run(cell, progress)

    return run_theirs


_run_ax, _run_optuna = _peer("ax", "ax-platform"), _peer("optuna", "optuna")
ENGINES: dict[str, Callable[[Any, Progress], None]] = {
    optimization.OURS: own_loop.run,
    "ax": _run_ax,
    "ax-default": _run_ax,
    "ax-viability": _run_ax,
    BOTORCH: _peer(BOTORCH, BOTORCH),
    "optuna-gp": _run_optuna,
    "optuna-tpe": _run_optuna,
    "fits": regression.run,
}
