"""Tables that are printed and kept, what is too few to be shown in them, and the log loss of probabilities."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustbo.report.summary.tables import Rows, records, render

ENOUGH = 5  # replications of what is kept and shown
SMALLEST = 1e-3  # a probability below is taken for this, where its logarithm is


def log_loss(probabilities: pd.Series, is_so: pd.Series, smallest: float = SMALLEST) -> float:
    """Mean negative log probability of what was the case, by the probabilities that it is so.

    Args:
        probabilities: What was said.
        is_so: What was the case.
        smallest: A probability below is taken for this, and one above 1 less this for that.
    """
    p = probabilities.clip(smallest, 1 - smallest)
    return float(-np.log(np.where(is_so, p, 1 - p)).mean())


def with_enough(rows: pd.DataFrame, keys: Sequence[str], least: int = ENOUGH) -> pd.DataFrame:
    """The rows of what has enough replications.

    Args:
        rows: A replication a row, or several rows a replication.
        keys: The columns that say what is replicated.
        least: How many are enough.
    """
    if rows.empty:
        return rows
    return rows[rows.groupby([*keys])["replication"].transform("nunique") >= least]


def put(tables: Mapping[str, Rows | pd.DataFrame], out: Path | None) -> None:
    """Print tables as CSV, and write each into a folder, if one is given."""
    for name, table in tables.items():
        rows = records(table) if isinstance(table, pd.DataFrame) else table
        put_in(rows, None if out is None else out / f"{name}.csv")


def put_in(rows: Rows, file: Path | None) -> None:
    """Print a table as CSV, and write it into a file, if one is given."""
    text = render(rows, "csv")
    print(text)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def round_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose fractions have four digits."""
    return {key: float(f"{value:.4g}") if isinstance(value, float) else value for key, value in row.items()}
