"""Points and measurements as people have them: a mapping, a pandas Series, rows of a data frame; all or nothing."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import pandas as pd

from robustbo.arguments import noise_sd, real
from robustbo.errors import SpaceError
from robustbo.parameters import Value
from robustbo.space import Space
from robustbo.trials.history import column_names

Params = dict[str, Value]
Point: TypeAlias = Mapping[str, Any] | pd.Series
Points: TypeAlias = Mapping[str, Any] | pd.Series | pd.DataFrame | Iterable[Mapping[str, Any] | pd.Series]

SHOWN = 20  # rows that an error tells of


def is_point(given: Any) -> bool:
    """Whether it is one point: a mapping of names to values, or a Series."""
    return isinstance(given, Mapping | pd.Series)


def point_of(space: Space, given: Point) -> Params:
    """A point as plain values in the space's order.

    Raises:
        SpaceError: If it is no point of the space.
    """
    return space.validate(given.to_dict() if isinstance(given, pd.Series) else given)


def points_of(space: Space, given: Points, *, ignore_extra: bool = True) -> list[Params]:
    """The points in a data frame's rows (a parameter's column has its name, or ``params.NAME``), or in a list.

    Raises:
        SpaceError: If any is no point of the space; the message tells of each.
    """
    rows = _rows(space, given, (), ignore_extra) if isinstance(given, pd.DataFrame) else list(enumerate(_listed(given)))
    return _checked(rows, lambda row: point_of(space, row))


def measurements_of(
    space: Space, frame: pd.DataFrame, *, value: str, sd: str, ignore_extra: bool
) -> list[tuple[Params, float, float | None]]:
    """The point, value and noise sd (None where there is none, or NaN) in each row of a data frame.

    Raises:
        SpaceError: If a column is missing or not known, or any row breaks a rule; the message tells of each.
    """
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"frame must be a pandas DataFrame, got {type(frame).__name__}; use tell for a single value")
    if value not in frame.columns:
        raise SpaceError(f"value: there must be a column {value!r} of measured values, got {list(frame.columns)}")
    others = [name for name in (value, sd) if name in frame.columns]

    def measurement(row: Mapping[str, Any]) -> tuple[Params, float, float | None]:
        known = row.get(sd)
        params = point_of(space, {name: row[name] for name in row if name not in others})
        return params, real(value, row[value]), None if _is_missing(known) else noise_sd(known)

    return _checked(_rows(space, frame, others, ignore_extra), measurement)


def _rows(
    space: Space, frame: pd.DataFrame, others: Sequence[str], ignore_extra: bool
) -> list[tuple[Any, dict[str, Any]]]:
    """Each row's label, and the parameters and other columns in it."""
    prefixed = dict(zip(column_names(space.names, space.names), space.names, strict=True))
    columns = {name: prefixed.get(name, name) for name in frame.columns}
    known = [name for name, meant in columns.items() if meant in space.names or name in others]
    if (extra := [name for name in frame.columns if name not in known]) and not ignore_extra:
        raise SpaceError(
            f"columns must be the parameters {space.names} and {list(others)}, got {extra} too; "
            "drop them, or pass ignore_extra=True"
        )
    if missing := [name for name in space.names if name not in {columns[column] for column in known}]:
        raise SpaceError(f"{missing[0]}: there must be a column for every parameter, got {list(frame.columns)}")
    plain = frame[known].rename(columns=columns).astype(object)
    return list(zip(frame.index, plain.to_dict("records"), strict=True))


def _listed(given: Any) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"points must be a mapping, a pandas Series or DataFrame, or a list of such, got {given!r}")
    rows = list(given)
    if wrong := [row for row in rows if not is_point(row)]:
        raise TypeError(f"each point must be a mapping of parameters or a pandas Series, got {wrong[0]!r}")
    return rows


def _checked(rows: Sequence[tuple[Any, Any]], check: Any) -> list[Any]:
    """What ``check`` makes of each row; all errors in one."""
    made, errors = [], []
    for label, row in rows:
        try:
            made.append(check(row))
        except (ValueError, TypeError) as error:
            errors.append(f"row {label}: {error}")
    if errors:
        more = f"\n... and {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
        told = "\n".join(errors[:SHOWN])
        raise SpaceError(f"{len(errors)} of {len(rows)} rows break a rule, and nothing was recorded:\n{told}{more}")
    return made


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))
