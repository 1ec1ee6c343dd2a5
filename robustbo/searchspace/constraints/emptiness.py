"""Proofs that no point keeps all constraints: by the bounds of each alone, and by a sum of linear ones.

If some multiple y_i >= 0 of every linear excess adds up to a form that exceeds 0 in the whole box, then no point of the
box has all of them at most 0 (Farkas' lemma). The multipliers are a linear program's; the sum and its least value in
the box are then calculated here, so that nothing rests on a solver's tolerances. Every proof leaves room for the
rounding that `Constraint.holds` allows: a space that has a point to rounding is never called empty.

References:
    Chinneck, Feasibility and Infeasibility in Optimization (2008), section 6.2 (the deletion filter).
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robustbo.lazy import Module
from robustbo.searchspace.constraints.at_most import AtMost
from robustbo.searchspace.constraints.constraint import TOLERANCE, Constraint

if TYPE_CHECKING:
    from scipy import optimize
else:
    optimize = Module("scipy.optimize")

SLACK = 2 * TOLERANCE  # twice what a point is allowed, for the rounding of the proof itself
TINY, HUGE = 1e-290, 1e290  # magnitudes beyond these do not occur, and would overflow
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}  # the least that HiGHS takes

Box = Mapping[str, tuple[float, float]]


class Row(NamedTuple):
    """A linear form that must not exceed 0 by more than ``slack``."""

    text: str
    coefficients: dict[str, float]
    constant: float
    slack: float


def proof_of_emptiness(constraints: Sequence[Constraint | AtMost], intervals: Box) -> tuple[str, ...] | None:
    """The texts of constraints that cannot all hold within the intervals; None where that is not proved.

    One that cannot hold by itself comes first. Of linear ones that cannot hold together, none could be left out.

    Args:
        constraints: Those with a parameter that is not among the intervals are left aside.
        intervals: The least and the largest value of parameters.

    Example:
        >>> from robustbo.searchspace.constraints.constraint import parse
        >>> said = [c for text in ("x + y <= 1", "x >= 0.7", "y >= 0.6") for c in parse(text, ["x", "y"])]
        >>> proof_of_emptiness(said, {"x": (0.0, 1.0), "y": (0.0, 1.0)})
        ('x + y <= 1', 'x >= 0.7', 'y >= 0.6')
        >>> proof_of_emptiness(said[:2], {"x": (0.0, 1.0), "y": (0.0, 1.0)}) is None
        True
    """
    within = [constraint for constraint in constraints if intervals.keys() >= set(constraint.names)]
    groups = [constraint for constraint in within if isinstance(constraint, AtMost)]
    bounded = [constraint for constraint in within if not isinstance(constraint, AtMost)]
    for group in groups:
        if group.excess.bounds(intervals)[0] > 0:
            return (group.text,)
    for constraint in bounded:
        if _is_out_of_reach(constraint, intervals):
            return (constraint.text,)
    texts = list(dict.fromkeys(constraint.text for constraint in bounded))
    rows = [row for constraint in bounded for row in _rows(constraint, intervals)]
    for row in rows:
        for group in groups:
            if _is_out_of_reach_of(row, group, intervals):
                return row.text, group.text
    if not _cannot_hold(rows, intervals):
        return None
    for text in texts[:]:
        fewer = [other for other in texts if other != text]
        if _cannot_hold([row for row in rows if row.text in fewer], intervals):
            texts = fewer
    return tuple(texts)


def _is_out_of_reach(constraint: Constraint, box: Box) -> bool:
    low, high = constraint.excess.bounds(box)
    slack = SLACK * constraint.excess.max_magnitude(box)
    return low > slack or (constraint.is_equality and high < -slack)


def _is_out_of_reach_of(row: Row, group: AtMost, box: Box) -> bool:
    """Return whether a linear form is above 0 wherever no more of a group than may be differ from what is off."""
    least, gains = [row.constant], list[float]()
    for name, c in row.coefficients.items():
        low, high = box[name]
        lowest = min(c * low, c * high)
        can_be_off = name in group.names and low <= group.off <= high
        least.append(c * group.off if can_be_off else lowest)
        gains += [c * group.off - lowest] * can_be_off
    always = sum(not box[name][0] <= group.off <= box[name][1] for name in group.names)
    return math.fsum(least) - math.fsum(sorted(gains)[::-1][: group.most - always]) > row.slack


def _rows(constraint: Constraint, box: Box) -> list[Row]:
    """A linear constraint as rows: one, or two for an equality; none where it is not linear, or without bounds."""
    form = constraint.excess.linear
    slack = SLACK * constraint.excess.max_magnitude(box)
    if form is None or not TINY < slack < HUGE:
        return []
    signs = (1.0, -1.0) if constraint.is_equality else (1.0,)
    coefficients = dict(form.coefficients)
    return [
        Row(constraint.text, {name: sign * c for name, c in coefficients.items()}, sign * form.constant, slack)
        for sign in signs
    ]


def _cannot_hold(rows: Sequence[Row], box: Box) -> bool:
    """Return whether a sum of multiples of the rows exceeds what their slacks allow in the whole box."""
    if not rows:
        return False
    multipliers = _multipliers(rows, box)
    total: dict[str, list[float]] = {}
    for row, y in zip(rows, multipliers, strict=True):
        for name, coefficient in row.coefficients.items():
            total.setdefault(name, []).append(y * coefficient)
    least = math.fsum(y * row.constant for row, y in zip(rows, multipliers, strict=True))
    for name, terms in total.items():
        c = math.fsum(terms)
        least += min(c * box[name][0], c * box[name][1])
    return least > math.fsum(y * row.slack for row, y in zip(rows, multipliers, strict=True))


def _multipliers(rows: Sequence[Row], box: Box) -> list[float]:
    """The multiple of each row in the sum that is furthest above 0: the duals of the smallest excess over all rows.

    Every row is divided by its slack, and the box is the unit cube.
    """
    names = list(dict.fromkeys(name for row in rows for name in row.coefficients))
    A = np.zeros((len(rows), len(names) + 1))
    b = np.zeros(len(rows))
    for i, row in enumerate(rows):
        scale = row.slack / SLACK
        for name, coefficient in row.coefficients.items():
            A[i, names.index(name)] = coefficient * (box[name][1] - box[name][0]) / scale
        b[i] = -(row.constant + math.fsum(c * box[name][0] for name, c in row.coefficients.items())) / scale
    A[:, -1] = -1.0  # the excess, which is to be as small as can be
    cost = np.append(np.zeros(len(names)), 1.0)
    bounds = [(0.0, 1.0)] * len(names) + [(0.0, None)]
    solution = optimize.linprog(cost, A_ub=A, b_ub=b, bounds=bounds, method="highs", options=EXACT)
    if solution.status != 0:
        return [0.0] * len(rows)
    return [max(-float(y), 0.0) / row.slack * SLACK for y, row in zip(solution.ineqlin.marginals, rows, strict=True)]
