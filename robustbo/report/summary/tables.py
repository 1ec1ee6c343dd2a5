"""Rows of results as text: a table to read, JSON or CSV to work with."""

import csv
import io
import json
import shutil
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from robustbo.formulas import guard_cell
from robustbo.report.summary.heading import heading
from robustbo.rounding import format_number

Rows = list[dict[str, Any]]
LONGEST = 24  # letters of a number with all its digits; a longer word may be folded
BETWEEN = 3  # two columns


def records(table: Any) -> Rows:
    """A data frame's rows as plain values, NaN as None."""
    plain = table.astype(object).where(table.notna(), None)
    return [dict(zip(table.columns, row, strict=True)) for row in plain.itertuples(index=False)]


def render(rows: Rows, form: str, title: str = "") -> str:
    """Rows as text.

    Args:
        rows: All with the same keys.
        form: "table", which has one cell a line where the screen is too narrow for its columns; "json" or "csv".
        title: Above a table.
    """
    if form == "json":
        return json.dumps(rows) + "\n"
    if form == "csv":
        return _csv(rows)
    width = shutil.get_terminal_size((140, 24)).columns
    if rows and not _fits(rows, width):
        return _one_a_line(rows, title)
    table = Table(title=escape(title) or None, title_justify="left", box=SIMPLE, pad_edge=False)
    for key, value in rows[0].items() if rows else ():
        table.add_column(escape(heading(key)), justify="left" if isinstance(value, str) else "right", overflow="fold")
    for row in rows:
        table.add_row(*(escape(_cell_text(value)) for value in row.values()))
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def _fits(rows: Rows, width: int) -> bool:
    """Return whether the screen has room for a table, so that no number has to be folded, nor any shorter word."""
    if len(rows[0]) < 3:
        return True
    columns = [[heading(key), *(_cell_text(row[key]) for row in rows)] for key in rows[0]]
    longest = [max((len(word) for cell in column for word in cell.split()), default=0) for column in columns]
    return sum(min(LONGEST, letters) for letters in longest) + BETWEEN * (len(longest) - 1) <= width


def _one_a_line(rows: Rows, title: str) -> str:
    """The cells of each row below each other, and an empty line behind it."""
    keys = [heading(key) for key in rows[0]]
    wide = max(map(len, keys))
    blocks = [
        "".join(f"{k:<{wide}}  {_cell_text(v)}\n" for k, v in zip(keys, row.values(), strict=True)) for row in rows
    ]
    return "\n".join([*([f"{title}\n"] if title else []), *blocks, ""])


def _csv(rows: Rows) -> str:
    text = io.StringIO()
    if rows:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([guard_cell(cell) for cell in row] for row in [[*rows[0]], *([*r.values()] for r in rows)])
    return text.getvalue()


def _cell_text(value: Any) -> str:
    if value is None:
        return "-"
    return format_number(value, 4) if isinstance(value, float) else str(value)
