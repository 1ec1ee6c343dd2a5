"""A mixture of four components that add up to one, maximized: a synthetic response with three local optima.

It is a Scheffé polynomial: linear terms, products of two, and products of three, with the cubic terms
c x_i x_j (x_i - x_j) of the full form, and a term of all four. At least a twentieth must be resin and a tenth hardener.
The best there is holds all four components; a blend of resin and hardener alone is nearly as good, and there is a third
optimum of hardener and solvent.

References:
    Scheffé (1958), Experiments with mixtures; the coefficients are ours.
"""

from collections.abc import Mapping
from typing import Any

from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem

NAMES = ("resin", "hardener", "filler", "solvent")
ALONE = (2.0, 3.0, 1.0, 2.5)
OF_TWO = {(0, 1): 9.0, (0, 2): 6.0, (0, 3): -4.0, (1, 2): 3.0, (1, 3): 7.0, (2, 3): 5.0}
SKEW = {(0, 1): -8.0, (0, 2): 6.0, (1, 3): 4.0, (2, 3): -10.0}
OF_THREE = {(0, 1, 2): -60.0, (0, 1, 3): -60.0, (0, 2, 3): -30.0, (1, 2, 3): -60.0}
OF_FOUR = 1400.0


def response(params: Mapping[str, Any]) -> float:
    """The value at a point."""
    x = [float(params[name]) for name in NAMES]
    value = sum(b * share for b, share in zip(ALONE, x, strict=True))
    value += sum(b * x[i] * x[j] for (i, j), b in OF_TWO.items())
    value += sum(b * x[i] * x[j] * (x[i] - x[j]) for (i, j), b in SKEW.items())
    value += sum(b * x[i] * x[j] * x[k] for (i, j, k), b in OF_THREE.items())
    return value + OF_FOUR * x[0] * x[1] * x[2] * x[3]


mixture = Problem(
    name="mixture",
    space=Space(
        **{name: Float(0, 1) for name in NAMES},
        constraints=[f"{' + '.join(NAMES)} == 1", "resin >= 0.05", "hardener >= 0.1"],
    ),
    direction="maximize",
    objective=response,
    optimum=5.981889609171026,
    optimizer=dict(zip(NAMES, (0.24295573193, 0.28357110244, 0.22769910006, 0.24577406557), strict=True)),
    cost_s=1e-5,
    reference="synthetic",
)
