"""What a run leaves in its folder: all rows and the summary as CSV, and the picture."""

from collections.abc import Sequence
from pathlib import Path

from robustbo.replay.cell import Cell, cells_in
from robustbo.replay.figure import draw
from robustbo.replay.score import rows, summary
from robustbo.replay.spec import RunSpec

ROWS, SUMMARY, PICTURE = "results.csv", "summary.csv", "curves.png"


def rows_text(cells: Sequence[Cell]) -> str:
    """The rows of cells as CSV, with all their digits."""
    return rows(cells).to_csv(index=False, float_format="%.17g", lineterminator="\n")


def in_order(cells: Sequence[Cell], spec: RunSpec) -> list[str]:
    """The methods of recorded cells: first those of a spec in its order, then any others."""
    there = {cell.method for cell in cells}
    return [*(name for name in spec.methods if name in there), *sorted(there - set(spec.methods))]


def write(folder: Path, spec: RunSpec) -> list[Path]:
    """Write the tables and the picture of everything recorded in a folder.

    Returns:
        The files written; no picture where matplotlib is not installed.
    """
    found = cells_in(folder)
    methods = in_order(found, spec)
    table = rows(found)
    written = [folder / ROWS, folder / SUMMARY, folder / PICTURE]
    written[0].write_text(rows_text(found), encoding="utf-8")
    summary(table, methods).to_csv(written[1], index=False)
    return written if draw(spec, table, methods, written[2]) else written[:2]
