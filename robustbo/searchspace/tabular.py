"""Points and measurements as people have them: a mapping, a pandas Series, rows of a data frame; all or nothing."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from robustbo.errors import SpaceError, SpaceWarning, warn
from robustbo.searchspace.labels import has_other_unit, nearest_label, parts
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.space import Space
from robustbo.validation import nearest, noise_sd, real

Params = dict[str, Value]
Point: TypeAlias = Mapping[str, Any] | pd.Series
Points: TypeAlias = Mapping[str, Any] | pd.Series | pd.DataFrame | Iterable[Mapping[str, Any] | pd.Series]

STATE = "state"  # the column of `Study.frame` with the state of each trial
MAX_ROWS_SHOWN = 20  # in an error


def is_point(value: Any) -> bool:
    """Return whether a value is one point: a mapping of names to values, or a Series."""
    return isinstance(value, Mapping | pd.Series)


def point_of(space: Space, point: Point) -> Params:
    """A point as plain values in the space's order.

    Raises:
        SpaceError: If it is no point of the space.
    """
    return space.validate(point.to_dict() if isinstance(point, pd.Series) else point)


def points_of(space: Space, points: Points, *, ignore_extra: bool = True) -> list[Params]:
    """The points in a data frame's rows (a parameter's column has its name, or ``params.NAME``), or in a list.

    Raises:
        SpaceError: If any is no point of the space; the message tells of each.
    """
    if isinstance(points, pd.DataFrame):
        return _convert_rows(_rows(space, points, (), ignore_extra), lambda row: point_of(space, row[0]))
    return _convert_rows(list(enumerate(_point_list(points))), lambda row: point_of(space, row))


def check_constraints(space: Space, points: Sequence[Params]) -> None:
    """Raise a `SpaceError` that tells of each point that breaks a constraint."""

    def check(point: Params) -> None:
        if broken := space.broken(point):
            raise SpaceError(f"the point must keep {' and '.join(map(repr, broken))}, got {point}")

    _convert_rows(list(enumerate(points)), check)


def warn_of_broken(space: Space, points: Iterable[Mapping[str, Any]]) -> None:
    """Warn where measured points break constraints."""
    for point in points:
        if broken := space.broken(point):
            warn(f"{point} breaks {' and '.join(map(repr, broken))}; it is kept, since it was measured", SpaceWarning)


class MeasuredColumns(NamedTuple):
    """The columns of a data frame that hold measurements.

    Attributes:
        noise: By the column of values, that of their noise sd; None where there can be none.
        excluded: By outcome, the column that says which of its values are excluded; empty for a single value.
    """

    noise: dict[str, str | None]
    excluded: dict[str, str]

    def noise_sds(self, cells: Mapping[str, Any]) -> dict[str, Any]:
        """The noise sd beside each value in a row, checked; None where there is none."""
        sds = {name: column and cells.get(column) for name, column in self.noise.items()}
        return {name: None if _is_missing(sd) else noise_sd(sd) for name, sd in sds.items()}

    def outcome_values(self, cells: Mapping[str, Any]) -> dict[str, float] | None:
        """The outcomes' values in a row, without empty cells and excluded ones; None where all are excluded."""
        measured = [name for name in self.noise if not _is_missing(cells[name])]
        excluded = {name for name, column in self.excluded.items() if cells[column] is True}
        values = {name: _number(name, cells[name]) for name in measured if name not in excluded}
        return values if values or not measured else None


def measurements_of(
    space: Space,
    frame: pd.DataFrame,
    *,
    value: str,
    sd: str | None,
    ignore_extra: bool,
    outcomes: Sequence[str] = (),
    check: Callable[[Any], None] = lambda _: None,
) -> list[tuple[Params, Any, Any]]:
    """The point, value and noise sd (None where there is none, or NaN) in each row of a data frame.

    A column ``sd`` must be there where it is given; unless given it is "sd", if there is one that is no parameter's.
    Of several ``outcomes`` value and sd are dicts, from columns OUTCOME and OUTCOME.sd, without the empty cells, and
    without what is excluded by a column OUTCOME.excluded; rows of which that leaves nothing are passed over. A value
    of which ``check`` raises an error breaks a rule.

    Raises:
        SpaceError: If a column is missing or not known, or any row breaks a rule; the message tells of each.
    """
    _check_arguments(frame, value, sd, outcomes)
    columns = _measured_columns(space, frame, value, sd, outcomes)
    cells = [name for pair in columns.noise.items() for name in pair if name is not None and name in frame.columns]
    has_state = STATE in frame.columns and STATE not in _columns(space, frame)
    if has_state and not (frame[STATE] == "told").all():
        raise SpaceError(f"{STATE}: rows must be told values, got others too; pass frame[frame['{STATE}'] == 'told']")

    def measurement(row: tuple[dict[str, Any], dict[str, Any]]) -> tuple[Params, Any, Any] | None:
        point, sds = point_of(space, row[0]), columns.noise_sds(row[1])
        if outcomes:
            values = columns.outcome_values(row[1])
            check({name: number for name, number in (values or {}).items() if math.isfinite(number)})
            return None if values is None else (point, values, {name: sds[name] for name in values})
        number = _number(value, row[1][value])
        if math.isfinite(number):
            check(number)
        return point, number, sds[value]

    rows = _rows(space, frame, [*cells, *columns.excluded.values()], ignore_extra)
    return [row for row in _convert_rows(rows, measurement) if row is not None]


def _check_arguments(frame: Any, value: Any, sd: Any, outcomes: Sequence[str]) -> None:
    """Raise an error where there is no data frame, or names of columns are none, or not of several outcomes."""
    if not isinstance(frame, pd.DataFrame):
        advice = "; read the file by pd.read_csv(...)" if isinstance(frame, str | PathLike) else ""
        advice = advice or "; pd.DataFrame(...) makes one of rows or columns, tell takes a single value"
        raise TypeError(f"frame must be a pandas DataFrame, got {type(frame).__name__}{advice}")
    for name, column in (("value", value), ("sd", sd)):
        if not isinstance(column, str | None):
            raise TypeError(f"{name} must be the name of a column, got {column!r}; frame.assign(...) adds one")
    if outcomes and (sd is not None or value != "value"):
        argument = f"value={value!r}" if sd is None else f"sd={sd!r}"
        raise SpaceError(f"columns of several outcomes must be named OUTCOME and OUTCOME.sd, got {argument}; rename them")


def _measured_columns(
    space: Space, frame: pd.DataFrame, value: str, sd: str | None, outcomes: Sequence[str]
) -> MeasuredColumns:
    """The columns that are to hold measurements; a `SpaceError` if one of them is missing."""
    default = None if "sd" in _columns(space, frame) else "sd"
    noise: dict[str, str | None] = {value: default if sd is None else sd}
    if outcomes:
        noise = {name: f"{name}.sd" for name in outcomes}
    for column in noise:
        if column not in frame.columns:
            may = " (it may be empty)" if outcomes else ""
            advice = _rename_advice(space, frame, column, noise if outcomes else {})
            raise SpaceError(f"value: there must be a column {column!r} of measured values{may}, got {advice}")
    if sd is not None and not outcomes and sd not in frame.columns:
        raise SpaceError(f"sd: there must be a column {sd!r}, as it was named, got {_columns_and_hint(frame, sd)}")
    excluded = {name: f"{name}.excluded" for name in outcomes if f"{name}.excluded" in frame.columns}
    return MeasuredColumns(noise, excluded)


def _rows(
    space: Space, frame: pd.DataFrame, others: Sequence[str], ignore_extra: bool
) -> list[tuple[Any, tuple[dict[str, Any], dict[str, Any]]]]:
    """Each row's label, its parameters, and the other columns in it."""
    if not frame.columns.is_unique:
        raise SpaceError(f"columns must differ, got {list(frame.columns)}")
    columns = _columns(space, frame)
    if clash := [column for column in columns if column in others]:
        raise SpaceError(f"{clash[0]}: is a parameter and a column of values; name the parameter's params.{clash[0]}")
    known = [name for name in frame.columns if name in columns or name in others]
    if (extra := [name for name in frame.columns if name not in known]) and not ignore_extra:
        hint = nearest(extra[0], [column for column in columns if column not in known])
        and_others = f" and {list(others)}" if others else ""
        raise SpaceError(
            f"columns must be the parameters {space.names}{and_others}, got {extra} too"
            f"{hint + ' rename it,' if hint else ';'} drop them, or pass ignore_extra=True"
        )
    if missing := [column for column in columns if column not in known]:
        there = _columns_and_hint(frame, missing[0], known)
        message = f"{missing[0]}: there must be a column for every parameter, got {there}"
        raise SpaceError(f"{message}; if it was the same in all rows, add it: frame.assign(**{{{missing[0]!r}: ...}})")
    records = frame[known].astype(object).to_dict("records")
    rows = [(_existing(space, {columns[c]: row[c] for c in columns}), {c: row[c] for c in others}) for row in records]
    return list(zip(frame.index, rows, strict=True))


def _rename_advice(space: Space, frame: pd.DataFrame, missing: str, outcomes: Mapping[str, Any]) -> str:
    """The columns there are, and how to say which of them has the values; by their names alone of several outcomes."""
    known = {*_columns(space, frame), *outcomes, "sd"}
    columns = _columns_and_hint(frame, None)
    others = [name for name in frame.columns if isinstance(name, str) and name not in known]
    if not others and missing == "value":
        return f"{columns}; add one, by frame.assign(value=...)"
    name = nearest_label(missing, others)
    if name is None and missing == "value":
        name = next((other for other in others if pd.api.types.is_numeric_dtype(frame[other])), others[0])
    if name is None:
        unit = parts(missing)[1]
        in_other_unit = [other for other in others if has_other_unit(other, unit)]
        advice = f"; {in_other_unit[0]!r} is in another unit than {unit}, convert it" if in_other_unit else ""
        return columns + advice
    by_name = "" if outcomes else f", or say value={name!r} to tell_frame"
    return f"{columns}; rename {name!r} to {missing!r}, by frame.rename(columns={{{name!r}: {missing!r}}}){by_name}"


def _columns_and_hint(frame: pd.DataFrame, missing: str | None, known: Sequence[str] = ()) -> str:
    """The columns there are, and which of those that are not known yet is probably the missing one."""
    names = [name for name in frame.columns if isinstance(name, str)]
    if len(names) == 1 and ";" in names[0]:
        return f"{names}; read such a file by read_csv(..., sep=';')"
    return f"{list(frame.columns)}{nearest(missing, [name for name in names if name not in known])}"


def _number(name: str, cell: Any) -> float:
    """The number in a cell; a TypeError with advice where it has none."""
    if isinstance(cell, str):
        advice = "read a decimal comma by read_csv(..., decimal=',')" if "," in cell else "pd.to_numeric converts it"
        try:
            float(cell.replace(",", "."))
        except ValueError:
            advice = "leave the cell empty where there is no value"
        raise TypeError(f"{name} must be a real number, got the text {cell!r}; {advice}")
    return real(name, cell)


def _existing(space: Space, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters in a row, without the empty cells of parameters that do not exist there."""
    if not space.is_conditional:
        return params
    names = space.existing(params)
    return {name: value for name, value in params.items() if name in names or not _is_missing(value)}


def _columns(space: Space, frame: pd.DataFrame) -> dict[str, str]:
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


def _convert_rows(rows: Sequence[tuple[Any, Any]], convert: Callable[[Any], Any]) -> list[Any]:
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


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))
