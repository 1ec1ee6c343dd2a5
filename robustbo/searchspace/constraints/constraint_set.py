"""All constraints of a space at many points at once: a matrix for linear ones, a batch of programs for the others.

Notation (m constraints, k parameters, n points):
    V   k x n    values of the parameters
    E   m x n    excesses, which must not exceed 0, or must be 0
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustbo.searchspace.constraints.at_most import AtMost
from robustbo.searchspace.constraints.batch import Array, ExpressionBatch
from robustbo.searchspace.constraints.constraint import TOLERANCE, Constraint, violation

Bools = NDArray[np.bool_]
MARGIN = 2.0  # times what rounding may do at most in a space, beyond which a constraint is broken without another look


class ConstraintSet:
    """Constraints that are evaluated together.

    Attributes:
        constraints: The constraints.
        names: The parameters in some, in the order of ``V``.

    Args:
        constraints: The constraints.
        intervals: The lowest and the highest value of each parameter in one.

    Example:
        >>> from robustbo.searchspace.constraints.constraint import parse
        >>> said = [c for text in ("x + y <= 1", "x * y >= 0.1") for c in parse(text, ["x", "y"])]
        >>> both = ConstraintSet(said, {"x": (0.0, 1.0), "y": (0.0, 1.0)})
        >>> both.keeps(np.array([[0.5, 0.7], [0.5, 0.1]])).tolist()
        [[True, True], [True, False]]
        >>> both.slopes(np.array([0.5, 0.25])).tolist()
        [[1.0, 1.0], [-0.25, -0.5]]
    """

    def __init__(
        self, constraints: Sequence[Constraint | AtMost], intervals: Mapping[str, tuple[float, float]]
    ) -> None:
        self.constraints = tuple(constraints)
        self.names = tuple(dict.fromkeys(name for constraint in constraints for name in constraint.names))
        column = {name: i for i, name in enumerate(self.names)}
        self._uses = np.zeros((len(constraints), len(self.names)))
        for i, constraint in enumerate(constraints):
            self._uses[i, [column[name] for name in constraint.names]] = 1.0
        forms = [constraint.excess.linear for constraint in constraints]
        self._groups = [(i, group) for i, group in enumerate(constraints) if isinstance(group, AtMost)]
        self._linear = np.array([i for i, form in enumerate(forms) if form is not None], dtype=np.intp)
        curved = [(i, c) for i, c in enumerate(constraints) if isinstance(c, Constraint) and c.excess.linear is None]
        self._curved = np.array([i for i, _ in curved], dtype=np.intp)
        self._A, self._b = np.zeros((len(self._linear), len(self.names))), np.zeros((len(self._linear), 1))
        for row, form in enumerate(form for form in forms if form is not None):
            self._b[row] = form.constant
            for name, coefficient in form.coefficients:
                self._A[row, column[name]] = coefficient
        self._batch = ExpressionBatch([constraint.excess.program for _, constraint in curved], self.names)
        self._is_equal = np.array([constraint.is_equality for constraint in constraints], dtype=bool)
        self._spans = {name: TOLERANCE * (high - low) for name, (low, high) in intervals.items()}
        most = np.array([0.0 if isinstance(c, AtMost) else c.excess.max_magnitude(intervals) for c in constraints])
        self._near = np.where(np.isfinite(most), MARGIN * TOLERANCE * most, np.inf)[:, None]

    def excess(self, V: Array) -> Array:
        """``m x n`` excesses; NaN where one is no finite number."""
        E = np.empty((len(self.constraints), V.shape[1]))
        if len(self._linear):
            E[self._linear] = self._linear_excess(V)
        if len(self._curved):
            E[self._curved] = self._batch.values(V)
        for i, group in self._groups:
            E[i] = self._num_on(group, V) - group.most
        return E

    def _num_on(self, group: AtMost, V: Array) -> Array:
        """``n`` numbers of parameters of a group that differ from what is off, by more than rounding."""
        at = [self.names.index(name) for name in group.names]
        within = np.array([[self._spans[name]] for name in group.names])
        return np.asarray((~(np.abs(V[at] - group.off) <= within)).sum(0), dtype=float)

    def _linear_excess(self, V: Array) -> Array:
        with np.errstate(all="ignore"):
            E = self._A @ V + self._b
        if np.isfinite(E).all():
            return E
        unknown = ~np.isfinite(V)  # which makes no number of other constraints' excess
        with np.errstate(all="ignore"):
            E = self._A @ np.where(unknown, 0.0, V) + self._b
        is_none = (self._uses[self._linear] @ unknown > 0) | ~np.isfinite(E)
        return np.where(is_none, np.nan, E)

    def slopes(self, v: Array) -> Array:
        """``m x k`` slopes of the excesses at one point; 0 where there is no finite one."""
        J = np.zeros((len(self.constraints), len(self.names)))
        J[self._linear] = self._A
        if len(self._curved):
            J[self._curved] = self._batch.slopes(v)
        return np.where(np.isfinite(J), J, 0.0)

    def lacks(self, exists: Bools) -> Bools:
        """``m x n``: which constraints have a parameter that does not exist, given which ``k x n`` do."""
        return self._uses @ ~exists > 0

    def keeps(self, V: Array, exists: Bools | None = None) -> Bools:
        """``m x n``: which constraints hold to rounding, as `Constraint.holds` has it.

        Args:
            V: The values.
            exists: Which parameters exist; all by default.
        """
        E = self.excess(V)
        beyond = violation(E, self._is_equal[:, None])
        keeps = beyond <= 0.0
        unsure = ~keeps & (beyond <= self._near)
        for i in np.flatnonzero(unsure.any(1)).tolist():
            at = np.flatnonzero(unsure[i])
            keeps[i, at] = self._arithmetic(i).holds({name: V[j, at] for j, name in enumerate(self.names)})
        return keeps if exists is None else keeps | self.lacks(exists)

    def _arithmetic(self, i: int) -> Constraint:
        constraint = self.constraints[i]
        assert isinstance(constraint, Constraint), constraint
        return constraint

    def keeps_at(self, points: Sequence[Mapping[str, Any]]) -> Bools:
        """``m x n``: which constraints hold at ``n`` points, each of which has the parameters that exist there."""
        shape = len(self.names), len(points)
        exists = np.array([[name in point for point in points] for name in self.names], dtype=bool).reshape(shape)
        rows = [[float(point.get(name, math.nan)) for point in points] for name in self.names]
        return self.keeps(np.array(rows).reshape(shape), exists)

    def violations(self, point: Mapping[str, Any]) -> list[str]:
        """The texts of the constraints that a point breaks, by more than rounding."""
        keeps = self.keeps_at([point])[:, 0].tolist()
        pairs = zip(self.constraints, keeps, strict=True)
        return list(dict.fromkeys(constraint.text for constraint, is_kept in pairs if not is_kept))
