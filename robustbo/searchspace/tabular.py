"""Points and measurements as people have them: a mapping, a pandas Series, rows of a data frame; all or nothing."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

import pandas as pd

from robustbo.errors import SpaceError, SpaceWarning, warn
from robustbo.searchspace.labels import has_other_unit, nearest_label, parts
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.space import Space
from robustbo.validation import nearest, noise_sd, real

Params = dict[str, Value]
Point: TypeAlias = Mapping[str, Any] | pd.Series
Points: TypeAlias = Mapping[str, Any] | pd.Series | pd.DataFrame | Iterable[Mapping[str, Any] | pd.Series]

STATE = "state"  # the column in which `Study.frame` says what became of a trial
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
    if isinstance(given, pd.DataFrame):
        return _checked(_rows(space, given, (), ignore_extra), lambda row: point_of(space, row[0]))
    return _checked(list(enumerate(_listed(given))), lambda row: point_of(space, row))


def check_constraints(space: Space, points: Sequence[Params]) -> None:
    """Raise a `SpaceError` that tells of each point that breaks a constraint."""

    def check(point: Params) -> None:
        if broken := space.broken(point):
            raise SpaceError(f"the point must keep {' and '.join(map(repr, broken))}, got {point}")

    _checked(list(enumerate(points)), check)


def warn_of_broken(space: Space, points: Iterable[Mapping[str, Any]]) -> None:
    """Say so where measured points break constraints."""
    for point in points:
        if broken := space.broken(point):
            warn(f"{point} breaks {' and '.join(map(repr, broken))}; it is kept, since it was measured", SpaceWarning)


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
    if not isinstance(frame, pd.DataFrame):
        advice = "; read the file by pd.read_csv(...)" if isinstance(frame, str | PathLike) else ""
        advice = advice or "; pd.DataFrame(...) makes one of rows or columns, tell takes a single value"
        raise TypeError(f"frame must be a pandas DataFrame, got {type(frame).__name__}{advice}")
    for name, column in (("value", value), ("sd", sd)):
        if not isinstance(column, str | None):
            raise TypeError(f"{name} must be the name of a column, got {column!r}; frame.assign(...) adds one")
    if outcomes and (sd is not None or value != "value"):
        told = f"value={value!r}" if sd is None else f"sd={sd!r}"
        raise SpaceError(f"columns of several outcomes must be named OUTCOME and OUTCOME.sd, got {told}; rename them")
    unnamed = None if "sd" in _columns(space, frame) else "sd"
    columns: dict[str, str | None] = {value: unnamed if sd is None else sd}
    if outcomes:
        columns = {name: f"{name}.sd" for name in outcomes}
    for column in columns:
        if column not in frame.columns:
            may = " (it may be empty)" if outcomes else ""
            advice = _renamed(space, frame, column, columns if outcomes else {})
            raise SpaceError(f"value: there must be a column {column!r} of measured values{may}, got {advice}")
    if sd is not None and not outcomes and sd not in frame.columns:
        raise SpaceError(f"sd: there must be a column {sd!r}, as it was named, got {_got(frame, sd)}")
    verdicts = {name: f"{name}.excluded" for name in outcomes if f"{name}.excluded" in frame.columns}
    measured = [name for pair in columns.items() for name in pair if name is not None and name in frame.columns]
    others = [*measured, *verdicts.values()]
    has_state = STATE in frame.columns and STATE not in _columns(space, frame)
    if has_state and not (frame[STATE] == "told").all():
        raise SpaceError(f"{STATE}: rows must be told values, got others too; pass frame[frame['{STATE}'] == 'told']")

    def measurement(row: tuple[Mapping[str, Any], Mapping[str, Any]]) -> tuple[Params, Any, Any] | None:
        params, rest = row
        point, known = point_of(space, params), {name: noise and rest.get(noise) for name, noise in columns.items()}
        sds = {name: None if _is_missing(each) else noise_sd(each) for name, each in known.items()}
        if outcomes:
            left_out = {name for name, column in verdicts.items() if rest[column] is True}
            there = [name for name in outcomes if not _is_missing(rest[name])]
            values = {name: _number(name, rest[name]) for name in there if name not in left_out}
            check({name: number for name, number in values.items() if math.isfinite(number)})
            return None if there and not values else (point, values, {name: sds[name] for name in values})
        number = _number(value, rest[value])
        if math.isfinite(number):
            check(number)
        return point, number, sds[value]

    found = _checked(_rows(space, frame, others, ignore_extra), measurement)
    return [row for row in found if row is not None]


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
        and_these = f" and {list(others)}" if others else ""
        raise SpaceError(
            f"columns must be the parameters {space.names}{and_these}, got {extra} too"
            f"{hint + ' rename it,' if hint else ';'} drop them, or pass ignore_extra=True"
        )
    if missing := [column for column in columns if column not in known]:
        what = f"{missing[0]}: there must be a column for every parameter, got {_got(frame, missing[0], known)}"
        raise SpaceError(f"{what}; if it was the same in all rows, add it: frame.assign(**{{{missing[0]!r}: ...}})")
    plain = frame[known].astype(object)
    cells = plain.to_dict("records")
    rows = [(_existing(space, {columns[c]: row[c] for c in columns}), {c: row[c] for c in others}) for row in cells]
    return list(zip(frame.index, rows, strict=True))


def _renamed(space: Space, frame: pd.DataFrame, wanted: str, outcomes: Mapping[str, Any]) -> str:
    """The columns that there are, and how to say which of them has the values; by their names alone of several."""
    taken = {*_columns(space, frame), *outcomes, "sd"}
    got, others = _got(frame, None), [name for name in frame.columns if isinstance(name, str) and name not in taken]
    if not others and wanted == "value":
        return f"{got}; add one, by frame.assign(value=...)"
    name = nearest_label(wanted, others)
    if name is None and wanted == "value":
        name = next((each for each in others if pd.api.types.is_numeric_dtype(frame[each])), others[0])
    if name is None:
        unit = parts(wanted)[1]
        is_other = [each for each in others if has_other_unit(each, unit)]
        return got + (f"; {is_other[0]!r} is in another unit than {unit}, convert it" if is_other else "")
    by_name = "" if outcomes else f", or say value={name!r} to tell_frame"
    return f"{got}; rename {name!r} to {wanted!r}, by frame.rename(columns={{{name!r}: {wanted!r}}}){by_name}"


def _got(frame: pd.DataFrame, wanted: str | None, taken: Sequence[str] = ()) -> str:
    """The columns that there are, with the one that was meant, which is none of those that are taken."""
    names = [name for name in frame.columns if isinstance(name, str)]
    if len(names) == 1 and ";" in names[0]:
        return f"{names}; read such a file by read_csv(..., sep=';')"
    return f"{list(frame.columns)}{nearest(wanted, [name for name in names if name not in taken])}"


def _number(name: str, cell: Any) -> float:
    """What a cell has, which must be a number."""
    if isinstance(cell, str):
        advice = "read a decimal comma by read_csv(..., decimal=',')" if "," in cell else "pd.to_numeric converts it"
        try:
            float(cell.replace(",", "."))
        except ValueError:
            advice = "leave the cell empty where there is no value"
        raise TypeError(f"{name} must be a real number, got the text {cell!r}; {advice}")
    return real(name, cell)


def _existing(space: Space, params: dict[str, Any]) -> dict[str, Any]:
    """A row without the empty cells of parameters that do not exist there."""
    if not space.is_conditional:
        return params
    there = space.existing(params)
    return {name: value for name, value in params.items() if name in there or not _is_missing(value)}


def _columns(space: Space, frame: pd.DataFrame) -> dict[str, str]:
    """Where each parameter is: in the column of its name, or that with `params.` before it."""
    return {(long if (long := f"params.{name}") in frame.columns else name): name for name in space.names}


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
    if len(errors) == 1 == len(rows):
        raise SpaceError(errors[0].partition(": ")[2])
    if errors:
        more = f"\n... and {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
        told = "\n".join(errors[:SHOWN])
        raise SpaceError(f"{len(errors)} of {len(rows)} rows break a rule:\n{told}{more}")
    return made


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))
