"""What sheets of all formats are: rows of cells, some of which are empty, with a header that has a column "trial"."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from robustbo.errors import SheetError
from robustbo.validation import nearest

TRIAL = "trial"
HEADER_WITHIN = 20  # rows: above the header there may be a title

Place = tuple[int, int]  # row and column


class Grid(Protocol):
    """A sheet as it was read; see `robustbo.sheets.delimited.Delimited`."""

    rows: list[list[str]]
    labels: list[str]
    decimal: str
    uncomputed: frozenset[Place]

    def check_added(self) -> None:
        """Raise a `SheetError` where nothing can be added without a loss."""
        ...

    def added(self, cells: Mapping[Place, object], rows: Sequence[Sequence[object]]) -> bytes:
        """The file with values in cells that are empty, and rows at its end."""
        ...


def plain(name: str) -> str:
    """The name in a header's cell, without a unit in brackets behind it.

    Example:
        >>> plain("Yield [%]"), plain("temperature (°C) ")
        ('yield', 'temperature')
    """
    text = name.strip().casefold()
    for start, end in ("()", "[]"):
        if text.endswith(end) and (before := text.rpartition(start)[0].strip()):
            return before
    return text


def is_header(row: Sequence[str]) -> bool:
    """Whether a row has the columns' names."""
    return TRIAL in map(plain, row)


def header_of(rows: Sequence[Sequence[str]]) -> int | None:
    """Which row has the columns' names; None where none has."""
    return next((index for index, row in enumerate(rows[:HEADER_WITHIN]) if is_header(row)), None)


def places_of(header: Sequence[str], names: Iterable[str]) -> dict[str, int]:
    """Which column has each of these names, as far as one has: exactly, or else but for case, space and a unit.

    Raises:
        SheetError: If several have one, or one has several.
    """
    wanted, found = list(names), dict[str, int]()
    others = {column: cell for column, cell in enumerate(header) if cell not in wanted}
    for name in wanted:
        columns = [column for column, cell in enumerate(header) if cell == name]
        columns = columns or [column for column, cell in others.items() if plain(cell) == plain(name)]
        if len(columns) > 1:
            raise SheetError(f"there must be one column {name!r}, got {len(columns)}; rename the others")
        if columns and columns[0] in found.values():
            raise SheetError(f"the columns {wanted} must be told apart, got {header[columns[0]]!r}; give it its name")
        if columns:
            found[name] = columns[0]
    return found


def missing_column(header: Sequence[str], name: str, what: str) -> SheetError:
    """The error that a column is not there."""
    there = [cell for cell in header if cell]
    return SheetError(f"there must be a column {name!r} {what}, got {there}{nearest(name, there)}")
