"""A pool: a space whose points are listed, such as the wells of a plate, a catalogue, or a table of measured points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from robustbo.errors import SpaceError
from robustbo.guidance import explain_misfits
from robustbo.lazy import cached_property
from robustbo.searchspace.listing import (
    Row,
    check_cells,
    check_different,
    check_kinds,
    columns_of,
    digest_of,
    key_of,
    may_be,
    names_of_rows,
    parameters_and_rows,
    plain_rows,
    unit_coordinates,
)
from robustbo.searchspace.parameters import Parameter, Value
from robustbo.searchspace.parameters.listed import Listed
from robustbo.searchspace.parameters.reading import pop_constraints
from robustbo.searchspace.space import Space
from robustbo.searchspace.tabular import is_frame
from robustbo.searchspace.units import as_numbers
from robustbo.validation import plain_scalar

if TYPE_CHECKING:
    import pandas as pd


@explain_misfits("__init__")
@dataclass(frozen=True, init=False, eq=False, repr=False)
class Pool(Space):
    """A space of listed points, the rows of a data frame; each is asked for once, and again if its value is in doubt.

    A column of numbers is a number to the surrogate, and a column of words (or booleans) a choice. To change that, pass
    a parameter of the column's name: ``Pool(frame, dose=rb.Float(1e-3, 10, log=True))``. Numbers with one unit, such as
    "0.1 mL", are numbers, and the column "dose" becomes "dose (mL)". A column of numbers and words is refused.

    Args:
        frame: One row for each point and one column for each parameter; no cell may be missing, and rows must differ.
            Words in the index name the rows: values measured there get the label `name`.
        parameters: Parameters for columns whose values do not show their type.
        constraints: As in a `Space`; rows that break one are never asked for.

    Raises:
        SpaceError: If a cell is missing, two rows are the same, or a column is of no use; the message names the rows.

    Example:
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"acid": ["HCl", "HNO3", "HCl"], "pH": [2.0, 3.0, 4.5]})
        >>> pool = Pool(frame)
        >>> len(pool.rows), pool.names, pool.point(2)
        (3, ['acid', 'pH'], {'acid': 'HCl', 'pH': 4.5})
    """

    rows: tuple[Row, ...]
    declared: tuple[str, ...]  # the columns whose parameters the caller gave
    row_names: tuple[str, ...] = ()  # by the index of the data frame, where that has a word for each row

    def __init__(self, frame: pd.DataFrame, /, **parameters: Parameter | Sequence[Any]) -> None:
        texts = pop_constraints(parameters)
        if not is_frame(frame):
            raise TypeError(f"a pool is made from a pandas DataFrame, got {type(frame).__name__}")
        names = list(frame.columns)
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise SpaceError(f"the columns of a pool must have different names (str), got {names}")
        frame = as_numbers(frame, [name for name, parameter in parameters.items() if isinstance(parameter, Listed)])
        names = list(frame.columns)
        if unknown := [name for name in parameters if name not in names]:
            raise SpaceError(f"{unknown[0]}: is no column of the pool, which has {names}")
        rows = plain_rows(frame)
        index = list(frame.index)
        check_cells(names, rows, index)
        self._fill(names, rows, dict(parameters), texts, index, names_of_rows(index))

    def _fill(
        self,
        names: Sequence[str],
        rows: Sequence[Row],
        declared: Mapping[str, Any],
        texts: Any,
        labels: Sequence[Any],
        row_names: Sequence[str] = (),
    ) -> None:
        if not rows:
            raise SpaceError("a pool needs at least one row, got none")
        parameters, rows = parameters_and_rows(names, rows, declared, labels)
        check_different(names, rows, labels)
        object.__setattr__(self, "rows", tuple(rows))
        object.__setattr__(self, "declared", tuple(name for name in names if name in declared))
        object.__setattr__(self, "row_names", tuple(row_names))
        self._set(parameters, texts)
        if self.is_conditional:
            raise SpaceError(f"{next(iter(self.conditions))}.when: every row of a pool has all parameters")

    @property
    def is_pool(self) -> bool:
        """True: the points are listed one by one."""
        return True

    @cached_property
    def digest(self) -> str:
        """A digest of names and rows, which differs where pools do."""
        return digest_of(self.names, self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pool) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.parameters, self.constraints, self.declared, self.digest

    def __repr__(self) -> str:
        return f"Pool({len(self.rows)} rows of {', '.join(self.names)})"

    def to_pool(self) -> dict[str, Any]:
        """The rows as plain JSON values, beside `to_dict`."""
        rows = {"given": list(self.declared), "rows": [list(row) for row in self.rows]}
        return rows | ({"names": list(self.row_names)} if self.row_names else {})

    @classmethod
    def from_pool(cls, parameters: Mapping[str, Any], pool: Mapping[str, Any], texts: Sequence[str] = ()) -> Pool:
        """The pool of what `to_dict`, `to_pool` and `texts` give."""
        named = dict(Space.from_dict(parameters).parameters)
        instance, rows = cls.__new__(cls), [tuple(row) for row in pool["rows"]]
        declared = {name: named[name] for name in pool["given"]}
        instance._fill(list(named), rows, declared, texts, range(len(rows)), pool.get("names", ()))
        return instance

    def extended(self, rows: Sequence[Row]) -> Pool:
        """The pool with more rows."""
        return self._with([tuple(row) for row in rows], range(len(self.rows), len(self.rows) + len(rows)))

    def _with(self, rows: Sequence[Row], labels: Sequence[Any]) -> Pool:
        """The pool with more rows, which errors call by their labels.

        Raises:
            SpaceError: If a row is there already.
        """
        if not rows:
            return self
        pool, named = Pool.__new__(Pool), dict(self.parameters)
        labels = [*(f"{i} of the pool" for i in range(len(self.rows))), *labels]
        declared = {name: named[name] for name in self.declared}
        pool._fill(self.names, [*self.rows, *rows], declared, self.texts, labels, self.row_names)
        return pool

    def rows_of(self, frame: pd.DataFrame) -> list[Row]:
        """The rows of a data frame that can be added.

        Raises:
            SpaceError: If it has other columns, cells are missing, or a row is there already.
        """
        words = [name for name, parameter in self.parameters if isinstance(parameter, Listed)]
        if not is_frame(frame) or set((frame := as_numbers(frame, words)).columns) != set(self.names):
            raise SpaceError(f"rows must be a data frame with the columns {self.names}, got {columns_of(frame)}")
        rows = plain_rows(frame[self.names])
        check_cells(self.names, rows, list(frame.index))
        check_kinds(self.parameters, self.declared, rows, list(frame.index))
        return list(self._with(rows, list(frame.index)).rows[len(self.rows) :])

    def validate(self, params: Mapping[str, Any]) -> dict[str, Value]:
        """The row of the pool with these values.

        Raises:
            SpaceError: If there is none.
        """
        if set(params) != set(self.names):
            super().validate(params)  # raises
        row = tuple(plain_scalar(params[name]) for name in self.names)
        index = self._at.get(key_of(row))
        if index is None:
            raise SpaceError(f"{dict(zip(self.names, row, strict=True))} is no row of the pool; add it by add_rows")
        return self.point(index)

    def measured_point(self, params: Mapping[str, Any]) -> dict[str, Value]:
        """The row of the pool with these values; or the point beside the rows at which something was measured.

        Raises:
            SpaceError: If a value is none of its parameter, wherever it was measured.
        """
        if set(params) == set(self.names) and self.has(tuple(plain_scalar(params[name]) for name in self.names)):
            return self.validate(params)
        return super().measured_point(params)

    def is_as_written(self, params: Mapping[str, Any]) -> bool:
        """Return whether a point is written as a row of this pool, or one that may be added."""
        return list(params) == self.names and self.may_have(list(params.values()))

    def is_as_measured(self, params: Mapping[str, Any]) -> bool:
        """Return whether a point is written as a row, of this pool or added later, or as one measured beside them."""
        return self.is_as_written(params) or super().is_as_measured(params)

    def may_have(self, row: Sequence[Any]) -> bool:
        """Return whether a row, of this pool or added later, can have these values: numbers where it has numbers."""
        return len(row) == len(self) and all(map(partial(may_be, self.declared), self.parameters, row))

    @cached_property
    def _at(self) -> dict[Any, int]:
        return {key_of(row): i for i, row in enumerate(self.rows)}

    def has(self, row: Row) -> bool:
        """Return whether the pool has a row."""
        return key_of(row) in self._at

    def name_of(self, params: Mapping[str, Any]) -> str | None:
        """The name of the row with these values; None where it has none, or there is no such row."""
        at = self._at.get(key_of(tuple(params.get(name) for name in self.names)))
        return None if at is None or at >= len(self.row_names) else self.row_names[at]

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def point(self, index: int) -> dict[str, Value]:
        """The row of that number."""
        if not 0 <= index < len(self.rows):
            raise ValueError(f"index must lie below the {len(self.rows)} rows of the pool, got {index}")
        return dict(zip(self.names, self.rows[index], strict=True))

    @cached_property
    def unit(self) -> np.ndarray:
        """The unit coordinates of each row."""
        return unit_coordinates(self.parameters, self.rows)
