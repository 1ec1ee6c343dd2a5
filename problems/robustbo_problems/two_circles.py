"""Two circles in which a point must lie, minimized: sin(x) + y where sin(x) sin(y) <= -0.95, x and y in [0, 6].

Gardner and others' second simulation. Constraints here know no sine. Near (3 pi / 2, pi / 2) and (pi / 2, 3 pi / 2),
the two minima of its left side, that is less the product of the cosines of the two distances, so that to second order a
point keeps it within a circle of radius sqrt(0.1) around either; the circles take 1.7 % of the square. In one of them
the product of the two circles' equations is not positive, which is the constraint here, a polynomial of degree four.

The best there is lies at the lowest point of the lower circle, (3 pi / 2, pi / 2 - sqrt(0.1)): -1 + pi / 2 - sqrt(0.1).

References:
    Gardner, Kusner, Xu, Weinberger and Cunningham (2014), Bayesian optimization with inequality constraints, section 4.
"""

import math
from collections.abc import Mapping
from typing import Any

from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem

SQUARED_RADIUS = 0.1
LOW, HIGH = math.pi / 2, 3 * math.pi / 2  # of the circles' centers


def _circle(x: float, y: float) -> str:
    return f"((x - {x}) ** 2 + (y - {y}) ** 2 - {SQUARED_RADIUS})"


def height(params: Mapping[str, Any]) -> float:
    """sin(x) + y."""
    return math.sin(params["x"]) + float(params["y"])


two_circles = Problem(
    name="two-circles",
    space=Space(x=Float(0, 6), y=Float(0, 6), constraints=[f"{_circle(HIGH, LOW)} * {_circle(LOW, HIGH)} <= 0"]),
    direction="minimize",
    objective=height,
    optimum=-1 + LOW - math.sqrt(SQUARED_RADIUS),
    optimizer={"x": HIGH, "y": LOW - math.sqrt(SQUARED_RADIUS)},
    cost_s=1e-6,
    reference="Gardner et al. (2014), simulation 2, its constraint to second order",
)
