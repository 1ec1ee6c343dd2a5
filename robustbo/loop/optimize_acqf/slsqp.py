"""A climb within the constraints of a region, by sequential quadratic programming."""

from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from robustbo.numerics.linalg.lapack import Array
from robustbo.searchspace.region.region import Region

Score = Callable[[Tensor], Tensor]  # n x d completed unit-cube rows -> n values
ScoreWithGradient = Callable[[Tensor], tuple[Tensor, Tensor]]  # likewise -> n values, and their n x d gradients

SQP_STEPS, SQP_ENOUGH = 30, 1e-4  # of a climb; nats that one would gain below which it ends: a step costs much here
BACK = (0.0, 1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0)  # shares of the way back to the start, at which it is in the region


def maximize_by_slsqp(
    score: Score, gradient: ScoreWithGradient, region: Region, row: Tensor, value: float
) -> tuple[Tensor, float]:
    """A row from a climb along all continuous parameters that keeps the constraints, and the score there.

    Args:
        score: What is climbed.
        gradient: The same with its gradient along continuous parameters.
        region: Whose constraints are kept.
        row: Where to begin, a row of the region.
        value: The score there.
    """
    if not region.continuous:
        return row, value
    shape, begin = region.shape, row.numpy()
    x = begin[region.continuous]

    def loss(x: Array) -> tuple[float, Array]:
        point = shape.place(begin, x)
        values, slopes = gradient(torch.from_numpy(point[None]))
        slope = np.nan_to_num(slopes[0].numpy(), posinf=0.0, neginf=0.0) @ shape.tangents(point)
        return -float(values[0].nan_to_num(0.0)), -slope

    constraint = {"type": "ineq", "fun": lambda x: shape.slack(shape.place(begin, x)[None])[0]}
    constraint["jac"] = lambda x: shape.slopes(shape.place(begin, x))
    optimum = minimize(
        loss,
        x,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(x),
        constraints=[constraint],
        options={"maxiter": SQP_STEPS, "ftol": SQP_ENOUGH},
    )
    end = np.clip(optimum.x, 0.0, 1.0)
    for share in BACK:
        candidate = region.canonical(torch.from_numpy(shape.place(begin, end + share * (x - end))[None]))
        if (
            candidate.isfinite().all()
            and region.holds(candidate)[0]
            and region.point(candidate[0].tolist()) is not None
        ):
            with torch.no_grad():
                reached = score(candidate)[0].item()
            return (candidate[0], reached) if reached > value else (row, value)
    return row, value
