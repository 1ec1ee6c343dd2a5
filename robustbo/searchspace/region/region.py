"""The region that may be asked for: the points of a space that keep its constraints, with some values fixed."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from robustbo.lazy import cached_property
from robustbo.searchspace.columns import cell_middles, cell_numbers, existence, is_continuous
from robustbo.searchspace.conditions import absent_names
from robustbo.searchspace.constraints.constraint_set import Bools
from robustbo.searchspace.constraints.equations import Dependent, solve
from robustbo.searchspace.listing import key_of
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.parameters.listed import key
from robustbo.searchspace.pool import Pool
from robustbo.searchspace.region.dependent import complete
from robustbo.searchspace.region.shape import Shape, units_of
from robustbo.searchspace.space import ABSENT, Space

MOST_LISTED = 20_000  # points that are all looked at

Fixed = tuple[tuple[str, Value], ...]


@dataclass(frozen=True, eq=False)
class Region:
    """The points of a space that keep its constraints and have some values; made by `region_of`.

    Points are handled as unit-cube rows, many at once. Parameters that are fixed, or that follow from others by an
    equation, are filled in by `complete`; the others are free.

    Attributes:
        space: The space.
        fixed: Parameters that have a given value, and it.
    """

    space: Space
    fixed: Fixed = ()

    @property
    def is_restricted(self) -> bool:
        """Return whether some rows are no points of the region."""
        return bool(self.fixed or self.space.constraints or self.space.is_pool)

    @cached_property
    def dependents(self) -> list[Dependent]:
        """The parameters that follow from others by equations."""
        numbers = {name: float(value) for name, value in self.fixed if isinstance(value, int | float)}
        return solve(self.space.equations, dict(self.space.parameters), numbers)

    @cached_property
    def free(self) -> list[int]:
        """The columns of the parameters that can be chosen."""
        bound = {*dict(self.fixed), *(dependent.name for dependent in self.dependents)}
        bound |= absent_names(self.space.conditions, dict(self.fixed))
        return [i for i, (name, p) in enumerate(self.space.parameters) if name not in bound and p.count != 1]

    @cached_property
    def continuous(self) -> list[int]:
        """The free columns that are searched as if any number would do."""
        return [i for i in self.free if is_continuous(self.space.parameters[i][1])]

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {name: column for column, name in enumerate(self.space.names)}

    @cached_property
    def shape(self) -> Shape:
        """The region as arrays."""
        return Shape(self.space, units_of(self.space, self.fixed), self.dependents, self.continuous)

    def complete(self, U: Tensor) -> Tensor:
        """``n x d`` rows with all that is not free filled in."""
        return torch.from_numpy(self.shape.complete(U.numpy())) if self.is_restricted else U

    @property
    def is_boxed(self) -> bool:
        """Return whether nothing but bounds is in the way of a climb."""
        return not self.shape.num_slacks

    def can_move(self, U: Tensor) -> Bools:
        """Booleans by row, or for all rows at once, and column: which columns can change."""
        return np.ones((1, U.shape[1]), dtype=bool)

    def project(self, U: Tensor) -> Tensor:
        """Rows where no more parameters of a group are on than may be: here all may be."""
        return U

    def sobol_rows(self, seed: int, index: int, count: int) -> Tensor:
        """``count x d`` rows spread over the cube, to be completed; see `Space.sobol_rows`."""
        return torch.as_tensor(self.space.sobol_rows(seed, index, count))

    def face_at(self, row: Tensor) -> "Region":
        """The region itself; of one with groups that part of it where the same parameters are on as at a row."""
        return self

    def are_outside(self, U: Tensor) -> Tensor:
        """``n`` booleans: whether rows were measured beyond the bounds, or at values that lists have no more."""
        return ((U < 0) | (U > 1)).any(-1)

    def nearest(self, U: Tensor, is_moved: Tensor) -> Tensor:
        """The rows, of which some are moved to the nearest within the bounds."""
        if not is_moved.any():
            return U
        U = U.clone()
        U[is_moved] = torch.tensor([self._inside(row) for row in U[is_moved].tolist()], dtype=U.dtype)
        return U

    def _inside(self, row: Sequence[float]) -> list[float]:
        pairs = zip(self.space.parameters, row, strict=True)
        return [u if 0 <= u <= 1 else parameter.to_unit(parameter.from_unit(u)) for (_, parameter), u in pairs]

    def holds(self, U: Tensor) -> Tensor:
        """``n`` booleans: whether completed rows belong to the region, to rounding."""
        return torch.from_numpy(self.shape.holds(U.numpy()))

    def keeps_constraint(self, U: Tensor, text: str) -> Tensor:
        """``n`` booleans: whether completed rows keep a constraint, to rounding."""
        is_it = [constraint.text == text for constraint in self.space.constraints]
        return torch.from_numpy(self.shape.keeps(U.numpy())[is_it].all(0))

    def canonical(self, U: Tensor) -> Tensor:
        """Rows in one form: values in the middle of their cells, and what does not exist at `ABSENT`."""
        exists = existence(self.space, U)
        columns = [
            u if is_continuous(p) else cell_middles(p, cell_numbers(p, u))
            for (_, p), u in zip(self.space.parameters, U.unbind(-1), strict=True)
        ]
        for name, is_present in exists.items():
            columns[self._columns[name]] = torch.where(is_present, columns[self._columns[name]], ABSENT)
        return torch.stack(columns, -1)

    def point(self, row: Any) -> dict[str, Value] | None:
        """The point at d unit coordinates, with all that is not free filled in; None where it is outside the region."""
        return self.points([row])[0]

    def points(self, rows: Sequence[Any]) -> list[dict[str, Value] | None]:
        """The point at each row, as `point` gives it."""
        candidates = self._complete_points(rows)
        points = [point for point in candidates if point is not None]
        if not self.space.constraints or not points:
            return candidates
        keeps = iter(torch.from_numpy(self.space.constraint_set.keeps_at(points)).all(0).tolist())
        return [point if point is not None and next(keeps) else None for point in candidates]

    def _complete_points(self, rows: Sequence[Any]) -> list[dict[str, Value] | None]:
        return [self._complete_point(row) for row in rows]

    def _complete_point(self, row: Any) -> dict[str, Value] | None:
        """The point at a row, whether it keeps the constraints or not; None where a value cannot follow."""
        if not self.is_restricted:
            return self.space.from_unit(row)
        values = {name: p.from_unit(float(u)) for (name, p), u in zip(self.space.parameters, row, strict=True)}
        values |= dict(self.fixed)
        values, _, is_whole = complete(values, self.dependents, dict(self.space.parameters))
        if not is_whole:
            return None
        if self.space.is_conditional:
            values = self.space.select_present(values)
        return values if self._has_fixed(values) else None

    def _has_fixed(self, params: Mapping[str, Any]) -> bool:
        return all(name in params and key(params[name]) == key(value) for name, value in self.fixed)

    def contains(self, params: Mapping[str, Any]) -> bool:
        """Return whether a point, of the space or measured outside it, belongs to the region."""
        return self._has_fixed(params) and self.space.allows(params)

    @cached_property
    def all_points(self) -> list[dict[str, Value]] | None:
        """All points, where they are not too many; None otherwise."""
        if isinstance(self.space, Pool):
            return [self.space.point(i) for i in self._pool_rows]
        if not self.is_restricted and not self.space.is_conditional:
            return None
        levels = [self.space.parameters[i][1].levels for i in self.free]
        if any(grid is None for grid in levels) or math.prod(len(grid or ()) for grid in levels) > MOST_LISTED:
            return None
        grids = [torch.tensor(grid, dtype=torch.float64) for grid in levels]
        U = torch.full((math.prod(map(len, grids)), len(self.space)), ABSENT, dtype=torch.float64)
        if grids:
            U[:, self.free] = torch.cartesian_prod(*grids).reshape(len(U), len(grids))
        U = self.canonical(self.complete(U))
        rows = list(dict.fromkeys(map(tuple, U[self.holds(U)].tolist())))
        return [point for point in self.points(rows) if point is not None]

    @property
    def size(self) -> int | None:
        """Number of points; None where they are infinitely many, or too many to count."""
        if self.all_points is not None:
            return len(self.all_points)
        return self.space.size if not self.is_restricted and not self.space.is_conditional else None

    @cached_property
    def rows(self) -> Tensor:
        """``n x d`` unit-cube rows of `all_points`."""
        if isinstance(self.space, Pool):
            return torch.from_numpy(self.space.unit)[self._pool_rows]
        rows = [self.space.to_unit(point) for point in self.all_points or ()]
        return torch.tensor(rows, dtype=torch.float64).reshape(-1, len(self.space))

    @cached_property
    def _pool_rows(self) -> list[int]:
        """The indices of a pool's rows that belong to the region."""
        assert isinstance(self.space, Pool)
        indices = list(range(self.space.size))
        if self.space.constraints:
            keeps = self.holds(torch.from_numpy(self.space.unit)).tolist()
            indices = [i for i in indices if keeps[i]]
        if self.fixed:
            columns = [(self._columns[name], key(value)) for name, value in self.fixed]
            rows = self.space.rows
            indices = [i for i in indices if all(key(rows[i][column]) == value for column, value in columns)]
        return indices

    @cached_property
    def _numbers(self) -> dict[tuple[tuple[bool, Value], ...], int]:
        return {key_of(point.values()): i for i, point in enumerate(self.all_points or ())}

    def number_of(self, params: Mapping[str, Any]) -> int | None:
        """The index of a point in `all_points`; None where it is none of them."""
        return self._numbers.get(key_of(params.values()))

    def at(self, index: int) -> dict[str, Value]:
        """Point number ``index`` of a finite region."""
        return self.space.point(index) if self.all_points is None else self.all_points[index]
