"""Branin, minimized: two dimensions, three global minima of 0.397887.

References:
    Dixon and Szegoe (1978).
"""

import math
from collections.abc import Mapping
from typing import Any

from robustbo.parameters import Float
from robustbo.problem import Problem
from robustbo.space import Space


def objective(params: Mapping[str, Any]) -> float:
    """(x2 - 5.1 x1^2 / (4 pi^2) + 5 x1 / pi - 6)^2 + 10 (1 - 1 / (8 pi)) cos x1 + 10."""
    x1, x2 = params["x1"], params["x2"]
    valley = x2 - 5.1 * x1**2 / (4 * math.pi**2) + 5 * x1 / math.pi - 6
    return float(valley**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x1) + 10)


branin = Problem(
    name="branin",
    space=Space(x1=Float(-5.0, 10.0), x2=Float(0.0, 15.0)),
    direction="minimize",
    objective=objective,
    optimum=0.39788735772973816,
    optimizer={"x1": math.pi, "x2": 2.275},
)
