"""Small synthetic problems for comparisons of one's own: Branin, Ackley and Levy, minimized.

References:
    Dixon and Szegoe (1978); Ackley (1987); Levy and Montalvo (1985); formulas as in Surjanovic and Bingham's library of
    simulation experiments.
"""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem
from robustbo.validation import whole_number


def _branin(params: Mapping[str, Any]) -> float:
    """(x2 - 5.1 x1^2 / (4 pi^2) + 5 x1 / pi - 6)^2 + 10 (1 - 1 / (8 pi)) cos x1 + 10."""
    x1, x2 = params["x1"], params["x2"]
    valley = x2 - 5.1 * x1**2 / (4 * math.pi**2) + 5 * x1 / math.pi - 6
    return float(valley**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x1) + 10)


branin = Problem(
    name="branin",
    space=Space(x1=Float(-5.0, 10.0), x2=Float(0.0, 15.0)),
    direction="minimize",
    objective=_branin,
    optimum=0.39788735772973816,
    optimizer={"x1": math.pi, "x2": 2.275},
    cost_s=1e-5,
    reference="Dixon and Szegoe (1978)",
)


def ackley(d: int = 5) -> Problem:
    """Ackley's function of d inputs in [-32.768, 32.768]: a funnel full of small basins.

    Raises:
        ValueError: If d is less than 1.
    """
    return _of_many("ackley", d, 32.768, _ackley, 0.0, "Ackley (1987)")


def levy(d: int = 5) -> Problem:
    """Levy's function of d inputs in [-10, 10]: a valley with waves across.

    Raises:
        ValueError: If d is less than 1.
    """
    return _of_many("levy", d, 10.0, _levy, 1.0, "Levy and Montalvo (1985)")


def _ackley(x: np.ndarray) -> float:
    """-20 exp(-0.2 sqrt(mean x^2)) - exp(mean cos 2 pi x) + 20 + e."""
    funnel, basins = math.exp(-0.2 * math.sqrt(np.mean(x**2))), math.exp(np.mean(np.cos(2 * math.pi * x)))
    return 20 * (1 - funnel) + math.e - basins


def _levy(x: np.ndarray) -> float:
    """sin^2 pi w_1 + sum (w_i - 1)^2 (1 + 10 sin^2(pi w_i + 1)) + (w_d - 1)^2 (1 + sin^2 2 pi w_d), w = (x + 3) / 4."""
    w = 1 + (x - 1) / 4
    along = (w[:-1] - 1) ** 2 * (1 + 10 * np.sin(math.pi * w[:-1] + 1) ** 2)
    last = (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2)
    return float(math.sin(math.pi * w[0]) ** 2 + along.sum() + last)


def _of_many(name: str, d: int, reach: float, function: Any, best: float, reference: str) -> Problem:
    names = [f"x{i}" for i in range(1, whole_number("d", d, 1) + 1)]
    return Problem(
        name=name,
        space=Space(**{input_name: Float(-reach, reach) for input_name in names}),
        direction="minimize",
        objective=partial(_at, function, names),
        optimum=0.0,
        optimizer=dict.fromkeys(names, best),
        cost_s=1e-5,
        reference=reference,
    )


def _at(function: Any, names: list[str], params: Mapping[str, Any]) -> float:
    return float(function(np.array([params[name] for name in names])))
