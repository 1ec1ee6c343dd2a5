"""Maximum a posteriori hyperparameters of a GP whose observations may each have a variance of their own.

An added variance enters the search as t = log(1 + rho / v), v its leave-one-out variance at the start: for one
observation the log likelihood is -(t + q exp(-t)) / 2 + const, whose curvature at the optimum is 1/2 however gross the
outlier. The convex variable s = 1 - exp(-t) lies within 1e-10 of its bound there, and a search in it stalls.

Notation (no batch dimensions: a search is one search):
    theta  p  hyperparameters, see `hyperparameters`
    rho    n  added variances, zero outside the support
    z      k  the search's variables for rho on the support
    v      k  their scales

References:
    equations.md section 6.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.ascent import Point, ascend, ascend_by_gradient
from robustbo.numerics.hyperparameters import Model, Value, gradient, information, log_posterior


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


class Fit(NamedTuple):
    """A local maximum: hyperparameters, added variances, log posterior, log marginal likelihood, how it was found."""

    theta: Tensor
    rho: Tensor
    F: float
    L: float
    num_evaluations: int
    converged: bool

    @property
    def support(self) -> tuple[int, ...]:
        """Sorted indices of the observations with a variance of their own."""
        return tuple(self.rho.nonzero().flatten().tolist())


def maximize(model: Model, theta: Tensor, rho: Tensor, support: Tensor, v: Tensor, **options: Any) -> Fit:
    """The local maximum that `climb` leads to; its arguments are the same."""
    return climb(model, theta, rho, support, v, **options)[0]


def climb(
    model: Model,
    theta: Tensor,
    rho: Tensor,
    support: Tensor,
    v: Tensor,
    *,
    parameterization: str = "log",
    ftol: float = 1e-9,
    maxiter: int = 200,
) -> tuple[Fit, Value]:
    """Climb to a local maximum of the log posterior in theta and in the added variances of a support.

    The logarithmic parameterization climbs by the information matrix where the covariance knows its tangents: a quarter
    of the evaluations of L-BFGS-B, which serves all others.

    Args:
        model: What stays fixed.
        theta: ``p`` where to begin.
        rho: ``n`` added variances to begin with; those outside the support are set to zero.
        support: ``k`` indices of the observations that may have a variance of their own.
        v: ``n`` positive scales of the variances, best their leave-one-out variances.
        parameterization: A name of `PARAMETERIZATIONS`.
        ftol: Relative rise of the objective at which the search stops.
        maxiter: Iterations at most.

    Returns:
        The maximum, and all that is known of the log posterior density there.
    """
    objective = _Objective(model, support, v[support], PARAMETERIZATIONS[parameterization])
    bounds = theta.new_tensor(model.bounds + [(0.0, objective.of.high)] * len(support))
    begin = torch.cat([theta, objective.of.inverse(rho[support], v[support])]).clamp(bounds[:, 0], bounds[:, 1])
    precision = model.prior_precision if parameterization == "log" else None
    way = ascend_by_gradient if precision is None else ascend
    point = partial(objective.point, precision)
    x, last, evaluations, converged = way(point, begin, *bounds.T, ftol=ftol, maxiter=maxiter)
    value: Value = last.value
    return Fit(x[: len(theta)], objective.rho(x), value.F, value.evidence.L.item(), evaluations, converged), value


class _Objective(NamedTuple):
    """The log posterior as a function of x, which is theta and then z."""

    model: Model
    support: Tensor
    scale: Tensor
    of: Parameterization

    def z(self, x: Tensor) -> Tensor:
        return x[len(x) - len(self.support) :]

    def rho(self, x: Tensor) -> Tensor:
        return torch.zeros_like(self.model.y).index_put((self.support,), self.of.rho(self.z(x), self.scale))

    def at(self, x: Tensor) -> Value:
        return log_posterior(self.model, x[: len(x) - len(self.support)], self.rho(x))

    def slopes(self, x: Tensor, value: Value) -> Tensor:
        F_theta, F_rho = gradient(self.model, value)
        return torch.cat([F_theta, F_rho[self.support] * self.of.slope(self.z(x), self.scale)])

    def point(self, precision: Tensor | None, x: Tensor) -> Point:
        value = self.at(x)

        def derivatives() -> tuple[Tensor, Tensor]:
            if precision is None:
                return self.slopes(x, value), x[:0]
            A = information(self.model, value, self.support, self.of.slope(self.z(x), self.scale))
            A.diagonal()[: len(precision)].add_(precision)
            return self.slopes(x, value), A

        return Point(value.F, derivatives, value)
