"""Measurements as people have them: a point, its value and its noise in each row of a data frame; all or nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from robustbo.censored import censored_value, check_noise, value_at_limit
from robustbo.errors import SpaceError
from robustbo.lazy import Module
from robustbo.searchspace.labels import has_other_unit, nearest_label, parts
from robustbo.searchspace.space import Space
from robustbo.searchspace.tabular import (
    Params,
    columns_and_hint,
    convert_rows,
    is_frame,
    is_missing,
    parameter_columns,
    point_of,
    rows_of,
)
from robustbo.validation import nearest, noise_sd, one_of, real

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = Module("pandas")

STATE = "state"  # the column of `Study.frame` with the state of each trial


class Measurement(NamedTuple):
    """A measured row of a data frame.

    Attributes:
        params: The point.
        value: What was measured there; of several outcomes a dict.
        sd: Its noise; None where it is not known.
        origin: What measured it, and when, as the event has it that it is recorded by.
    """

    params: Params
    value: Any
    sd: Any
    origin: dict[str, Any]


class MeasuredColumns(NamedTuple):
    """The columns of a data frame that hold measurements.

    Attributes:
        noise: By the column of values, that of their noise sd; None where there can be none.
        excluded: By outcome, the column that says which of its values are excluded; empty for a single value.
        signs: By the column of values, that which says which of them are bounds ("<" or ">"), where there is one.
    """

    noise: dict[str, str | None]
    excluded: dict[str, str]
    signs: dict[str, str]

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


def measurements_of(
    space: Space,
    frame: pd.DataFrame,
    *,
    value: str,
    sd: str | None,
    ignore_extra: bool,
    outcomes: Sequence[str] = (),
    check: Callable[[Any], None] = lambda _: None,
    origins: Mapping[str, str] = MappingProxyType({}),
    read_origin: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> list[Measurement]:
    """The point, value and noise sd (None where there is none, or NaN) in each row of a data frame, and its sources.

    A column ``sd`` must be there where it is given; unless given it is "sd", if there is one that is no parameter's.
    Of several ``outcomes`` value and sd are dicts, from columns OUTCOME and OUTCOME.sd, without the empty cells, and
    without what is excluded by a column OUTCOME.excluded; rows of which that leaves nothing are passed over. A value
    of which ``check`` raises an error breaks a rule. ``origins`` has the columns that say what measured a row and when,
    by names of which ``read_origin`` makes a part of an event.

    Raises:
        SpaceError: If a column is missing or not known, or any row breaks a rule; the message tells of each.
    """
    _check_arguments(frame, value, sd, outcomes)
    columns = _measured_columns(space, frame, value, sd, outcomes)
    cells = [name for pair in columns.noise.items() for name in pair if name is not None and name in frame.columns]
    has_state = STATE in frame.columns and STATE not in parameter_columns(space, frame)
    if has_state and not (frame[STATE] == "told").all():
        raise SpaceError(f"{STATE}: rows must be told values, got others too; pass frame[frame['{STATE}'] == 'told']")

    def measurement(row: tuple[dict[str, Any], dict[str, Any]]) -> Measurement | None:
        point, sds = point_of(space, row[0]), columns.noise_sds(row[1])
        origin = read_origin({name: row[1][column] for name, column in origins.items()})
        if outcomes:
            values = columns.outcome_values(row[1])
            for name, number in (values or {}).items():
                check_noise(number, sds[name], f" of {name!r}")
            check({name: number for name, number in (values or {}).items() if math.isfinite(number)})
            if values is None:
                return None
            return Measurement(point, values, {name: sds[name] for name in values}, origin)
        number = columns.number(value, row[1])
        check_noise(number, sds[value])
        if math.isfinite(number):
            check(number)
        return Measurement(point, number, sds[value], origin)

    value_columns = [*cells, *columns.excluded.values(), *columns.signs.values(), *origins.values()]
    rows = rows_of(space, frame, value_columns, ignore_extra)
    return [row for row in convert_rows(rows, measurement) if row is not None]


def columns_of_kinds(
    space: Space, frame: Any, kinds: str | Sequence[str], argument: str = "source", occupied: Collection[str] = ()
) -> dict[str, str]:
    """The column of each kind of source: of its name, or ``source.NAME``; likewise of another ``argument``.

    Raises:
        SpaceError: If there is none, or it is a parameter's, or one of those that are ``occupied`` by values and noise.
        TypeError: If kinds are no names of columns.
    """
    names = [kinds] if isinstance(kinds, str) else [*kinds]
    columns: dict[str, str] = {}
    for name in names if is_frame(frame) else ():
        if not isinstance(name, str):
            raise TypeError(f"{argument} must be the name of a column, or a list of such, got {kinds!r}")
        kind, parameters = name.removeprefix("source."), parameter_columns(space, frame)
        candidates = [column for column in (f"source.{kind}", kind) if column in frame.columns]
        own = [column for column in candidates if column not in parameters]
        if candidates and (not own or own[0] in occupied):
            use = "has values, or their noise" if own else "is a parameter"
            raise SpaceError(f"{argument}: {name!r} {use}; what measured, and when, has columns of its own")
        if not own:
            columns_there = f"{list(frame.columns)}{nearest(name, map(str, frame.columns))}"
            raise SpaceError(f"{argument}: there must be a column {name!r}, as it was named, got {columns_there}")
        columns[kind] = own[0]
    return columns


def _check_arguments(frame: Any, value: Any, sd: Any, outcomes: Sequence[str]) -> None:
    """Raise an error where there is no data frame, or names of columns are none, or not of several outcomes."""
    if not is_frame(frame):
        advice = "; read the file by pd.read_csv(...)" if isinstance(frame, str | PathLike) else ""
        advice = advice or "; pd.DataFrame(...) makes one of rows or columns, tell takes a single value"
        raise TypeError(f"frame must be a pandas DataFrame, got {type(frame).__name__}{advice}")
    for name, column in (("value", value), ("sd", sd)):
        if not isinstance(column, str | None):
            raise TypeError(f"{name} must be the name of a column, got {column!r}; frame.assign(...) adds one")
    if outcomes and (sd is not None or value != "value"):
        argument = f"value={value!r}" if sd is None else f"sd={sd!r}"
        raise SpaceError(
            f"columns of several outcomes must be named OUTCOME and OUTCOME.sd, got {argument}; rename them"
        )


def _measured_columns(
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
        raise SpaceError(f"sd: there must be a column {sd!r}, as it was named, got {columns_and_hint(frame, sd)}")
    excluded = {name: f"{name}.excluded" for name in outcomes if f"{name}.excluded" in frame.columns}
    parameters = parameter_columns(space, frame)
    signs = {name: sign_column(name) for name in noise if sign_column(name) in {*frame.columns} - {*parameters}}
    return MeasuredColumns(noise, excluded, signs)


def _rename_advice(space: Space, frame: pd.DataFrame, missing: str, outcomes: Mapping[str, Any]) -> str:
    """The columns there are, and how to say which of them has the values; by their names alone of several outcomes."""
    claimed = {*parameter_columns(space, frame), *outcomes, "sd"}
    columns = columns_and_hint(frame, None)
    candidates = [name for name in frame.columns if isinstance(name, str) and name not in claimed]
    if not candidates and missing == "value":
        return f"{columns}; add one, by frame.assign(value=...)"
    name = nearest_label(missing, candidates)
    if name is None and missing == "value":
        name = next((other for other in candidates if pd.api.types.is_numeric_dtype(frame[other])), candidates[0])
    if name is None:
        unit = parts(missing)[1]
        in_other_unit = [other for other in candidates if has_other_unit(other, unit)]
        advice = f"; {in_other_unit[0]!r} is in another unit than {unit}, convert it" if in_other_unit else ""
        return columns + advice
    by_name = "" if outcomes else f", or say value={name!r} to tell_frame"
    return f"{columns}; rename {name!r} to {missing!r}, by frame.rename(columns={{{name!r}: {missing!r}}}){by_name}"


def _number(name: str, cell: Any) -> float:
    """The number in a cell; a TypeError with advice where it has none."""
    if (bound := censored_value(cell)) is not None:
        return bound
    if isinstance(cell, str):
        advice = "read a decimal comma by read_csv(..., decimal=',')" if "," in cell else "pd.to_numeric converts it"
        try:
            float(cell.replace(",", "."))
        except ValueError:
            advice = "leave the cell empty where there is no value"
        raise TypeError(f"{name} must be a real number, got the text {cell!r}; {advice}")
    return real(name, cell)
