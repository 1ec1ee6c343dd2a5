"""Maximum a posteriori hyperparameters of a GP whose observations may each have a variance of their own.

The search is L-BFGS-B with explicit gradients. By default an added variance enters as t = log(1 + rho / v), v its
leave-one-out variance at the start: for one observation the log likelihood is -(t + q exp(-t)) / 2 + const, whose
curvature at the optimum is 1/2 however gross the outlier. The convex variable s = 1 - exp(-t) lies within 1e-10 of its
bound there, and a search in it stalls.

Notation (no batch dimensions: a search is one search):
    K      n x n  covariance of the latent values
    s2            noise variance
    theta  p      logarithms of the kernel's hyperparameters, then log s2 unless the noise is known
    rho    n      added variances, zero outside the support
    z      k      the search's variables for rho on the support
    F             log posterior density: log marginal likelihood L plus log prior densities

References:
    equations.md section 6.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from robustbo.numerics.covariance import CovarianceFunction, LogNormal
from robustbo.numerics.evidence import Evidence, evidence

LOG_S2 = (math.log(1e-4), math.log(1e4))  # the lower bound is BoTorch's, on standardized outcomes
INFEASIBLE = 1e300  # returned to the line search where the covariance is not positive definite
MEMORY = 20  # L-BFGS corrections


class Parameterization(NamedTuple):
    """How a search sees an added variance, given its scale v: rho(z), its derivative, z(rho), and the bound of z."""

    rho: Callable[[Tensor, Tensor], Tensor]
    slope: Callable[[Tensor, Tensor], Tensor]
    inverse: Callable[[Tensor, Tensor], Tensor]
    high: float


PARAMETERIZATIONS = {
    "log": Parameterization(
        lambda z, v: v * torch.expm1(z), lambda z, v: v * z.exp(), lambda rho, v: torch.log1p(rho / v), 600.0
    ),
    "convex": Parameterization(
        lambda z, v: v * z / (1 - z), lambda z, v: v / (1 - z).square(), lambda rho, v: rho / (v + rho), 1 - 1e-12
    ),
    "canonical": Parameterization(lambda z, v: z, lambda z, v: torch.ones_like(z), lambda rho, v: rho, math.inf),
}


class Model(NamedTuple):
    """What stays fixed in a search.

    Attributes:
        y: ``n`` observations, standardized.
        covariance: Of the latent values.
        s2_prior: Prior of the noise variance.
        s2_known: ``n`` known noise variances; the noise is not searched then.
    """

    y: Tensor
    covariance: CovarianceFunction
    s2_prior: LogNormal
    s2_known: Tensor | None = None

    @property
    def start(self) -> Tensor:
        """Where a cold search begins."""
        head = self.covariance.start
        return head if self.s2_known is not None else torch.cat([head, head.new_tensor([self.s2_prior.log_mode])])

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Of theta."""
        return self.covariance.bounds + ([LOG_S2] if self.s2_known is None else [])


class Value(NamedTuple):
    """The log posterior density, its gradient, and the evidence within it."""

    F: Tensor
    F_theta: Tensor
    F_rho: Tensor
    evidence: Evidence


class Fit(NamedTuple):
    """A local maximum: hyperparameters, added variances, log posterior, log marginal likelihood, evaluations."""

    theta: Tensor
    rho: Tensor
    F: float
    L: float
    num_evaluations: int
    converged: bool


def log_posterior(model: Model, theta: Tensor, rho: Tensor) -> Value:
    """Log marginal likelihood plus log prior densities, with the gradient in theta (``p``) and rho (``n``)."""
    p = len(model.covariance.start)
    covariance = model.covariance.at(theta[:p])
    s2 = theta[p:].exp().expand_as(model.y) if model.s2_known is None else model.s2_known
    found = evidence(covariance.K + torch.diag(s2 + rho), model.y)
    F_rho = found.G.diagonal()
    F, slopes = found.L + covariance.log_prior, covariance.pullback(found.G)
    if model.s2_known is None:
        F = F + model.s2_prior.log_density(theta[p])
        on_noise = (F_rho * s2).sum() + model.s2_prior.slope(theta[p])
        slopes = torch.cat([slopes, on_noise.unsqueeze(0)])
    return Value(F, slopes, F_rho, found)


def prior_covariance(model: Model, theta: Tensor) -> Tensor:
    """``n x n`` covariance of the observations without added variances, K + sigma^2 I."""
    p = len(model.covariance.start)
    s2 = theta[p:].exp().expand_as(model.y) if model.s2_known is None else model.s2_known
    return model.covariance.at(theta[:p]).K + torch.diag(s2)


def maximize(
    model: Model,
    theta: Tensor,
    rho: Tensor,
    support: Tensor,
    v: Tensor,
    *,
    parameterization: str = "log",
    ftol: float = 1e-9,
    maxiter: int = 200,
) -> Fit:
    """Climb to a local maximum of the log posterior in theta and in the added variances of a support.

    Args:
        model: What stays fixed.
        theta: ``p`` where to begin.
        rho: ``n`` added variances to begin with; those outside the support are set to zero.
        support: ``k`` indices of the observations that may have a variance of their own.
        v: ``n`` positive scales of the variances, best their leave-one-out variances.
        parameterization: A name of `PARAMETERIZATIONS`.
        ftol: Relative decrease of the objective at which L-BFGS-B stops.
        maxiter: Iterations at most.
    """
    of, p, scale = PARAMETERIZATIONS[parameterization], len(theta), v[support]
    zero = torch.zeros_like(model.y)

    def added(z: Tensor) -> Tensor:
        return zero.index_put((support,), of.rho(z, scale))

    def negative(point: np.ndarray) -> tuple[float, np.ndarray]:
        x = torch.from_numpy(point)
        value = log_posterior(model, x[:p], added(x[p:]))
        if not (value.evidence.converged and value.F.isfinite()):
            return INFEASIBLE, np.zeros_like(point)
        gradient = torch.cat([value.F_theta, value.F_rho[support] * of.slope(x[p:], scale)])
        return -value.F.item(), -gradient.numpy()

    begin = torch.cat([theta, of.inverse(rho[support], scale).clamp(0, of.high)])
    found = minimize(
        negative,
        begin.numpy(),
        jac=True,
        method="L-BFGS-B",
        bounds=model.bounds + [(0.0, of.high)] * len(support),
        options={"maxiter": maxiter, "ftol": ftol, "gtol": 1e-5, "maxcor": MEMORY},
    )
    x = torch.from_numpy(found.x)
    value = log_posterior(model, x[:p], added(x[p:]))
    return Fit(x[:p], added(x[p:]), value.F.item(), value.evidence.L.item(), found.nfev, bool(found.success))
