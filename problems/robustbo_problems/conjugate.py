"""The four functions of the robust conjugate paper's Bayesian optimization, each divided so that it is about one wide.

Two inputs each, minimized; the paper maximizes the negative.

References:
    Altamirano, Briol and Knoblauch (2024), Robust and conjugate Gaussian process regression, and its code; formulas as
    in Surjanovic and Bingham's library of simulation experiments.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem
from robustbo_problems.synthetic import branin

BRANIN = (54.81, 51.95)  # what is subtracted, and what it is divided by then
ROSENBROCK = 3.755e5
MCCORMICK = 20.0


def _camel(x: float, y: float) -> float:
    """(4 - 2.1 x^2 + x^4 / 3) x^2 + x y + (4 y^2 - 4) y^2."""
    return (4 - 2.1 * x**2 + x**4 / 3) * x**2 + x * y + (4 * y**2 - 4) * y**2


def _branin(x: float, y: float) -> float:
    """(Branin's function - 54.81) / 51.95."""
    center, scale = BRANIN
    return (branin({"x1": x, "x2": y}) - center) / scale


def _rosenbrock(x: float, y: float) -> float:
    """(100 (y - x^2)^2 + (1 - x)^2) / 375,500."""
    return (100 * (y - x**2) ** 2 + (1 - x) ** 2) / ROSENBROCK


def _mccormick(x: float, y: float) -> float:
    """(sin(x + y) + (x - y)^2 - 1.5 x + 2.5 y + 1) / 20."""
    return (math.sin(x + y) + (x - y) ** 2 - 1.5 * x + 2.5 * y + 1) / MCCORMICK


def _of(
    name: str,
    function: Callable[[float, float], float],
    x1: tuple[float, float],
    x2: tuple[float, float],
    optimum: float,
    optimizer: tuple[float, float],
) -> Problem:
    return Problem(
        name=name,
        space=Space(x1=Float(*x1), x2=Float(*x2)),
        direction="minimize",
        objective=partial(_at, function),
        optimum=optimum,
        optimizer=dict(zip(("x1", "x2"), optimizer, strict=True)),
        cost_s=1e-5,
        reference="Altamirano, Briol and Knoblauch (2024)",
    )


def _at(function: Callable[[float, float], float], params: Mapping[str, Any]) -> float:
    return float(function(params["x1"], params["x2"]))


conjugate_camel = _of(
    "conjugate-camel",
    _camel,
    (-2.0, 2.0),
    (-1.0, 1.0),
    -1.0316284534898774,
    (0.08984201368301331, -0.7126564032704135),
)
conjugate_branin = _of(
    "conjugate-branin",
    _branin,
    (-5.0, 10.0),
    (0.0, 15.0),
    (0.39788735772973816 - BRANIN[0]) / BRANIN[1],
    (math.pi, 2.275),
)
conjugate_rosenbrock = _of("conjugate-rosenbrock", _rosenbrock, (-5.0, 10.0), (-5.0, 10.0), 0.0, (1.0, 1.0))
conjugate_mccormick = _of(
    "conjugate-mccormick",
    _mccormick,
    (-1.5, 4.0),
    (-3.0, 4.0),
    (-math.sqrt(3) / 2 - math.pi / 3) / MCCORMICK,
    (0.5 - math.pi / 3, -0.5 - math.pi / 3),
)
