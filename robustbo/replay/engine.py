"""Who runs a cell: our own loop, or Ax where it is installed."""

import importlib
import importlib.util
from collections.abc import Callable

from robustbo.errors import SpecError
from robustbo.replay import cell as ours
from robustbo.replay.cell import Cell


def run(cell: Cell, progress: Callable[[int, float | None], None]) -> None:
    """Run a cell to its last trial; as `cell.run`, whoever decides.

    Raises:
        SpecError: If Ax is to decide and is not installed, or what is recorded belongs to another spec.
        FitError: If a surrogate cannot be fitted; what was recorded before stays.
    """
    if cell.is_ours:
        ours.run(cell, progress)
    elif importlib.util.find_spec("ax") is None:
        raise SpecError(f"method {cell.method!r} needs ax-platform; pip install 'robustbo[ax]'")
    else:
        importlib.import_module("robustbo.replay.ax_cell").run(cell, progress)
