"""Points as people have them: a mapping, a pandas Series, rows of a data frame; all or nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, Union

from robustbo.errors import SpaceError, SpaceWarning, warn
from robustbo.lazy import is_instance, value_in
from robustbo.searchspace.labels import parts
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.parameters.measured import measured_value
from robustbo.searchspace.space import Space
from robustbo.searchspace.units import as_numbers_of, in_the_names, plain_number
from robustbo.validation import nearest

if TYPE_CHECKING:
    import pandas as pd

Params = dict[str, Value]
# By `Union`, which takes names that are not imported.
Point: TypeAlias = Union[Mapping[str, Any], "pd.Series"]
Points: TypeAlias = Union[Point, "pd.DataFrame", Iterable[Point]]

MAX_ROWS_SHOWN = 20  # in an error
TABLES = (".csv", ".tsv", ".txt", ".xlsx")  # ends of the names of files that are tables


def is_point(value: Any) -> bool:
    """Return whether a value is one point: a mapping of names to values, or a Series."""
    return isinstance(value, Mapping) or is_series(value)


def is_series(value: Any) -> TypeGuard[pd.Series]:
    """Return whether a value is a pandas Series."""
    return is_instance(value, "pandas", "Series")


def is_frame(value: Any) -> TypeGuard[pd.DataFrame]:
    """Return whether a value is a pandas DataFrame."""
    return is_instance(value, "pandas", "DataFrame")


def point_of(space: Space, point: Point) -> Params:
    """A point as plain values in the space's order.

    Raises:
        SpaceError: If it is no point of the space.
    """
    return space.validate(in_the_names(space.names, point.to_dict() if is_series(point) else point))


def measured_point_of(space: Space, point: Point) -> Params:
    """A point at which something was measured, inside the space or not, as plain values in the space's order.

    Raises:
        SpaceError: If it cannot be modelled; see `robustbo.Space.measured_point`.
    """
    return space.measured_point(in_the_names(space.names, point.to_dict() if is_series(point) else point))


def point_where_measured(space: Space, target: Params, moved: Point) -> Params:
    """A point at which something was measured that was asked for elsewhere.

    Args:
        space: The space.
        target: The point that was asked for. Of what is not moved it has the values, as far as they exist at the point.
        moved: The values that differ, or all.

    Raises:
        SpaceError: As `measured_point_of`; also where a parameter that exists at this point alone has no value.

    Example:
        >>> from robustbo import Choice, Float
        >>> space = Space(base=Choice("none", "NaOH"), amount=Float(0, 1, when={"base": ["NaOH"]}))
        >>> point_where_measured(space, {"base": "NaOH", "amount": 0.5}, {"base": "none"})
        {'base': 'none'}
    """
    named = dict(space.parameters)
    own = in_the_names(space.names, dict(moved))
    values = {**target, **{name: measured_value(name, named[name], own[name]) for name in own if name in named}}
    present = space.existing(values)
    return space.measured_point({**{name: value for name, value in target.items() if name in present}, **own})


def points_of(space: Space, points: Points, *, ignore_extra: bool = True) -> list[Params]:
    """The points in a data frame's rows (a parameter's column has its name, or ``params.NAME``), or in a list.

    Raises:
        SpaceError: If a point is not in the space; the message names each.
    """
    if is_frame(points):
        rows = rows_of(space, as_numbers_of(space.names, points), (), ignore_extra)
        return convert_rows(rows, lambda row: point_of(space, row[0]))
    return convert_rows(list(enumerate(_point_list(points))), lambda row: point_of(space, row))


def check_constraints(space: Space, points: Sequence[Params]) -> None:
    """Raise a `SpaceError` that tells of each point that breaks a constraint."""

    def check(point: Params) -> None:
        if broken := space.broken(point):
            raise SpaceError(f"the point must keep {' and '.join(map(repr, broken))}, got {point}")

    convert_rows(list(enumerate(points)), check)


def warn_of_violations(space: Space, points: Iterable[Mapping[str, Any]]) -> None:
    """Warn where measured points are outside the space, in one warning; and of each that breaks constraints."""
    points, outside = [*points], dict[int, str]()
    for number, point in enumerate(points):
        if (why := space.why_outside(point)) is not None:
            outside[number] = why
    if outside:
        first = next(iter(outside))
        subject = f"{points[first]} is outside the space ({outside[first]})"
        further = len(outside) - 1
        more = f", and so {'is 1 other' if further == 1 else f'are {further} others'}" if further else ""
        warn(f"{subject}{more}; robustbo keeps it where it was measured, and does not ask for it", SpaceWarning)
    for point in points:
        if broken := space.broken(point):
            warn(
                f"{point} breaks {' and '.join(map(repr, broken))}; robustbo keeps it, because it was measured",
                SpaceWarning,
            )


def rows_of(
    space: Space, frame: pd.DataFrame, value_columns: Sequence[str], ignore_extra: bool
) -> list[tuple[Any, tuple[dict[str, Any], dict[str, Any]]]]:
    """Each row's label, its parameters, and the other columns in it."""
    if not frame.columns.is_unique:
        raise SpaceError(f"columns must differ, got {list(frame.columns)}")
    columns = parameter_columns(space, frame)
    if clash := [column for column in columns if column in value_columns]:
        raise SpaceError(f"{clash[0]}: is a parameter and a column of values; name the parameter's params.{clash[0]}")
    accepted = [name for name in frame.columns if name in columns or name in value_columns]
    if (extra := [name for name in frame.columns if name not in accepted]) and not ignore_extra:
        hint = nearest(extra[0], [column for column in columns if column not in accepted])
        labels = " (labels=True keeps them with the trials)" if value_columns else ""
        and_others = f" and {list(value_columns)}" if value_columns else ""
        raise SpaceError(
            f"columns must be the parameters {space.names}{and_others}, got {extra} too"
            f"{hint + ' rename it,' if hint else ';'} drop them, or pass ignore_extra=True{labels}"
        )
    if missing := [column for column in columns if column not in accepted]:
        columns_text = columns_and_hint(frame, missing[0], accepted)
        message = f"{missing[0]}: there must be a column for every parameter, got {columns_text}"
        rest = [name for name in frame.columns if isinstance(name, str) and name not in accepted]
        if with_unit := next((name for name in rest if parts(name)[0] == missing[0]), None):
            raise SpaceError(f"{message}; rename {with_unit!r} to {missing[0]!r}, if the units are the same")
        raise SpaceError(f"{message}; if it was the same in all rows, add it: frame.assign(**{{{missing[0]!r}: ...}})")
    records = frame[accepted].astype(object).to_dict("records")
    numeric = {name for name, parameter in space.parameters if parameter.interval is not None}
    for row in records:
        row |= {c: plain_number(row[c]) for c, name in columns.items() if name in numeric}
    rows = [
        (_existing(space, {columns[c]: row[c] for c in columns}), {c: row[c] for c in value_columns}) for row in records
    ]
    return list(zip(frame.index, rows, strict=True))


def columns_and_hint(frame: pd.DataFrame, missing: str | None, accepted: Sequence[str] = ()) -> str:
    """The columns there are, and which of those that are not known yet is probably the missing one."""
    names = [name for name in frame.columns if isinstance(name, str)]
    if len(names) == 1 and ";" in names[0]:
        return f"{names}; read such a file by read_csv(..., sep=';')"
    return f"{list(frame.columns)}{nearest(missing, [name for name in names if name not in accepted])}"


def _existing(space: Space, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters in a row, without the empty cells of parameters that do not exist there."""
    if not space.is_conditional:
        return params
    names = space.existing(params)
    return {name: value for name, value in params.items() if name in names or not is_missing(value)}


def parameter_columns(space: Space, frame: pd.DataFrame) -> dict[str, str]:
    """The parameter in each column, which has its name, or that with `params.` before it."""
    return {(long if (long := f"params.{name}") in frame.columns else name): name for name in space.names}


def _point_list(points: Any) -> list[Any]:
    """The points in an iterable, each a mapping or a Series; a TypeError where it is none, or has others."""
    if isinstance(points, str) or not isinstance(points, Iterable):
        raise TypeError(f"points must be a mapping, a pandas Series or DataFrame, or a list of such, got {points!r}")
    rows = list(points)
    if wrong := [row for row in rows if not is_point(row)]:
        raise TypeError(f"each point must be a mapping of parameters or a pandas Series, got {wrong[0]!r}")
    return rows


def convert_rows(rows: Sequence[tuple[Any, Any]], convert: Callable[[Any], Any]) -> list[Any]:
    """Each row converted; a `SpaceError` that tells of all rows that raise one."""
    results, errors = [], []
    for label, row in rows:
        try:
            results.append(convert(row))
        except (ValueError, TypeError) as error:
            errors.append(f"row {label}: {error}")
    if len(errors) == 1 == len(rows):
        raise SpaceError(errors[0].partition(": ")[2])
    if errors:
        more = f"\n... and {len(errors) - MAX_ROWS_SHOWN} more" if len(errors) > MAX_ROWS_SHOWN else ""
        lines = "\n".join(errors[:MAX_ROWS_SHOWN])
        raise SpaceError(f"{len(errors)} of {len(rows)} rows break a rule:\n{lines}{more}")
    return results


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty."""
    return value is None or value is value_in("pandas", "NA") or (isinstance(value, float) and math.isnan(value))
