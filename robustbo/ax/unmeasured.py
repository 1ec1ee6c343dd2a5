"""Points beside one that is measured already: in its place, the best of them is asked for.

A point where the acquisition function is greatest may be one that the experiment has, as a corner often is. Ax takes no
arm twice. As in `robustbo.loop.candidates.propose`, the best of other points comes in its place.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import torch
from ax.core.search_space import SearchSpaceDigest
from botorch.optim.parameter_constraints import evaluate_feasibility
from botorch.utils.sampling import draw_sobol_samples, get_polytope_samples
from torch import Tensor

from robustbo.loop.candidates.pending import NEAR

Constraints: TypeAlias = list[tuple[Tensor, Tensor, float]]
Rounding: TypeAlias = Callable[[Tensor], Tensor]

LOOKED_AT = 512  # points, as many as the loop's search begins with
REACH = (-3.0, 0.0)  # powers of ten, of the way to a point anywhere, that half of them are from the measured one
BURN_IN, THINNING = 500, 8  # steps of a random walk within constraints; two points need not be independent


class AxRegion(NamedTuple):
    """The region of a candidate, as Ax's optimizer has it."""

    digest: SearchSpaceDigest
    inequalities: Constraints | None
    equalities: Constraints | None
    fixed: dict[int, float] | None
    rounding: Rounding | None

    def scatter(self, num: int, seed: int) -> Tensor:
        """Points spread over it, before they are rounded and what is fixed is set."""
        bounds = torch.tensor(self.digest.bounds, dtype=torch.float64).T
        if not (self.inequalities or self.equalities):
            return draw_sobol_samples(bounds, num, 1, seed=seed).squeeze(-2)
        at_values = [(torch.tensor([i]), bounds.new_ones(1), value) for i, value in (self.fixed or {}).items()]
        equalities = [*(self.equalities or []), *at_values]
        return get_polytope_samples(num, bounds, self.inequalities, equalities, seed, BURN_IN, THINNING)

    def within(self, X: Tensor) -> Tensor:
        """Points as they can be measured, without those that a constraint then forbids."""
        X = X.clone()
        for i, values in self.digest.discrete_choices.items():
            levels = X.new_tensor(values)
            X[:, i] = levels[(X[:, i, None] - levels).abs().argmin(-1)]
        for i, value in (self.fixed or {}).items():
            X[:, i] = value
        X = X if self.rounding is None else self.rounding(X)
        return X[evaluate_feasibility(X.unsqueeze(-2), self.inequalities, self.equalities)]


def alternatives(top: Tensor, X_trials: Tensor, region: AxRegion, seed: int) -> Tensor:
    """Points in place of one that is known: near it and anywhere, none of them known; none where it is not known.

    Args:
        top: ``1 x d``, the point.
        X_trials: ``n x d`` points that are measured or pending.
        region: Where they may be; with two points it has all between them, except for rounding.
        seed: Of what is drawn.
    """
    low, high = torch.tensor(region.digest.bounds, dtype=torch.float64).T
    near = NEAR * (high - low)

    def is_known(X: Tensor) -> Tensor:
        return ((X.unsqueeze(-2) - X_trials).abs() <= near).all(-1).any(-1)

    if not is_known(top).any():
        return top[:0]
    anywhere = region.scatter(LOOKED_AT, seed)
    exponents = torch.linspace(*REACH, LOOKED_AT // 2, dtype=torch.float64).unsqueeze(-1)
    beside = top + 10**exponents * (anywhere[: LOOKED_AT // 2] - top)
    X = region.within(torch.cat([beside, anywhere[LOOKED_AT // 2 :]]))
    return X[~is_known(X)]
