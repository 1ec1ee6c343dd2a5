"""Designing a speed reducer, minimized: its weight, seven sizes of which the number of teeth is whole, 11 constraints.

All constraints are known beforehand: they say what stress and deflection shafts and teeth may have, and what fits.
0.2 % of the points keep them. The bounds are BoTorch's, whose second shaft is at least 7.8 long (elsewhere 7.3, with
2994.47 as the best). The best there is lies where both shafts' stresses are at their limits.

References:
    Golinski (1970), Optimal synthesis problems solved by means of nonlinear programming and random methods; as in
    Lemonge and others (2010), A genetic algorithm hybridized with an artificial immune system, and BoTorch.
"""

from collections.abc import Mapping
from typing import Any

from robustbo.searchspace.parameters import Float, Int
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem

CONSTRAINTS = [
    "27 / (face * module ** 2 * teeth) <= 1",
    "397.5 / (face * module ** 2 * teeth ** 2) <= 1",
    "1.93 * length1 ** 3 / (module * teeth * shaft1 ** 4) <= 1",
    "1.93 * length2 ** 3 / (module * teeth * shaft2 ** 4) <= 1",
    "((745 * length1 / (module * teeth)) ** 2 + 16.9e6) ** 0.5 / (110 * shaft1 ** 3) <= 1",
    "((745 * length2 / (module * teeth)) ** 2 + 157.5e6) ** 0.5 / (85 * shaft2 ** 3) <= 1",
    "module * teeth <= 40",
    "5 * module <= face",
    "face <= 12 * module",
    "1.5 * shaft1 + 1.9 <= length1",
    "1.1 * shaft2 + 1.9 <= length2",
]
SHAFT1 = (((745 * 7.3 / 11.9) ** 2 + 16.9e6) ** 0.5 / 110) ** (1 / 3)
SHAFT2 = (((745 * 7.8 / 11.9) ** 2 + 157.5e6) ** 0.5 / 85) ** (1 / 3)


def weight(params: Mapping[str, Any]) -> float:
    """The weight of a design."""
    b, m, z = (float(params[name]) for name in ("face", "module", "teeth"))
    l1, l2, d1, d2 = (float(params[name]) for name in ("length1", "length2", "shaft1", "shaft2"))
    gears = 0.7854 * b * m**2 * (3.3333 * z**2 + 14.9334 * z - 43.0934)
    return gears - 1.508 * b * (d1**2 + d2**2) + 7.4777 * (d1**3 + d2**3) + 0.7854 * (l1 * d1**2 + l2 * d2**2)


speed_reducer = Problem(
    name="speed-reducer",
    space=Space(
        face=Float(2.6, 3.6),
        module=Float(0.7, 0.8),
        teeth=Int(17, 28),
        length1=Float(7.3, 8.3),
        length2=Float(7.8, 8.3),
        shaft1=Float(2.9, 3.9),
        shaft2=Float(5.0, 5.5),
        constraints=CONSTRAINTS,
    ),
    direction="minimize",
    objective=weight,
    optimum=2996.3481649685295,
    optimizer={
        "face": 3.5,
        "module": 0.7,
        "teeth": 17,
        "length1": 7.3,
        "length2": 7.8,
        "shaft1": SHAFT1,
        "shaft2": SHAFT2,
    },
    cost_s=1e-5,
    reference="Golinski (1970), as BoTorch's SpeedReducer",
)
