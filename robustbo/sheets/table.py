"""Trials as a table in a file: one row a trial, for spreadsheet programs, which run none of its texts."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from robustbo.errors import SheetError
from robustbo.searchspace.tabular import is_missing
from robustbo.sheets.delimited import Delimited
from robustbo.sheets.workbook import Workbook
from robustbo.trials.storage.whole import replace
from robustbo.validation import plain_scalar

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".xlsx")


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame and its index, whose name heads the first column; times are texts, and what is missing is empty.

    Raises:
        SheetError: If the name ends otherwise, or a workbook is to be written without openpyxl.
    """
    replace(path, table_bytes(frame, path))


def table_bytes(frame: pd.DataFrame, path: Path) -> bytes:
    """The contents of the file that `write_table` writes, whose name says the format; raises as it does."""
    if path.suffix not in SUFFIXES:
        raise SheetError(f"{path}: a table must be one of {[*SUFFIXES]}, got {path.suffix!r}; name another file")
    grid = Workbook(b"", str(path)) if path.suffix == ".xlsx" else Delimited(b"", str(path))
    plain = frame.reset_index()
    columns = [[_cell(value) for value in plain[name].tolist()] for name in plain.columns]
    rows = [list(map(str, plain.columns)), *map(list, zip(*columns, strict=True))]
    return grid.with_changes({}, rows)


def _cell(value: object) -> object:
    if is_missing(value) or value != value:
        return None
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    value = plain_scalar(value)
    return value if isinstance(value, int | float) else str(value)
