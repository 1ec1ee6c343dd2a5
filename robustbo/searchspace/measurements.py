"""Measurements as people have them: a point, its value and its noise in each row of a data frame; all or nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from robustbo.censored import check_noise
from robustbo.errors import SpaceError
from robustbo.lazy import Module
from robustbo.searchspace.measured_columns import count_columns, measured_columns, sign_column
from robustbo.searchspace.space import Space
from robustbo.searchspace.tabular import (
    Params,
    convert_rows,
    is_frame,
    measured_point_of,
    parameter_columns,
    rows_of,
)
from robustbo.searchspace.units import as_numbers_of
from robustbo.validation import nearest

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = Module("pandas")

__all__ = ["Measurement", "columns_of_kinds", "measurements_of", "sign_column"]

STATE = "state"  # the column of `Study.frame` with the state of each trial


class Measurement(NamedTuple):
    """A measured row of a data frame.

    Attributes:
        params: The point.
        value: What was measured there; of several outcomes a dict.
        sd: Its noise; None where it is not known.
        origin: What measured it, and when, as the event has it that it is recorded by.
        n: Of how many measurements it is the mean; None where that is not said.
    """

    params: Params
    value: Any
    sd: Any
    origin: dict[str, Any]
    n: Any = None


def measurements_of(
    space: Space,
    frame: pd.DataFrame,
    *,
    value: str,
    sd: str | None,
    ignore_extra: bool,
    n: str | None = None,
    outcomes: Sequence[str] = (),
    check: Callable[[Any], None] = lambda _: None,
    origins: Mapping[str, str] = MappingProxyType({}),
    read_origin: Callable[[dict[str, Any]], dict[str, Any]] = dict,
    is_checked: Callable[[dict[str, Any]], bool] = lambda _: True,
) -> list[Measurement]:
    """The point, value and noise sd (None where there is none, or NaN) in each row of a data frame, and its sources.

    A column ``sd`` must be there where it is given; by default it is "sd", if there is one that is no parameter's.
    Of several ``outcomes`` value and sd are dicts, from columns OUTCOME and OUTCOME.sd, without the empty cells, and
    without what is excluded by a column OUTCOME.excluded; rows of which that leaves nothing are passed over. A value
    of which ``check`` raises an error breaks a rule. ``origins`` has the columns that say what measured a row and when,
    by names of which ``read_origin`` makes a part of an event; one of which ``is_checked`` is False is not checked.

    Raises:
        SpaceError: If a column is missing or not known, or any row breaks a rule; the message tells of each.
    """
    _check_arguments(frame, value, sd, outcomes)
    frame = as_numbers_of(space.names, frame)
    columns = measured_columns(space, frame, value, sd, outcomes)
    columns = columns._replace(counts=count_columns(space, frame, columns.noise, n, is_free=ignore_extra))
    cells = [name for pair in columns.noise.items() for name in pair if name is not None and name in frame.columns]
    has_state = STATE in frame.columns and STATE not in parameter_columns(space, frame)
    if has_state and not (frame[STATE] == "told").all():
        raise SpaceError(
            f"{STATE}: rows must be told values, got others too; pass frame[frame['{STATE}'] == 'told'], or "
            "give the journal, not its table: then failed trials count as well"
        )

    def measurement(row: tuple[dict[str, Any], dict[str, Any]]) -> Measurement | None:
        point, sds = measured_point_of(space, row[0]), columns.noise_sds(row[1])
        origin = read_origin({name: row[1][column] for name, column in origins.items()})
        if outcomes:
            values = columns.outcome_values(row[1])
            for name, number in (values or {}).items():
                check_noise(number, sds[name], of=f" of {name!r}")
            if is_checked(origin):
                check({name: number for name, number in (values or {}).items() if math.isfinite(number)})
            if values is None:
                return None
            return Measurement(
                point, values, {name: sds[name] for name in values}, origin, columns.means_of(row[1], values)
            )
        number = columns.number(value, row[1])
        check_noise(number, sds[value])
        if math.isfinite(number) and is_checked(origin):
            check(number)
        return Measurement(point, number, sds[value], origin, columns.means_of(row[1], {value: number})[value])

    cells += columns.counts.values()
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
            raise SpaceError(f"{argument}: there must be a column {name!r}, as you named it, got {columns_there}")
        columns[kind] = own[0]
    return columns


def _check_arguments(frame: Any, value: Any, sd: Any, outcomes: Sequence[str]) -> None:
    """Raise an error where there is no data frame, or names of columns are none, or not of several outcomes."""
    if not is_frame(frame):
        reader = "read_excel" if str(frame).endswith(".xlsx") else "read_csv"
        advice = f"; read the file by pd.{reader}(...)" if isinstance(frame, str | PathLike) else ""
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
