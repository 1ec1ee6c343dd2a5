"""Tables of others, CSV packed or not: of bounded size, with the columns and kinds of cells that they must have."""

import io
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from robustbo import limits
from robustbo.errors import FileError
from robustbo.foreign.reading import Kind, text_of

Cells = Literal["text", "whole", "number", "flag", "truth"]


def table_of(path: str | os.PathLike[str], names: Sequence[str] | None = None, error: Kind = FileError) -> pd.DataFrame:
    """The table in a CSV file, as pandas reads it.

    Args:
        path: The file.
        names: Of its columns, where it has no line of them on top.
        error: What is raised: made of the message, which begins with the path.

    Raises:
        RobustBOError: As `error` makes it, where there is none, it cannot be read, or it is beyond a limit.
    """
    try:
        text = text_of(path, limits.TABLE_BYTES, error)
    except (FileNotFoundError, NotADirectoryError):
        raise error(f"{path}: no such file exists; name another") from None
    columns = text.partition("\n")[0].count(",") + 1
    if columns > limits.TABLE_COLUMNS or columns * (text.count("\n") + 1) > limits.TABLE_CELLS:
        most = f"{limits.TABLE_COLUMNS} columns and {limits.TABLE_CELLS} cells"
        raise error(f"{path}: must have at most {most}, and has more; see docs/security.md for the limits")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # of cells beyond the names, which are not dropped
            named = None if names is None else list(names)
            return pd.read_csv(io.StringIO(text), names=named, index_col=False, low_memory=False)
    except pd.errors.ParserWarning:
        raise error(f"{path}: must have a name on top of each column, and has a row of more cells") from None
    except (ValueError, OverflowError, RecursionError) as reason:
        detail = str(reason).strip().partition("\n")[0]
        raise error(f"{path}: must be a CSV file with a line of names on top: {detail}") from None


def check_columns(table: pd.DataFrame, columns: Mapping[str, Cells], name: str, error: Kind = FileError) -> None:
    """Raise unless a table has rows, and columns with cells of these kinds; numbers and flags may be missing.

    Raises:
        RobustBOError: As `error` makes it; the message has the first column that is wrong.
    """
    if table.empty:
        raise error(f"{name}: must have at least one row, got none; get another copy")
    for column, cells in columns.items():
        if column not in table:
            raise error(f"{name}: must have the column {column!r}, got {list(map(str, table.columns[:20]))}")
        if not _has(table[column], cells):
            shown = table[column].astype(str).head(3).tolist()
            raise error(f"{name}: {column} must be {WORDS[cells]} in every row, got {shown}...; get another copy")


WORDS: dict[Cells, str] = {
    "text": "a text without the character of code 0",
    "whole": "a whole number of 0 to 2**53",
    "number": "a finite number or empty",
    "flag": "True, False or empty",
    "truth": "True or False",
}


def _has(column: pd.Series, cells: Cells) -> bool:
    present = column.dropna()
    if cells == "text":
        return len(present) == len(column) and all(isinstance(cell, str) and "\0" not in cell for cell in present)
    if cells == "truth":
        return pd.api.types.is_bool_dtype(column)
    if cells == "flag":
        return present.empty or all(isinstance(cell, bool | np.bool_) for cell in present)
    if present.empty and cells == "number":
        return True
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return False
    if cells == "number":
        return bool(np.isfinite(present.to_numpy(dtype=float)).all())
    is_whole = pd.api.types.is_integer_dtype(column) and len(present) == len(column)
    return is_whole and bool((present >= 0).all() and (present <= 2**53).all())
