"""Hartmann6 on the unit cube, maximized: six dimensions, optimum 3.32237, a second basin at 3.20316.

References:
    Dixon and Szegoe (1978); as in the experiments of the relevance pursuit paper, section 6.2.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem

ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
A = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
NAMES = [f"x{i}" for i in range(1, 7)]
OPTIMIZER = dict(zip(NAMES, (0.20168952, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730054), strict=True))


def values(X: np.ndarray) -> np.ndarray:
    """sum_i alpha_i exp(-sum_j A_ij (x_j - P_ij)^2) of ``... x 6`` inputs.

    Raises:
        ValueError: If there are not six inputs.
    """
    if X.shape[-1] != 6:
        raise ValueError(f"X must have 6 columns, got {X.shape[-1]}")
    return np.exp(-(A * (X[..., None, :] - P) ** 2).sum(-1)) @ ALPHA


def objective(params: Mapping[str, Any]) -> float:
    """The value at one point."""
    return float(values(np.array([params[name] for name in NAMES])))


hartmann6 = Problem(
    name="hartmann6",
    space=Space(**{name: Float(0.0, 1.0) for name in NAMES}),
    direction="maximize",
    objective=objective,
    optimum=3.32236801141551,
    optimizer=OPTIMIZER,
    cost_s=1e-5,
    reference="Dixon and Szegoe (1978)",
)
