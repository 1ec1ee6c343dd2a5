"""One look at the observations: a computation-aware process, its weights, and what it says of each observation.

Notation as in `weighted.rcgp` and `solver`.

References:
    docs/equations.md section 8; the leave-one-out of `solver` is ours.
"""

from typing import NamedTuple

from torch import Tensor

from robustbo.numerics.gp.kernels_tiled import TiledCovariance
from robustbo.numerics.iterative import policies, solver
from robustbo.numerics.iterative.solver import WeightBelief
from robustbo.numerics.weighted.map_fit import Weights
from robustbo.numerics.weighted.rcgp import PredictionErrors, Weighting


class IterationPlan(NamedTuple):
    """Settings of the iterations.

    Attributes:
        policy: A name of `policies.NAMES`.
        iterations: Actions at most.
        tolerance: Residual, relative to the targets, at which to stop; 0 to use all actions.
    """

    policy: str
    iterations: int
    tolerance: float


class IterativePosterior(NamedTuple):
    """The observations as far as they were looked at.

    Attributes:
        A: Their covariance, stretched noise included.
        weighting: How much each counts.
        belief: What the iterations tell.
        left_out: Leave-one-out errors, and variances with the noise of a new measurement.
        s2: ``n`` noise variances.
    """

    A: TiledCovariance
    weighting: Weighting
    belief: WeightBelief
    left_out: PredictionErrors
    s2: Tensor

    @property
    def in_sample(self) -> PredictionErrors:
        """Errors and variances of the values where each is predicted by all, itself included."""
        N, z, v = self.A.N, self.belief.z, self.belief.v
        f = z - self.belief.r - N * v  # K v, and A v = z - r
        explained = (self.belief.AD - N.unsqueeze(-1) * self.belief.D).square().sum(-1)
        return PredictionErrors(z - self.s2 * self.weighting.b - f, self.A.s2f - explained + self.s2)


def condition(prior: TiledCovariance, r: Tensor, weighting: Weighting, plan: IterationPlan) -> IterativePosterior:
    """Condition on weighted observations.

    Args:
        prior: Covariance of the observations, with the noise as it is.
        r: ``n`` values less the prior mean.
        weighting: Of the observations.
        plan: How.
    """
    A, z = prior._replace(N=prior.N * weighting.J), r + prior.N * weighting.b
    count = min(plan.iterations, len(r))
    policy = policies.by_name(plan.policy, A, z, weighting.share, count)
    belief = solver.iterate(z, policy, A.times, max_iter=count, tol=plan.tolerance, N=A.N)
    latent = solver.leave_one_out(belief, A.diagonal, A.s2f)
    left_out = PredictionErrors(r - latent.mean, latent.variance.clamp_min(0.0) + prior.N)
    return IterativePosterior(A, weighting, belief, left_out, prior.N)


def condition_in_rounds(prior: TiledCovariance, r: Tensor, weights: Weights, plan: IterationPlan) -> IterativePosterior:
    """Condition once the weights have been through all their rounds, each around the last round's predictions."""
    weighting = weights.settle(r, lambda weighting: condition(prior, r, weighting, plan).left_out)
    return condition(prior, r, weighting, plan)
