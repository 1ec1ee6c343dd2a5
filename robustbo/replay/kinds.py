"""The kinds of run: all that differs between them, said once; which one it is, a spec says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from robustbo.errors import SpecError
from robustbo.foreign.tables import Cells
from robustbo.replay.cells import cell as every
from robustbo.replay.cells.cell import CELLS, Cell
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.regression import RegressionCell
from robustbo.replay.check import optimization as check_optimization
from robustbo.replay.check import regression as check_regression
from robustbo.replay.check.comparison import Agreement
from robustbo.replay.score import optimization as score_optimization
from robustbo.replay.score import regression as score_regression
from robustbo.replay.sections import optimization as show_optimization
from robustbo.replay.sections import regression as show_regression
from robustbo.replay.sections.section import Loaded, Tables
from robustbo.replay.spec.reading import AnySpec, near
from robustbo.report.charts.chart import Chart


@dataclass(frozen=True)
class Kind:
    """A kind of run. What is Any below is of that kind: its spec or its cells.

    Attributes:
        cell: What a cell is, and how it is recorded; `cells.engine` runs it.
        rows: The rows of cells.
        columns: Those that such rows must have.
        summary: Of rows, with the methods in order, and the spec.
        readable: A row of the summary as people read it.
        charts: The picture of a run, row by row.
        show: Its section of a page.
        headline: What a page of several runs says of it at its top, or None.
        check: Computes a cell once more, and returns how its asks or fits agree.
    """

    cell: type[Cell]
    rows: Callable[[Sequence[Any]], pd.DataFrame]
    columns: Callable[[pd.DataFrame], Mapping[str, Cells]]
    summary: Callable[[pd.DataFrame, Sequence[str], Any], pd.DataFrame]
    readable: Callable[[dict[str, Any]], dict[str, Any]]
    charts: Callable[[Any, Tables], Sequence[Sequence[Chart]]]
    show: Callable[[Loaded, Any], str]
    headline: Callable[[Loaded, Any], Sequence[str] | None]
    check: Callable[..., Agreement]

    def cells(self, spec: AnySpec, folder: Path) -> Sequence[Cell]:
        """All cells of a run, replication by replication."""
        return every.cells(self.cell, spec, folder)

    def tables(self, rows: pd.DataFrame, spec: AnySpec) -> Tables:
        """Tables that follow from a run's rows."""
        recorded_methods = set(rows["method"])
        methods = [
            *(name for name in spec.methods if name in recorded_methods),
            *sorted(recorded_methods - set(spec.methods)),
        ]
        return Tables(rows, self.summary(rows, methods, spec), methods)


OPTIMIZATION = Kind(
    OptimizationCell,
    score_optimization.rows,
    score_optimization.columns,
    lambda rows, methods, spec: score_optimization.summary(rows, methods),
    score_optimization.readable,
    show_optimization.charts,
    show_optimization.show,
    show_optimization.headline,
    check_optimization.check,
)
REGRESSION = Kind(
    RegressionCell,
    score_regression.rows,
    lambda rows: score_regression.COLUMNS,
    lambda rows, methods, spec: score_regression.summary(rows, methods, score_regression.paper_figures(spec)),
    score_regression.readable,
    show_regression.charts,
    show_regression.show,
    lambda run, spec: None,
    check_regression.check,
)
KINDS = {"optimization": OPTIMIZATION, "regression": REGRESSION}


def kind_of(spec: AnySpec | Cell) -> Kind:
    """The kind that a spec says, or that a cell has."""
    return KINDS[spec.kind]


def rows_of(cells: Sequence[Cell]) -> pd.DataFrame:
    """The rows of cells, all of one kind.

    Raises:
        SpecError: If they have begun, and there is nothing in them.
    """
    rows = kind_of(cells[0]).rows(cells)
    if rows.empty:
        raise SpecError(f"{cells[0].folder}: its cells have started, but none is recorded yet; replay continues")
    return rows


def read_cells(folder: Path) -> Sequence[Cell]:
    """All cells recorded in a folder, each with the spec that it was recorded with.

    Raises:
        SpecError: If there is none.
    """
    for kind in KINDS.values():
        if cells := every.cells_in(kind.cell, folder):
            return cells
    instead = "" if folder.exists() else near(folder)
    raise SpecError(f"{folder}: expected a recorded run (a folder with {CELLS}/*.jsonl in it), found none{instead}")
