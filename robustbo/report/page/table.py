"""Tables of a page: their columns, their cells, and how these are aligned."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

LONGEST, NARROW = 24, 48  # letters of a cell before it is wrapped, and of a row that a telephone has room for
NUMBER = re.compile(r"(<b>)?[-+]?\.?\d(?!.* to )")
LOOKED_AT = 20  # rows of a table whose width is guessed


class Wrapped(NamedTuple):
    """A cell of a table whose text is wrapped.

    Attributes:
        text: What it shows.
        width: The least width of its column, in rem.
        details: A longer text that a reader can open; "" for none.
    """

    text: str
    width: int
    details: str = ""

    def __str__(self) -> str:
        return self.text


class Table(NamedTuple):
    """A table: the names of its columns, and rows of cells."""

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def without(self, name: str) -> "Table":
        """The table without a column; as it is where there is no such column."""
        columns = [at for at, title in enumerate(self.header) if title != name]
        header, *rows = ([row[at] for at in columns] for row in (self.header, *self.rows))
        return Table(header, rows)

    @property
    def is_wide(self) -> bool:
        """Return whether a telephone is too narrow for a row."""
        columns = zip(*[self.header, *self.rows[:LOOKED_AT]], strict=True)
        letters = sum(min(max(len(str(cell)) for cell in column), LONGEST) + 3 for column in columns)
        return letters > NARROW

    @property
    def classes(self) -> str:
        """The columns of words rather than of numbers, which are aligned at the left, as classes."""
        columns = enumerate(zip(*self.rows, strict=True), start=1)
        return " ".join(f"t{k}" for k, column in columns if not any(map(_is_number, column)))


def _is_number(cell: Any) -> bool:
    return not isinstance(cell, Wrapped) and bool(NUMBER.match(str(cell))) and len(str(cell)) <= LONGEST
