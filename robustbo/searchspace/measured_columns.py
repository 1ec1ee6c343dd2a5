"""The columns of a data frame that hold measurements: values, their noise, and what else is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from robustbo.censored import censored_value, is_bound, value_at_limit
from robustbo.errors import SpaceError
from robustbo.lazy import Module
from robustbo.searchspace.labels import has_other_unit, nearest_label, parts
from robustbo.searchspace.space import Space
from robustbo.searchspace.tabular import columns_and_hint, is_missing, parameter_columns
from robustbo.searchspace.units import number_and_unit, plain_number
from robustbo.validation import noise_sd, one_of, real, short_list, whole_number

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = Module("pandas")

COUNT = "n"  # the column of how many measurements values are the mean of, where it is not said otherwise


class MeasuredColumns(NamedTuple):
    """The columns of a data frame that hold measurements.

    Attributes:
        noise: By the column of values, that of their noise sd; None where there can be none.
        excluded: By outcome, the column that says which of its values are excluded; empty for a single value.
        counts: By the column of values, that of how many measurements each is the mean of, where there is one.
        signs: By the column of values, that which says which of them are bounds ("<" or ">"), where there is one.
    """

    noise: dict[str, str | None]
    excluded: dict[str, str]
    signs: dict[str, str]
    counts: dict[str, str]

    def means_of(self, cells: Mapping[str, Any], values: Mapping[str, float]) -> dict[str, int | None]:
        """The number of measurements that each value in a row is the mean of, checked; None of bounds, or if not said.

        Args:
            cells: Of the row, by column.
            values: The values in it, by their columns.
        """
        of = {name: cells.get(self.counts[name]) if name in self.counts else None for name in self.noise}
        numbers = {name: int(n) if isinstance(n, float) and n.is_integer() else n for name, n in of.items()}
        counts = {name: None if is_missing(n) else whole_number("n", n, 1) for name, n in numbers.items()}
        return {name: None if is_bound(values.get(name)) else n for name, n in counts.items()}

    def noise_sds(self, cells: Mapping[str, Any]) -> dict[str, Any]:
        """The noise sd beside each value in a row, checked; None where there is none."""
        sds = {name: column and cells.get(column) for name, column in self.noise.items()}
        return {name: None if is_missing(sd) else noise_sd(sd) for name, sd in sds.items()}

    def outcome_values(self, cells: Mapping[str, Any]) -> dict[str, float] | None:
        """The outcomes' values in a row, without empty cells and excluded ones; None where all are excluded."""
        measured = [name for name in self.noise if not is_missing(cells[name])]
        excluded = {name for name, column in self.excluded.items() if cells[column] is True}
        values = {name: self.number(name, cells) for name in measured if name not in excluded}
        return values if values or not measured else None

    def number(self, name: str, cells: Mapping[str, Any]) -> float:
        """The number in a cell of values, or the bound that it and its sign are."""
        sign = cells[self.signs[name]] if name in self.signs else None
        if is_missing(sign) or sign == "":
            return _number(name, cells[name])
        return value_at_limit(one_of(f"the sign of {name}", sign, ("<", ">")), _number(name, cells[name]))


def sign_column(name: str) -> str:
    """The column that says which of the values in another are bounds: "<" or ">" where one is."""
    return f"{name}.sign"


def measured_columns(
    space: Space, frame: pd.DataFrame, value: str, sd: str | None, outcomes: Sequence[str]
) -> MeasuredColumns:
    """The columns that are to hold measurements; a `SpaceError` if one of them is missing."""
    default = None if "sd" in parameter_columns(space, frame) else "sd"
    noise: dict[str, str | None] = {value: default if sd is None else sd}
    if outcomes:
        noise = {name: f"{name}.sd" for name in outcomes}
    for column in noise:
        if column not in frame.columns:
            note = " (it may be empty)" if outcomes else ""
            advice = _rename_advice(space, frame, column, noise if outcomes else {})
            raise SpaceError(f"value: there must be a column {column!r} of measured values{note}, got {advice}")
    if sd is not None and not outcomes and sd not in frame.columns:
        raise SpaceError(f"sd: there must be a column {sd!r}, as you named it, got {columns_and_hint(frame, sd)}")
    excluded = {name: f"{name}.excluded" for name in outcomes if f"{name}.excluded" in frame.columns}
    parameters = parameter_columns(space, frame)
    signs = {name: sign_column(name) for name in noise if sign_column(name) in {*frame.columns} - {*parameters}}
    return MeasuredColumns(noise, excluded, signs, {})


def count_columns(
    space: Space, frame: pd.DataFrame, names: Mapping[str, Any], n: str | None, *, is_free: bool
) -> dict[str, str]:
    """The columns of how many measurements values are the mean of, by the columns of values.

    A column that may be anybody's, since extra ones are passed over, must be named.
    """
    if n is not None:
        if n not in frame.columns or n in parameter_columns(space, frame):
            raise SpaceError(f"n: there must be a column {n!r}, as you named it, got {columns_and_hint(frame, n)}")
        return dict.fromkeys(names, n)
    columns = {name: COUNT if len(names) == 1 and f"{name}.n" not in frame.columns else f"{name}.n" for name in names}
    own = {*frame.columns} - {*parameter_columns(space, frame), *names}
    return {name: column for name, column in columns.items() if column in own and not (is_free and column == COUNT)}


def is_numbering(counts: Sequence[float]) -> bool:
    """Return whether numbers in a column "n" number the rows, and count nothing: several, all different.

    Example:
        >>> is_numbering([1, 2, 4]), is_numbering([3, 9]), is_numbering([4, 4, 9])
        (True, False, False)
    """
    return len({*counts}) == len(counts) > 2


def _rename_advice(space: Space, frame: pd.DataFrame, missing: str, outcomes: Mapping[str, Any]) -> str:
    """The columns there are, and how to say which of them has the values; by their names alone of several outcomes."""
    claimed = {*parameter_columns(space, frame), *outcomes, "sd"}
    columns = columns_and_hint(frame, None)
    candidates = [name for name in frame.columns if isinstance(name, str) and name not in claimed]
    if not candidates and missing == "value":
        return f"{columns}; add one, by frame.assign(value=...)"
    name = nearest_label(missing, candidates)
    numbers = [other for other in candidates if pd.api.types.is_numeric_dtype(frame[other])] or candidates
    if name is None and missing == "value" and len(numbers) > 1:
        ways = "rename it to 'value', or name the outcome like it: rb.Outcome(...), in a terminal --outcome"
        return f"{columns}; say which of {short_list(numbers)} has the values: {ways}"
    if name is None and missing == "value":
        name = numbers[0]
    if name is None:
        own_name, unit = parts(missing)
        in_other_unit = [c for c in candidates if parts(c)[0] == own_name and has_other_unit(c, unit)]
        advice = f"; {in_other_unit[0]!r} is in another unit than {unit}, convert it" if in_other_unit else ""
        return columns + advice
    by_name = "" if outcomes else f", or say value={name!r} to tell_frame"
    return f"{columns}; rename {name!r} to {missing!r}, by frame.rename(columns={{{name!r}: {missing!r}}}){by_name}"


def _number(name: str, cell: Any) -> float:
    """The number in a cell, NaN in an empty one; a TypeError with advice where it has none."""
    if is_missing(cell):
        return math.nan
    if (bound := censored_value(cell)) is not None:
        return bound
    if isinstance(cell := plain_number(cell), str):
        has_digits = any(character.isdigit() for character in cell)
        advice = (
            "write a plain number, such as -1234.5" if has_digits else "leave the cell empty where there is no value"
        )
        if not isinstance(plain_number(cell.replace(",", ".")), str):
            advice = "read a decimal comma by read_csv(..., decimal=',')"
        if (pair := number_and_unit(cell)) is not None:
            advice = f"say its unit, rb.Outcome(..., unit={pair[1]!r}), and cells with that unit are read"
        raise TypeError(f"{name} must be a real number, got the text {cell!r}; {advice}")
    return real(name, cell)
