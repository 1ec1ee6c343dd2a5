"""What may be asked for: the points of a space that keep its constraints, with some values fixed."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from robustbo.lazy import cached_property
from robustbo.searchspace.columns import cell, is_continuous, middle, presence
from robustbo.searchspace.conditions import absent
from robustbo.searchspace.constraints.equations import Dependent, solved
from robustbo.searchspace.listing import key_of
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.parameters.listed import key
from robustbo.searchspace.pool import Pool
from robustbo.searchspace.region.dependent import nearest_value
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
        """Whether not every row is a point of it."""
        return bool(self.fixed or self.space.constraints or self.space.is_pool)

    @cached_property
    def dependents(self) -> list[Dependent]:
        """The parameters that follow from others by equations."""
        known = {name: float(value) for name, value in self.fixed if isinstance(value, int | float)}
        equations = [each for each in self.space.constraints if each.is_equality]
        return solved(equations, dict(self.space.parameters), known)

    @cached_property
    def free(self) -> list[int]:
        """The columns of the parameters that can be chosen."""
        bound = {*dict(self.fixed), *(dependent.name for dependent in self.dependents)}
        bound |= absent(self.space.conditions, dict(self.fixed))
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
        """It as arrays, which `Shape` says more of."""
        return Shape(self.space, units_of(self.space, self.fixed), self.dependents, self.continuous)

    def complete(self, U: Tensor) -> Tensor:
        """``n x d`` rows with all that is not free filled in."""
        return torch.from_numpy(self.shape.complete(U.numpy())) if self.is_restricted else U

    def holds(self, U: Tensor) -> Tensor:
        """Which of ``n`` completed rows are points of it, to rounding."""
        return torch.from_numpy(self.shape.holds(U.numpy()))

    def keeping(self, U: Tensor, text: str) -> Tensor:
        """Which of ``n`` completed rows keep a constraint, to rounding."""
        is_it = [each.text == text for each in self.space.constraints]
        return torch.from_numpy(self.shape.keeps(U.numpy())[is_it].all(0))

    def canonical(self, U: Tensor) -> Tensor:
        """Rows in one form: values in the middle of their cells, and what does not exist at `ABSENT`."""
        there = presence(self.space, U)
        columns = [
            u if is_continuous(p) else middle(p, cell(p, u))
            for (_, p), u in zip(self.space.parameters, U.unbind(-1), strict=True)
        ]
        for name, holds in there.items():
            columns[self._columns[name]] = torch.where(holds, columns[self._columns[name]], ABSENT)
        return torch.stack(columns, -1)

    def point(self, row: Any) -> dict[str, Value] | None:
        """The point at d unit coordinates, with all that is not free filled in; None where it is none of it."""
        return self.points([row])[0]

    def points(self, rows: Sequence[Any]) -> list[dict[str, Value] | None]:
        """The point at each row, likewise."""
        points = [self._filled(row) for row in rows]
        there = [point for point in points if point is not None]
        if not self.space.constraints or not there:
            return points
        keeps = iter(torch.from_numpy(self.space.together.keeps_at(there)).all(0).tolist())
        return [point if point is not None and next(keeps) else None for point in points]

    def _filled(self, row: Any) -> dict[str, Value] | None:
        """The point at a row, whether it keeps the constraints or not; None where a value cannot follow."""
        if not self.is_restricted:
            return self.space.from_unit(row)
        values = {name: p.from_unit(float(u)) for (name, p), u in zip(self.space.parameters, row, strict=True)}
        values |= dict(self.fixed)
        named = dict(self.space.parameters)
        for name, constant, coefficients in self.dependents:
            x = constant + math.fsum(times * float(values[other]) for other, times in coefficients.items())  # type: ignore[arg-type]
            value = nearest_value(named[name], x)
            if value is None:
                return None
            values[name] = value
        if self.space.is_conditional:
            values = self.space.select_present(values)
        return values if self._has_fixed(values) else None

    def _has_fixed(self, params: Mapping[str, Any]) -> bool:
        return all(name in params and key(params[name]) == key(value) for name, value in self.fixed)

    def contains(self, params: Mapping[str, Any]) -> bool:
        """Whether a point of the space is one of it."""
        return self._has_fixed(params) and not self.space.broken(params)

    @cached_property
    def listed(self) -> list[dict[str, Value]] | None:
        """All its points, where they are not too many; None else."""
        if isinstance(self.space, Pool):
            return [self.space.point(i) for i in self._chosen]
        if not self.is_restricted and not self.space.is_conditional:
            return None
        levels = [self.space.parameters[i][1].levels for i in self.free]
        if any(each is None for each in levels) or math.prod(len(each or ()) for each in levels) > MOST_LISTED:
            return None
        grids = [torch.tensor(each, dtype=torch.float64) for each in levels]
        U = torch.full((math.prod(map(len, grids)), len(self.space)), ABSENT, dtype=torch.float64)
        if grids:
            U[:, self.free] = torch.cartesian_prod(*grids).reshape(len(U), len(grids))
        U = self.canonical(self.complete(U))
        rows = list(dict.fromkeys(map(tuple, U[self.holds(U)].tolist())))
        return [point for point in self.points(rows) if point is not None]

    @property
    def size(self) -> int | None:
        """How many points there are; None where they are infinitely many, or too many to count."""
        if self.listed is not None:
            return len(self.listed)
        return self.space.size if not self.is_restricted and not self.space.is_conditional else None

    @cached_property
    def rows(self) -> Tensor:
        """The unit-cube rows of those that are `listed`: ``n x d``."""
        if isinstance(self.space, Pool):
            return torch.from_numpy(self.space.unit)[self._chosen]
        rows = [self.space.to_unit(point) for point in self.listed or ()]
        return torch.tensor(rows, dtype=torch.float64).reshape(-1, len(self.space))

    @cached_property
    def _chosen(self) -> list[int]:
        """The rows of a pool that belong to it."""
        assert isinstance(self.space, Pool)
        chosen = list(range(self.space.size))
        if self.space.constraints:
            keeps = self.holds(torch.from_numpy(self.space.unit)).tolist()
            chosen = [i for i in chosen if keeps[i]]
        if self.fixed:
            columns = [(self._columns[name], key(value)) for name, value in self.fixed]
            rows = self.space.rows
            chosen = [i for i in chosen if all(key(rows[i][column]) == value for column, value in columns)]
        return chosen

    @cached_property
    def _numbers(self) -> dict[tuple[tuple[bool, Value], ...], int]:
        return {key_of(point.values()): i for i, point in enumerate(self.listed or ())}

    def number_of(self, params: Mapping[str, Any]) -> int | None:
        """Which of those that are `listed` a point is."""
        return self._numbers.get(key_of(params.values()))

    def at(self, index: int) -> dict[str, Value]:
        """Point number ``index`` of those that can be counted."""
        return self.space.point(index) if self.listed is None else self.listed[index]
