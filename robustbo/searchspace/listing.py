"""Rows of a data frame as listed points, and the parameters that their columns make."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robustbo.errors import SpaceError, SpaceWarning, warn
from robustbo.lazy import value_in
from robustbo.searchspace.parameters import Choice, Float, Int, Parameter, Value
from robustbo.searchspace.point_check import admits
from robustbo.searchspace.tabular import is_frame
from robustbo.validation import plain_scalar

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 5  # rows that an error tells of
FEW_WORDS = 5  # of a column in which every row has its own: more are names
MOST_WORDS = 100  # different words in a column: of more a model learns nothing

Row = tuple[Value, ...]


def plain_rows(frame: pd.DataFrame) -> list[Row]:
    """The rows of a data frame as plain Python values."""
    columns = [[plain_scalar(value) for value in frame[name].tolist()] for name in frame.columns]
    return list(zip(*columns, strict=True))


def names_of_rows(index: Sequence[Any]) -> tuple[str, ...]:
    """The names of rows, where an index has a different word for each; else none."""
    are_names = all(isinstance(name, str) and name.strip() for name in index) and len(set(index)) == len(index)
    return tuple(index) if are_names else ()


def unit_coordinates(parameters: Sequence[tuple[str, Parameter]], rows: Sequence[Row]) -> np.ndarray:
    """The unit coordinates of each row."""
    coordinates = []
    for (_, parameter), column in zip(parameters, zip(*rows, strict=True), strict=True):
        keys = key_of(column)
        units = {key: parameter.to_unit(key[1]) for key in dict.fromkeys(keys)}
        coordinates.append([units[key] for key in keys])
    return np.array(coordinates).T


def check_cells(names: Sequence[str], rows: Sequence[Row], labels: Sequence[Any]) -> None:
    """Raise a `SpaceError` that names the rows if cells are missing, or no values of a parameter."""
    na, nat = (value_in("pandas", name) for name in ("NA", "NaT"))
    for name, column in zip(names, zip(*rows, strict=True), strict=True) if rows else ():
        missing = [labels[i] for i, v in enumerate(column) if v is None or v is na or v is nat or v != v]
        if missing:
            raise SpaceError(
                f"{name}: every cell of a pool must have a value, and one is missing in {_labels(missing)}"
            )
        if wrong := [(labels[i], v) for i, v in enumerate(column) if not isinstance(v, str | bool | int | float)]:
            raise SpaceError(f"{name}: cells are numbers, words or booleans, got {wrong[0][1]!r} in row {wrong[0][0]}")


def check_different(names: Sequence[str], rows: Sequence[Row], labels: Sequence[Any]) -> None:
    """Raise a `SpaceError` that names the rows if two are the same."""
    first: dict[Any, int] = {}
    for i, row in enumerate(rows):
        if (j := first.setdefault(key_of(row), i)) != i:
            point = dict(zip(names, row, strict=True))
            raise SpaceError(
                f"the rows of a pool must differ, row {labels[j]} and row {labels[i]} are both {point}; leave one out "
                "(frame.drop_duplicates() does this)"
            )


def key_of(row: Iterable[Value]) -> tuple[tuple[bool, Value], ...]:
    """A row, hashable, and True told from 1."""
    return tuple((isinstance(value, bool), value) for value in row)


def _labels(labels: Sequence[Any]) -> str:
    more = f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else ""
    return f"row{'s' if len(labels) > 1 else ''} {', '.join(map(str, labels[:SHOWN]))}{more}"


def parameter_of(name: str, column: Sequence[Value]) -> Parameter:
    """The parameter that a column's values make."""
    kinds = {type(value) for value in column}
    if kinds <= {int, float}:
        try:
            numbers = [float(v) for v in column]  # type: ignore[arg-type]
        except OverflowError:
            raise SpaceError(f"{name}: must have numbers that a float can hold, of at most 308 digits") from None
        if changed := [v for v, number in zip(column, numbers, strict=True) if v != number]:
            advice = "leave the column out or make it the index where it is a name, or pass a Choice"
            raise SpaceError(f"{name}: must have numbers that a float can hold, got {changed[0]}; {advice}")
        is_whole = all(isinstance(v, int) for v in column) and max(map(abs, numbers)) < 2**45
        try:
            return Int(int(min(numbers)), int(max(numbers))) if is_whole else Float(min(numbers), max(numbers))
        except SpaceError as error:
            raise SpaceError(f"{name}: {str(error).partition(': ')[2]}") from None
    different = list(dict.fromkeys(key_of(column)))
    if len(different) > MOST_WORDS:
        raise SpaceError(
            f"{name}: a column of words has at most {MOST_WORDS} different ones, got {len(different)}: a surrogate "
            "learns nothing from names; leave the column out, or make it the index"
        )
    if len(different) == len(column) > FEW_WORDS:
        text = f"{name}: differs in every row of the pool, and the surrogate takes it for a choice"
        warn(f"{text}; if it is a name, leave the column out or make it the index", SpaceWarning)
    return Choice(*(value for _, value in different))


def validate_column(parameter: Any, name: str, column: Sequence[Value], labels: Sequence[Any]) -> list[Value]:
    """A column's values as a parameter's."""
    values = []
    for i, value in enumerate(column):
        try:
            values.append(parameter.validate(name, value))
        except SpaceError as error:
            raise SpaceError(f"row {labels[i]}: {error}") from None
    return values


def as_floats(parameter: Parameter, column: Sequence[Any]) -> Sequence[Value]:
    """A column's values, which the parameter was made of: as floats where it is a real one."""
    return list(map(float, column)) if isinstance(parameter, Float) else column


def digest_of(names: Sequence[str], rows: Sequence[Row]) -> str:
    """A digest of names and rows, which differs where pools do."""
    return hashlib.sha256(json.dumps([names, rows], allow_nan=False).encode()).hexdigest()


def columns_of(frame: Any) -> Any:
    """The columns of a data frame, or the type of what is none, for messages."""
    return list(frame.columns) if is_frame(frame) else type(frame).__name__


def parameters_and_rows(
    names: Sequence[str], rows: Sequence[Row], declared: Mapping[str, Any], labels: Sequence[Any]
) -> tuple[dict[str, Parameter], list[Row]]:
    """The parameter of each column, as it is declared or as its values say, and the rows with values of these."""
    columns = list(zip(*rows, strict=True))
    parameters = {n: declared.get(n) or parameter_of(n, column) for n, column in zip(names, columns, strict=True)}
    plain = [
        validate_column(parameters[n], n, column, labels) if n in declared else as_floats(parameters[n], column)
        for n, column in zip(names, columns, strict=True)
    ]
    return parameters, list(zip(*plain, strict=True))


def check_kinds(
    parameters: Sequence[tuple[str, Parameter]], declared: Collection[str], rows: Sequence[Row], labels: Sequence[Any]
) -> None:
    """Raise a `SpaceError` that names the row where a value is of another kind than its undeclared column."""
    for label, row in zip(labels, rows, strict=True):
        for (name, parameter), value in zip(parameters, row, strict=True):
            if name not in declared and not may_be(declared, (name, parameter), value):
                raise SpaceError(f"row {label}: {name}: must be a number, as {parameter!r} is, got {value!r}")


def may_be(declared: Collection[str], named: tuple[str, Parameter], value: Any) -> bool:
    """Return whether a row, of a pool or added later, can have a value: a number where the column has numbers."""
    name, parameter = named
    if name not in declared:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return value is not None if isinstance(parameter, Choice) else is_number
    return admits(parameter, value)
