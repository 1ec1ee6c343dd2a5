"""What a run leaves in its folder: all rows and the summary as CSV, and the picture."""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from robustbo.replay.cells.engine import AnyCell, cells_in
from robustbo.replay.cells.optimization import Cell
from robustbo.replay.cells.regression import RegressionCell
from robustbo.replay.output import figure, regression_figure
from robustbo.replay.score import optimization, regression
from robustbo.replay.spec.optimization import AnySpec, RunSpec

ROWS, SUMMARY, PICTURE = "results.csv", "summary.csv", "curves.png"


class Tables(NamedTuple):
    """A run's rows, their summary, the methods in order, and how a row of the summary is shortened for people."""

    rows: pd.DataFrame
    summary: pd.DataFrame
    methods: list[str]
    readable: Callable[[dict[str, Any]], dict[str, Any]]


def tables(rows: pd.DataFrame, spec: AnySpec) -> Tables:
    """What follows from a run's rows."""
    there = set(rows["method"])
    methods = [*(name for name in spec.methods if name in there), *sorted(there - set(spec.methods))]
    if isinstance(spec, RunSpec):
        return Tables(rows, optimization.summary(rows, methods), methods, optimization.readable)
    found = regression.summary(rows, methods, regression.read_published(spec))
    return Tables(rows, found, methods, regression.readable)


def table_of(cells: Sequence[AnyCell], spec: AnySpec) -> Tables:
    """The tables of finished cells, up to the trials that the spec has."""
    rows = rows_of(cells)
    return tables(optimization.up_to(rows, spec.trials) if isinstance(spec, RunSpec) else rows, spec)


def rows_of(cells: Sequence[AnyCell]) -> pd.DataFrame:
    """The rows of cells, all of one kind."""
    if isinstance(cells[0], RegressionCell):
        return regression.rows([cell for cell in cells if isinstance(cell, RegressionCell)])
    return optimization.rows([cell for cell in cells if isinstance(cell, Cell)])


def rows_text(rows: pd.DataFrame) -> str:
    """Rows as CSV, with all their digits."""
    return rows.to_csv(index=False, float_format="%.17g", lineterminator="\n")


def recorded_rows(folder: Path) -> Path | None:
    """The rows that lie in a folder, as they were written or compressed since."""
    found = [path for path in (folder / ROWS, folder / f"{ROWS}.gz") if path.is_file()]
    return found[0] if found else None


def text_of(path: Path) -> str:
    """A file's text, compressed or not."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def draw(spec: AnySpec, found: Tables, path: Path) -> bool:
    """Draw a run; whether that was possible: it needs matplotlib."""
    if isinstance(spec, RunSpec):
        return figure.draw(spec, found.rows, found.methods, path)
    return regression_figure.draw(spec, found.rows, found.methods, path)


def write(folder: Path, spec: AnySpec) -> list[Path]:
    """Write the tables and the picture of everything recorded in a folder.

    Returns:
        The files written; no picture where matplotlib is not installed.
    """
    found = tables(rows_of(cells_in(folder)), spec)
    written = [folder / ROWS, folder / SUMMARY, folder / PICTURE]
    written[0].write_text(rows_text(found.rows), encoding="utf-8")
    (folder / f"{ROWS}.gz").unlink(missing_ok=True)  # of an earlier record
    found.summary.to_csv(written[1], index=False)
    return written if draw(spec, found, written[2]) else written[:2]
