"""Sheets of any format as rows of cells, with a header that has a column "trial"."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from robustbo.errors import SheetError
from robustbo.searchspace.labels import has_other_unit, nearest_label, parts

TRIAL = "trial"
HEADER_WITHIN = 20  # rows: above the header there may be a title

Place = tuple[int, int]  # row and column


class Grid(Protocol):
    """A sheet as it was read; see `robustbo.sheets.delimited.Delimited`."""

    rows: list[list[str]]
    labels: list[str]
    decimal: str
    uncomputed: frozenset[Place]

    def with_decimal_of(self, places: Iterable[Place]) -> "Grid":
        """A sheet of these cells whose decimal mark is that of most numbers in some of them."""
        ...

    def check_extensible(self) -> None:
        """Raise a `SheetError` where nothing can be added without a loss."""
        ...

    def with_changes(self, cells: Mapping[Place, object], rows: Sequence[Sequence[object]]) -> bytes:
        """The file with values in cells that are empty, and rows at its end."""
        ...


def plain(name: str) -> str:
    """The name in a header's cell, without a unit in brackets behind it.

    Example:
        >>> plain("Yield [%]"), plain("temperature (°C) ")
        ('yield', 'temperature')
    """
    return parts(name)[0].casefold()


def is_header(row: Sequence[str]) -> bool:
    """Return whether a row has the columns' names."""
    return TRIAL in map(plain, row)


def header_of(rows: Sequence[Sequence[str]]) -> int | None:
    """Index of the row that has the columns' names; None where there is none."""
    return next((index for index, row in enumerate(rows[:HEADER_WITHIN]) if is_header(row)), None)


def places_of(header: Sequence[str], names: Iterable[str], units: Mapping[str, str]) -> dict[str, int]:
    """Find the column of each name: the exact name, or else one that differs in case, spaces and a unit only.

    Args:
        header: Its cells.
        names: The names.
        units: By name, in which unit its values are, where that is known.

    Raises:
        SheetError: If several have one, one has several, or the only one that has it says another unit.
    """
    required, places = list(names), dict[str, int]()
    rest = {column: cell for column, cell in enumerate(header) if cell not in required}
    for name in required:
        columns = [column for column, cell in enumerate(header) if cell == name]
        if not columns:
            alike, unit = [column for column, cell in rest.items() if plain(cell) == plain(name)], units.get(name, "")
            columns = [column for column in alike if not has_other_unit(header[column], unit)]
            if alike and not columns:
                rule = f"the column {name!r} must be in {unit}, got {header[alike[0]]!r}"
                raise SheetError(f"{rule}; convert its values and rename it to {name!r}")
        if len(columns) > 1:
            raise SheetError(f"there must be one column {name!r}, got {len(columns)}; rename the others")
        if columns and columns[0] in places.values():
            raise SheetError(f"the columns {required} must have different names, got {header[columns[0]]!r}; rename it")
        if columns:
            places[name] = columns[0]
    return places


def missing_column_error(
    header: Sequence[str], used: Collection[int], name: str, purpose: str, value: str = ""
) -> SheetError:
    """The error that a column is not there.

    Args:
        header: Its cells.
        used: The columns that are others.
        name: Of the one that is not there.
        purpose: It is for.
        value: What to do where no column is near, if another one may be named in its place.
    """
    names = [cell for at, cell in enumerate(header) if cell and at not in used]
    word = nearest_label(name, names)
    if word is None:
        hint = f"; {value}" if value else "; add it"
    elif value:
        hint = f"; rename {word!r} to {name!r}, or say value={word!r} (--value {word!r})"
    else:
        hint = f"; did you mean {word!r}? rename it to {name!r}"
    return SheetError(f"there must be a column {name!r} {purpose}, got {[cell for cell in header if cell]}{hint}")
