"""Files of a run: all rows and the summary as CSV, and the picture."""

from collections.abc import Callable
from operator import is_
from pathlib import Path

import pandas as pd
from pandas.api.types import is_numeric_dtype

from robustbo.foreign.access import check_path
from robustbo.foreign.tables import table_of
from robustbo.formulas import guard_cell, restore_cell
from robustbo.replay.kinds import kind_of, read_cells, rows_of
from robustbo.replay.sections.section import Tables
from robustbo.replay.spec.reading import AnySpec
from robustbo.report.charts import matplotlib_canvas
from robustbo.trials.storage.whole import replace_text

ROWS, SUMMARY, PICTURE = "results.csv", "summary.csv", "curves.png"


def rows_text(rows: pd.DataFrame) -> str:
    """Rows as CSV, with all their digits; see `rows_in`."""
    return _guard_texts(rows).to_csv(index=False, float_format="%.17g", lineterminator="\n")


def rows_in(path: Path) -> pd.DataFrame:
    """The rows in a file that has such a text, compressed or not."""
    return _of_texts(table_of(path), restore_cell)


def _guard_texts(table: pd.DataFrame) -> pd.DataFrame:
    return _of_texts(table, guard_cell)


def _of_texts(table: pd.DataFrame, change: Callable[[object], object]) -> pd.DataFrame:
    """A table whose texts are changed; columns keep their types."""
    columns = {name: [*map(change, table[name])] for name in table.columns if not is_numeric_dtype(table[name])}
    changed = {name: values for name, values in columns.items() if not all(map(is_, values, table[name]))}
    return table.assign(**{name: pd.Series(v, table.index, dtype=table[name].dtype) for name, v in changed.items()})


def rows_file(folder: Path) -> Path | None:
    """The rows that lie in a folder, as they were written or compressed since.

    Raises:
        DataError: If they are a link out of a run that is only read.
    """
    paths = [path for path in (folder / ROWS, folder / f"{ROWS}.gz") if path.is_file()]
    for path in paths[:1]:
        check_path(path)
        return path
    return None


def draw(spec: AnySpec, tables: Tables, path: Path) -> bool:
    """Draw a run; whether that was possible: it needs matplotlib."""
    rows = kind_of(spec).charts(spec, tables)
    return matplotlib_canvas.draw(rows, path, spec.title if len(rows) > 1 else "")


def write(folder: Path, spec: AnySpec) -> list[Path]:
    """Write the tables and the picture of everything recorded in a folder.

    Returns:
        The files written; no picture where matplotlib is not installed.
    """
    tables = kind_of(spec).tables(rows_of(read_cells(folder)), spec)
    written = [folder / ROWS, folder / SUMMARY, folder / PICTURE]
    replace_text(written[0], rows_text(tables.rows))
    (folder / f"{ROWS}.gz").unlink(missing_ok=True)  # of an earlier record
    replace_text(written[1], _guard_texts(tables.summary).to_csv(index=False))
    return written if draw(spec, tables, written[2]) else written[:2]
