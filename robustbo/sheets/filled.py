"""The rows that people have filled in with a value, or with a word in its place."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TypeVar

from robustbo import limits
from robustbo.censored import is_bound, read_bound
from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Ordinal, Parameter, Value
from robustbo.searchspace.parameters.text import measured_value_of, value_of
from robustbo.searchspace.space import Space
from robustbo.searchspace.units import without_unit
from robustbo.sheets.alike import is_as_asked
from robustbo.sheets.cells import agrees, number_of
from robustbo.sheets.columns import Columns
from robustbo.sheets.grid import Grid
from robustbo.trials.sources import labels_to_record
from robustbo.validation import short_list

WAITING = {"n/a", "na", "tbd", "todo", "to do", "pending", "later", "waiting", "running", "in progress", "none", "null"}
WAITING |= {"ok", "done", "yes", "no", "true", "false", "queued", "open"}
FAILED = re.compile("fail", re.IGNORECASE)
WITHDRAWN = re.compile(r"withdrawn\b[\s:,;-]*", re.IGNORECASE)
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9:.]+)?|[0-9]{1,2}([./])[0-9]{1,2}\2[0-9]{2,4}")

T = TypeVar("T")


@dataclass(frozen=True)
class CellValue:
    """A number in a cell, or a reason why there is none.

    Attributes:
        text: The cell.
        number: The number, or the bound that it is; NaN for a reason.
        reason: The reason.
    """

    text: str
    number: float
    reason: str | None = None

    def is_value(self, value: float | None) -> bool:
        """Return whether the cell has that value, or None and there is no number."""
        if value is None or is_bound(value) or is_bound(self.number):
            return not math.isfinite(self.number) if value is None else self.number == value
        return agrees(self.text, self.number, value)


@dataclass(frozen=True)
class FilledRow:
    """A row with something filled in.

    Attributes:
        row: Which one.
        label: The same for people.
        number: Its trial's number; None in a row of somebody's own.
        cells: What is in the cells of parameters, by name, as far as they are not empty.
        values: What is in those of outcomes, likewise.
        sds: And in those of their noise.
        counts: And in those of how many measurements they are the mean of.
        waits: The outcomes whose cells are empty.
        sources: The labels that say what measured it, by the kind of source.
        labels: What is in the columns of other people, cut where it is too long.
    """

    row: int
    label: str
    number: int | None
    cells: dict[str, str]
    values: dict[str | None, CellValue]
    sds: dict[str | None, float]
    counts: dict[str | None, int]
    waits: list[str]
    sources: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)


def cell_value(text: str, decimal: str) -> CellValue:
    """Read a cell of a column of values.

    Raises:
        ValueError: If it is neither a number nor a reason why there is none.

    Example:
        >>> cell_value("48,8", ",").number, cell_value("< 0,05", ",").number
        (48.8, <0.05)
        >>> cell_value("the stirrer broke", ".").reason
        'the stirrer broke'
    """
    if (bound := read_bound(text, partial(number_of, decimal=decimal))) is not None:
        return CellValue(text, bound)
    number, word = number_of(text, decimal), text.strip()
    if number is not None:
        return CellValue(text, number)
    has_digits, has_letters = re.search("[0-9]", word), re.search(r"[^\W\d_]", word)
    is_waiting = word.casefold() in WAITING or not has_letters
    if (is_waiting or has_digits or word.startswith("#")) and not (FAILED.match(word) or WITHDRAWN.match(word)):
        if DATE.fullmatch(word):
            advice = "the cell is formatted as a date: format it as a number, and write the number again"
        elif has_digits and not has_letters:
            advice = "write the number alone, and a unit such as % into the header"
        elif is_waiting:
            advice = "leave the cell empty where nothing has been measured yet"
        else:
            advice = "write units into the header, and before a reason with digits in it the word failed"
        raise ValueError(f"must be a number, or words that say why there is none, got {word!r}; {advice}")
    return CellValue(text, math.nan, word)


def number_in(text: str) -> int | None:
    """The trial's number in a cell; None in an empty one.

    Raises:
        ValueError: If it is none.
    """
    if not text.strip():
        return None
    number = number_of(text)
    if number is None or not math.isfinite(number) or number < 0 or number != int(number):
        raise ValueError(f"trial must be a number, 0, 1, ..., or empty in a row of your own, got {text!r}")
    return int(number)


def numbers_in(grid: Grid, columns: Columns) -> set[int]:
    """The trials that have a row, filled in or not."""
    numbers = set[int]()
    for cells in grid.rows[columns.header + 1 :]:
        try:
            number = number_in(_cell(cells, columns.trial))
        except ValueError:
            continue
        numbers |= set() if number is None else {number}
    return numbers


def rows_with_values(grid: Grid, columns: Columns, errors: list[str]) -> list[FilledRow]:
    """The rows with something filled in; what is wrong with others goes to the errors."""
    rows = []
    for index in range(columns.header + 1, len(grid.rows)):
        try:
            row = _row_with_values(grid, columns, index)
        except ValueError as error:
            errors.append(f"{grid.labels[index]}: {error}")
        else:
            rows += [] if row is None else [row]
    return rows


def _row_with_values(grid: Grid, columns: Columns, index: int) -> FilledRow | None:
    cells = grid.rows[index]
    if more := [cell for cell in cells[len(columns.names) :] if cell.strip()]:
        advice = "put quotes around a cell with a separator in it, such as a decimal comma, or name the column"
        got = f"got {short_list(more)} behind them"
        raise ValueError(f"must have {len(columns.names)} cells, as the header, {got}; {advice}")
    values = _read_cells(cells, columns.values, columns, lambda text: cell_value(text, grid.decimal))
    if not values:
        return None
    waits = [str(name) for name in columns.values if name not in values]
    sds = _read_cells(cells, columns.sds, columns, lambda text: _sd(text, grid.decimal))
    counts = _read_cells(cells, columns.counts, columns, lambda text: _count(text, grid.decimal))
    texts = {name: without_unit(columns.names[at], _cell(cells, at)) for name, at in columns.parameters.items()}
    parameter_cells = {name: text for name, text in texts.items() if text.strip()}
    number = number_in(_cell(cells, columns.trial))
    sources = labels_to_record({kind: _cell(cells, at) for kind, at in columns.sources.items()})
    texts = {name: _cell(cells, at).strip()[: limits.LABEL_CHARACTERS] for name, at in columns.labels.items()}
    labels = {name[: limits.LABEL_CHARACTERS]: text for name, text in texts.items() if text}
    return FilledRow(index, grid.labels[index], number, parameter_cells, values, sds, counts, waits, sources, labels)


def _read_cells(
    cells: Sequence[str], places: Mapping[str | None, int], columns: Columns, read: Callable[[str], T]
) -> dict[str | None, T]:
    """Read the cells of some columns that are not empty."""
    contents = {}
    for name, at in places.items():
        if (text := _cell(cells, at)).strip():
            try:
                contents[name] = read(without_unit(columns.names[at], text))
            except ValueError as error:
                raise ValueError(f"{columns.names[at]} {error}") from None
    return contents


def _sd(text: str, decimal: str) -> float:
    number = number_of(text, decimal)
    if number is None or not math.isfinite(number) or number < 0:
        raise ValueError(f"must be finite and at least 0, got {text!r}")
    return number


def _count(text: str, decimal: str) -> int:
    number = number_of(text, decimal)
    if number is None or not 1 <= number < math.inf or number != int(number):
        raise ValueError(f"must be a whole number of at least 1, got {text!r}")
    return int(number)


def _cell(cells: Sequence[str], at: int) -> str:
    return cells[at] if at < len(cells) else ""


def point_in(
    space: Space, cells: Mapping[str, str], decimal: str, own: Mapping[str, Value] = MappingProxyType({})
) -> dict[str, Value]:
    """The point in a row of somebody's own, where it was measured.

    Args:
        space: That of the study.
        cells: By parameter.
        decimal: What separates decimals.
        own: Values of parameters that its source does not have.

    Raises:
        ValueError: If it is none.
    """
    if not cells:
        raise ValueError("has a value, but neither a trial's number nor a point; fill in one of these, or delete it")
    named = dict(space.parameters)
    params = {name: value_in(name, named[name], text, decimal) for name, text in cells.items()}
    present = space.existing({**own, **params}) if own else ()
    return space.measured_point({**{name: own[name] for name in own if name in present}, **params})


def value_in(name: str, parameter: Parameter, text: str, decimal: str) -> Value:
    if isinstance(parameter, Choice | Ordinal):
        try:
            return value_of(name, parameter, text)
        except SpaceError:
            meant = [value for value in parameter.values if is_as_asked(parameter, text, value, decimal)]
            if len(meant) == 1:
                return meant[0]
    try:
        number = number_of(text, decimal)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return measured_value_of(name, parameter, text.strip() if number is None else text.strip().replace(",", "."))
