"""A region as arrays, many rows at once: completed rows, constraints kept or not, and slopes.

Notation (n rows, d parameters, c of them searched, k in constraints, m slacks):
    U   n x d    unit-cube rows
    V   k x n    values of parameters
    T   d x c    slopes of a completed row along what is searched
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from robustbo.lazy import cached_property
from robustbo.searchspace.columns import existence, value_slopes, values_at
from robustbo.searchspace.constraints.batch import Array
from robustbo.searchspace.constraints.constraint import Constraint
from robustbo.searchspace.constraints.constraint_set import Bools
from robustbo.searchspace.constraints.equations import Dependent
from robustbo.searchspace.parameters import Float, Parameter, Value
from robustbo.searchspace.parameters.scale import Scale
from robustbo.searchspace.region.dependent import ROUNDING, coordinates, steepness
from robustbo.searchspace.space import Space

TYPICAL = 128  # Sobol points from which the size of an excess is seen


class ParameterColumns:
    """Some parameters' values at unit-cube rows."""

    def __init__(self, space: Space, names: Sequence[str]) -> None:
        named, column = dict(space.parameters), {name: i for i, name in enumerate(space.names)}
        self.at = np.array([column[name] for name in names], dtype=np.intp)
        self._others: dict[int, Parameter] = {}
        low, span = np.zeros(len(names)), np.zeros(len(names))
        for i, parameter in enumerate(named[name] for name in names):
            if isinstance(parameter, Float) and parameter.count is None and not parameter.log:
                low[i], span[i] = parameter.scale.low, parameter.scale.span
            else:
                self._others[i] = parameter
        self._scale = Scale(low[:, None], span[:, None])

    def values(self, U: Array) -> Array:
        """``k x n`` values at ``n x d`` rows; NaN at NaN."""
        V: Array = self._scale.value(U.T[self.at])
        for i, parameter in self._others.items():
            V[i] = values_at(parameter, torch.from_numpy(U[:, self.at[i]])).numpy()
        return V

    def slopes(self, u: Array) -> Array:
        """``k`` slopes at a row, each along the coordinate of its parameter."""
        slopes: Array = self._scale.span[:, 0].copy()
        for i, parameter in self._others.items():
            slopes[i] = value_slopes(parameter, torch.tensor(u[self.at[i]])).item()
        return slopes


class Shape:
    """The fixed values, equations and inequalities of a region, applied to rows.

    Attributes:
        num_slacks: How many numbers must be at least 0.

    Args:
        space: Whose constraints are kept.
        fixed: Unit coordinates by column.
        dependents: The parameters that follow from others.
        searched: The columns along which slopes are wanted.
    """

    def __init__(
        self, space: Space, fixed: Mapping[int, float], dependents: Sequence[Dependent], searched: Sequence[int]
    ) -> None:
        self._space, self._constraints = space, space.constraint_set
        self._fixed, self._units = np.array([*fixed], dtype=np.intp), np.array([*fixed.values()])
        self._searched = np.array(searched, dtype=np.intp)
        self._columns = ParameterColumns(space, self._constraints.names)
        self._following = ParameterColumns(space, [dependent.name for dependent in dependents]).at
        self._parameters = [space.parameters[i][1] for i in self._following]
        names = list(dict.fromkeys(name for dependent in dependents for name in dependent.coefficients))
        self._others = ParameterColumns(space, names)
        self._constants = np.array([[dependent.constant] for dependent in dependents])
        self._times = np.array([[dependent.coefficients.get(name, 0.0) for name in names] for dependent in dependents])
        self._unequal = np.flatnonzero(
            [isinstance(c, Constraint) and not c.is_equality for c in self._constraints.constraints]
        )
        self.num_slacks = 2 * len(dependents) + len(self._unequal)

    def complete(self, U: Array) -> Array:
        """The rows with what is fixed and what follows filled in; NaN where nothing can follow."""
        U = U.copy()
        U[:, self._fixed] = self._units
        if len(self._following):
            for column, parameter, x in zip(self._following, self._parameters, self._sums(U), strict=True):
                U[:, column] = coordinates(parameter, torch.from_numpy(x)).numpy()
        return U

    def place(self, u: Array, x: Array) -> Array:
        """A completed row with ``c`` other coordinates along what is searched."""
        u = u.copy()
        u[self._searched] = x
        return self.complete(u[None])[0]

    def _sums(self, U: Array) -> Array:
        """Values that follow, whether the parameters have them or not."""
        return np.asarray(self._constants + self._times @ self._others.values(U))

    def tangents(self, u: Array) -> Array:
        """``d x c`` slopes of a completed row along what is searched."""
        T = np.zeros((len(u), len(self._searched)))
        T[self._searched, np.arange(len(self._searched))] = 1.0
        if len(self._following):
            along = (self._times * self._others.slopes(u)) @ T[self._others.at]
            by = [steepness(p, float(x)) for p, (x,) in zip(self._parameters, self._sums(u[None]), strict=True)]
            T[self._following] = np.array(by)[:, None] * along
        return T

    def slack(self, U: Array) -> Array:
        """``n x m`` numbers that are at least 0 where completed rows keep inequalities and bounds."""
        V, follows = self._columns.values(U), U[:, self._following]
        slack = -self._constraints.excess(V)[self._unequal] / self._scales
        if (lacks := self._lacks(U)) is not None:
            slack[lacks] = 1.0
        slacks = np.concatenate([follows, 1 - follows, slack.T], -1)
        return np.where(np.isfinite(slacks), slacks, -1.0)

    def slopes(self, u: Array) -> Array:
        """``m x c`` slopes of the slacks of a completed row along what is searched."""
        T = self.tangents(u)
        along = self._columns.slopes(u)[:, None] * T[self._columns.at]
        v = self._columns.values(u[None])[:, 0]
        slopes = -self._constraints.slopes(v)[self._unequal] @ along / self._scales
        if (lacks := self._lacks(u[None])) is not None:
            slopes[lacks[:, 0]] = 0.0
        follows = T[self._following]
        slopes = np.concatenate([follows, -follows, slopes])
        return np.where(np.isfinite(slopes), slopes, 0.0)

    def _lacks(self, U: Array) -> Bools | None:
        """``m x n`` booleans: whether inequalities lack a parameter at rows; None where all parameters always exist."""
        exists = self._exist(U)
        return None if exists is None else self._constraints.lacks(exists)[self._unequal]

    @cached_property
    def _scales(self) -> Array:
        """``m x 1``, a typical size of each inequality's excess."""
        U = self._space.sobol_rows(0, 0, TYPICAL)
        sizes = torch.from_numpy(np.abs(self._constraints.excess(self._columns.values(U))[self._unequal]))
        typical = [size[size.isfinite()].median().item() if size.isfinite().any() else 1.0 for size in sizes]
        return np.array([[size or 1.0] for size in typical]).reshape(-1, 1)

    def holds(self, U: Array) -> Bools:
        """``n`` booleans: whether completed rows belong to the region, to rounding."""
        follows = U[:, self._following]
        is_in = ((follows >= -ROUNDING) & (follows <= 1 + ROUNDING)).all(-1)
        return np.asarray(is_in & self.keeps(U).all(0))

    def keeps(self, U: Array) -> Bools:
        """``m x n`` booleans: whether each constraint is kept at completed rows, to rounding."""
        return self._constraints.keeps(self._columns.values(U), self._exist(U))

    def _exist(self, U: Array) -> Bools | None:
        """``k x n`` booleans: whether parameters in constraints exist at rows; None where all always do."""
        if not self._space.is_conditional:
            return None
        by_name = existence(self._space, torch.from_numpy(U))
        exists = np.ones((len(self._constraints.names), len(U)), dtype=bool)
        for i, name in enumerate(self._constraints.names):
            if name in by_name:
                exists[i] = by_name[name].numpy()
        return exists


def units_of(space: Space, fixed: Sequence[tuple[str, Value]]) -> dict[int, float]:
    """The unit coordinates of values, by column."""
    columns = {name: i for i, name in enumerate(space.names)}
    return {columns[name]: space.parameters[columns[name]][1].to_unit(value) for name, value in fixed}
