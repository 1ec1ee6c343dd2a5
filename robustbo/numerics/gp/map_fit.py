"""Maximum a posteriori hyperparameters of a GP whose observations may each have a variance of their own.

An added variance enters the search as t = log(1 + rho / v), v its leave-one-out variance at the start: for one
observation the log likelihood is -(t + q exp(-t)) / 2 + const, whose curvature at the optimum is 1/2 however gross the
outlier. The convex variable s = 1 - exp(-t) lies within 1e-10 of its bound there, and a search in it stalls.

Observations that are right or wrong together (`replicates.Groups`) share one variance: two of them at one point would
else agree with each other, and need none.

Notation (no batch dimensions: a search is one search):
    theta  p  hyperparameters, see `log_posterior`
    rho    n  added variances, zero outside the support
    z      g  the search's variables for rho on the support, one a group
    v      g  their scales

References:
    docs/equations.md section 6.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustbo.numerics.gp import objective
from robustbo.numerics.gp.log_posterior import LogPosterior, gradient, information, log_posterior
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.objective import Objective
from robustbo.numerics.gp.warp import WarpedOutcomes
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

LEAST = 1e-12  # of a scale: where a covariance is nearly singular, rounding may leave less than nothing of a variance


class Parameterization(NamedTuple):
    """A coordinate z for an added variance of scale v: rho(z), its derivative, z(rho), and the upper bound of z."""

    rho: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    inverse: Callable[[Array, Array], Array]
    high: float


PARAMETERIZATIONS = {
    "log": Parameterization(
        lambda z, v: v * np.expm1(z), lambda z, v: v * np.exp(z), lambda rho, v: np.log1p(rho / v), 600.0
    ),
    "convex": Parameterization(
        lambda z, v: v * z / (1 - z), lambda z, v: v / np.square(1 - z), lambda rho, v: rho / (v + rho), 1 - 1e-12
    ),
    "canonical": Parameterization(lambda z, v: z, lambda z, v: np.ones_like(z), lambda rho, v: rho, math.inf),
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
    """Return the local maximum that `climb` leads to; the arguments are those of `climb`."""
    return climb(model, theta, rho, support, v, **options)[0]


def maximize_alone(model: Model, theta: Tensor, **options: Any) -> Fit:
    """Return the local maximum in theta where no observation has a variance of its own; options as for `climb`."""
    none = torch.zeros_like(model.y)
    return maximize(model, theta, none, torch.zeros(0, dtype=torch.long), none, **options)


@lapack.quiet()  # a gross variance in units of a small one
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
) -> tuple[Fit, LogPosterior]:
    """Climb to a local maximum of the log posterior in theta and in the added variances of a support.

    The logarithmic parameterization climbs by the information matrix where the covariance knows its tangents: a quarter
    of the evaluations of L-BFGS-B, which serves all others.

    Args:
        model: What stays fixed.
        theta: ``p`` where to begin.
        rho: ``n`` added variances to begin with; those outside the support are set to zero, and those of a group to
            their mean.
        support: ``k`` indices of the observations that may have a variance of their own, of groups all.
        v: ``n`` positive scales of the variances, best their leave-one-out variances.
        parameterization: A name of `PARAMETERIZATIONS`.
        ftol: Rise of the objective at which the search stops, as in `ascent.ascend`.
        maxiter: Iterations at most.

    Returns:
        The maximum, and the log posterior density there with its parts.
    """
    of, columns = PARAMETERIZATIONS[parameterization], np.array(model.groups.columns(support.tolist()), dtype=np.intp)
    firsts = support[np.unique(columns, return_index=True)[1]]
    scale, rho = model.groups.mean(v)[firsts].clamp_min(LEAST).numpy(), model.groups.mean(rho)
    precision = model.prior_precision if parameterization == "log" else None
    begin = torch.cat([theta, torch.from_numpy(of.inverse(rho[firsts].numpy(), scale))])
    bounds = model.bounds + [(0.0, of.high)] * len(firsts)
    initial_warp = model.warp_at(theta)
    log_secant = None if initial_warp is None else initial_warp.log_secant
    coordinates = _Coordinates(model, support, columns, scale, of, precision, log_secant)
    height = Objective(
        bounds, coordinates.evaluate, coordinates.slopes, None if precision is None else coordinates.information
    )
    x, _, at, evaluations, converged = objective.climb(height, coordinates.evaluate(begin), ftol=ftol, maxiter=maxiter)
    value = at.posterior
    return Fit(x[: len(theta)], at.rho, value.F, value.evidence.L.item(), evaluations, converged), value


@dataclass
class _Evaluation:
    """The log posterior at some x, and the derivatives there of the added variances.

    Attributes:
        F: Log posterior density.
        x: Where.
        posterior: The same with its parts.
        rho: ``n`` added variances.
        rho_z: ``k`` derivatives in z, each in that of its group.
        warp: The observations' warp, where there is one.
    """

    F: float
    x: Tensor
    posterior: LogPosterior
    rho: Tensor
    rho_z: Array
    warp: WarpedOutcomes | None

    @cached_property
    def on_warp(self) -> Array | None:
        """``3 x n`` derivatives of the added variances in the coordinates of the warp."""
        return None if self.warp is None else 2 * self.rho.numpy() * self.warp.log_secant_t


class _Coordinates(NamedTuple):
    """The log posterior as a function of x, which is theta and then z.

    Where outcomes are warped, z stands for a variance at the warp of the beginning: with the warp it changes as the
    square of the observation's secant, so that a gross value goes on being as far out as its variance says.
    """

    model: Model
    support: Tensor
    columns: NDArray[np.intp]
    scale: Array
    of: Parameterization
    precision: Tensor | None
    log_secant: Array | None = None

    def evaluate(self, x: Tensor, _: _Evaluation | None = None) -> _Evaluation:
        p, indices = len(x) - len(self.scale), self.support.numpy()
        z, rho = x[p:].numpy(), np.zeros(len(self.model.y))
        bend = self.model.warp_at(x[:p])
        secants = None if bend is None else bend.log_secant, self.log_secant
        now, before = (np.zeros(len(indices)) if secant is None else secant[indices] for secant in secants)
        factor = np.exp(2 * (now - before))
        rho[indices] = self.of.rho(z, self.scale)[self.columns] * factor
        added = torch.from_numpy(rho)
        value = log_posterior(self.model, x[:p], added, support=self.support, bend=bend)
        return _Evaluation(value.F, x, value, added, self.of.slope(z, self.scale)[self.columns] * factor, bend)

    def slopes(self, at: _Evaluation) -> Tensor:
        F_theta, F_rho = gradient(self.model, at.posterior)
        p, on_warp = len(F_theta), at.on_warp
        of_each = F_rho.numpy()[self.support.numpy()] * at.rho_z
        shared = np.bincount(self.columns, of_each, len(self.scale))
        slopes = torch.from_numpy(np.concatenate([F_theta.numpy(), shared]))
        if on_warp is not None:
            slopes.numpy()[p - len(on_warp) : p] += on_warp @ F_rho.numpy()
        return slopes

    def information(self, at: _Evaluation) -> Tensor:
        assert self.precision is not None
        p = len(self.precision)
        A = information(self.model, at.posterior, self.support, torch.from_numpy(at.rho_z), at.on_warp)
        lapack.on_diagonal(A.numpy()[:p, :p], self.precision.numpy())
        return A if len(self.scale) == len(self.columns) else self._together(A, p)

    def _together(self, A: Tensor, p: int) -> Tensor:
        """The information about p numbers and the variances of groups, from that about their members' variances."""
        places = torch.cat([torch.arange(p), p + torch.from_numpy(self.columns)])
        rows = A.new_zeros(p + len(self.scale), len(places)).index_add_(0, places, A)
        return rows.new_zeros(len(rows), len(rows)).index_add_(1, places, rows)
