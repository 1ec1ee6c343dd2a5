"""A climb within the constraints of a region, by sequential quadratic programming."""

from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from robustbo.searchspace.region.region import Region

Score = Callable[[Tensor], Tensor]  # n x d completed unit-cube rows -> n values, which can be differentiated

SQP_STEPS, SQP_ENOUGH = 30, 1e-4  # of a climb; nats that one would gain below which it ends: a step costs much here
BACK = (0.0, 1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0)  # shares of the way back to the start, at which it is in the region


def within_constraints(score: Score, region: Region, row: Tensor, value: float) -> tuple[Tensor, float]:
    """A row from a climb along all continuous parameters that keeps the constraints, and the score there.

    Args:
        score: What is climbed.
        region: Whose constraints are kept.
        row: Where to begin, a row of the region.
        value: The score there.
    """
    columns = torch.tensor(region.continuous)

    def placed(x: Tensor) -> Tensor:
        return region.complete(row.index_put((columns,), x))

    def by_gradient(function: Callable[[Tensor], Tensor], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = torch.tensor(x, dtype=torch.float64, requires_grad=True)
        values = function(placed(at))
        slopes = [
            torch.autograd.grad(v, at, retain_graph=True, allow_unused=True)[0] if v.requires_grad else None
            for v in values  # some are of discrete values alone
        ]
        rows = [torch.zeros_like(at) if s is None else s for s in slopes]
        return values.detach().nan_to_num(0.0).numpy(), torch.stack(rows).nan_to_num(0.0).numpy()

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        values, slopes = by_gradient(lambda at: -score(at.unsqueeze(0)), x)
        return float(values[0]), slopes[0]

    kept = {"type": "ineq", "fun": lambda x: region.slack(placed(torch.as_tensor(x))).nan_to_num(-1.0).numpy()}
    kept["jac"] = lambda x: by_gradient(region.slack, x)[1]
    with torch.enable_grad():
        found = minimize(
            loss,
            row[columns].numpy(),
            jac=True,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * len(columns),
            constraints=[kept],
            options={"maxiter": SQP_STEPS, "ftol": SQP_ENOUGH},
        )
    there = torch.as_tensor(found.x).clamp(0.0, 1.0)
    for share in BACK:
        made = region.canonical(placed(there + share * (row[columns] - there)).unsqueeze(0))
        if made.isfinite().all() and region.holds(made)[0] and region.point(made[0].tolist()) is not None:
            with torch.no_grad():
                reached = score(made)[0].item()
            return (made[0], reached) if reached > value else (row, value)
    return row, value
