"""Maximum a posteriori hyperparameters of a Gaussian process with a Student-t likelihood, by Laplace's approximation.

What is climbed is the evidence with clamped curvatures. With their signs it has poles: it rises without bound towards
hyperparameters at which the mode ceases to be one, and a search ends there. The clamp costs a fraction of a nat.

The climb follows one mode of the latent values from step to step, since the evidence jumps between modes. Where it
ends, the modes are looked for anew, and a higher one is climbed from in turn.

Notation (no batch dimensions: a search is one search), beside that of `laplace`:
    x    theta, then log nu where it is learned, then m
    theta p  logarithms of the kernel's hyperparameters, then log s2 unless the noise is known
    V    n   EM variances: with them as noise variances the process has the same mean
    F        log posterior density: L plus log prior densities

References:
    docs/equations.md section 2.
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.ascent import Ascent
from robustbo.numerics.gp.covariance import Covariance
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.objective import Objective, climb, highest
from robustbo.numerics.gp.parameters import Block, LogNormal
from robustbo.numerics.linalg import lapack
from robustbo.numerics.student_t import likelihood
from robustbo.numerics.student_t.laplace import Laplace, Noise, approximate, as_numbers, gradient
from robustbo.numerics.student_t.mode import ENOUGH, cold_starts, find_mode

DOF_PRIOR = LogNormal(2.5, 1.0)  # weak: its median is 12 degrees of freedom, its mode 4.5
LOG_DOF = (math.log(2.0), math.log(1e4))
DOF = Block("nu", (math.log(4.0),), LOG_DOF, DOF_PRIOR)
ROUNDS = 3  # of climbs, each from a higher mode
BEGIN_STEPS = 10  # of expectation maximization, from the mean
HIGHER = 1e-6  # nats
ROUGH = 3e-3  # relative rise of F at which the first climbs stop
ROUGH_MODE = 1e-4  # as `mode.ENOUGH`, for these


class HeavyModel(NamedTuple):
    """Observations, priors and degrees of freedom: what stays fixed in a search.

    Attributes:
        base: Observations, covariance, noise prior or known noise (as squared scales).
        dof: Degrees of freedom; None where they are learned.
    """

    base: Model
    dof: float | None = 4.0

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of x."""
        return self.base.bounds + parameters.bounds(self._more)

    @property
    def starts(self) -> list[Tensor]:
        """Values of x at which cold searches begin, the most plausible first."""
        return parameters.starts(self._more, self.base.starts)

    @property
    def likelihood_blocks(self) -> list[Block]:
        """The likelihood's parameters that are free."""
        return [*self.base.blocks, *([DOF] if self.dof is None else [])]

    @property
    def _more(self) -> list[Block]:
        """Blocks of x beside theta."""
        return [*([DOF] if self.dof is None else []), parameters.constant_mean(self.base.y)]

    def noise(self, x: Tensor) -> Noise:
        """The likelihood's parameters at x."""
        p = len(self.base.covariance.bounds)
        s2 = lapack.as_tensor(math.exp(x[p])) if self.base.s2_known is None else self.base.s2_known
        return Noise(s2, x[-2].exp() if self.dof is None else lapack.as_tensor(self.dof))


class HeavyLogPosterior(NamedTuple):
    """The log posterior density at some x, and what its derivatives need."""

    F: float
    x: Tensor
    covariance: Covariance
    laplace: Laplace


def evaluate(
    model: HeavyModel, x: Tensor, latent: Tensor | None = None, em_steps: int = 0, close: float = ENOUGH
) -> HeavyLogPosterior:
    """The log posterior density at x, with clamped curvatures; -inf where no strict maximum is found.

    Args:
        model: What stays fixed.
        x: Where.
        latent: ``n`` latent values, the mean included, from which the mode is looked for; from nothing by default.
        em_steps: Steps of expectation maximization from there, at most; 0 from the mode at a place nearby.
        close: The mode's residual.
    """
    base, noise, m, p = model.base, model.noise(x), x[-1], len(model.base.covariance.bounds)
    covariance = base.covariance.at(x[:p])
    K, y = covariance.K, base.y - m
    if latent is None:
        mode = find_mode(K, y, noise, cold_starts(K, y, noise))
    else:
        mode = find_mode(K, y, noise, [latent - m], em_steps=em_steps, close=close)
    laplace = approximate(K, base.y, m, noise, mode.a, is_clamped=True, at=mode.at, signed=mode.signed)
    F = laplace.L.item() + covariance.log_prior + parameters.log_prior(model.likelihood_blocks, x.tolist()[p:-1])
    is_mode = mode.converged and laplace.signed.is_maximum
    return HeavyLogPosterior(F if is_mode and math.isfinite(F) else -math.inf, x, covariance, laplace)


def slopes(model: HeavyModel, value: HeavyLogPosterior) -> Tensor:
    """The gradient of F in x."""
    by = gradient(value.laplace, is_nu_free=model.dof is None)
    of_likelihood = [by.log_s2.sum().item()] if model.base.s2_known is None else []
    of_likelihood += [by.log_nu.item()] if model.dof is None else []
    of_priors = parameters.prior_slopes(
        model.likelihood_blocks, value.x.tolist()[len(model.base.covariance.bounds) : -1]
    )
    on_likelihood = [slope + of_prior for slope, of_prior in zip(of_likelihood, of_priors, strict=True)]
    return torch.cat([value.covariance.pullback(by.K), value.x.new_tensor([*on_likelihood, by.m.sum().item()])])


def information(model: HeavyModel, value: HeavyLogPosterior) -> Tensor:
    """An approximate information matrix: that of the Gaussian process which has V as its noise variances.

    References:
        `log_posterior.information`; here the mean is one of the coordinates.
    """
    at, base, K = value.laplace, model.base, value.covariance.K.numpy()
    (s2, nu), r, a = as_numbers(at.noise), at.r.numpy(), at.a.numpy()
    C, _ = lapack.factor(lapack.on_diagonal(K.copy(), likelihood.em_variance(r, s2, nu)))
    assert value.covariance.tangents is not None
    rows = [value.covariance.tangents(at.a).numpy()]
    if base.s2_known is None:
        rows.append(nu * s2 / (nu + 1) * a[None])
    if model.dof is None:
        rows.append(nu * (s2 - r * r) / (nu + 1) ** 2 * a[None])
    white = lapack.forward(C, np.concatenate([*rows, np.full_like(a, math.sqrt(2))[None]]).T)
    A = 0.5 * white.T @ white
    A[-1, :-1] *= math.sqrt(0.5)
    A[:-1, -1] *= math.sqrt(0.5)
    assert base.covariance.prior_precision is not None
    precision = parameters.prior_precisions(model.likelihood_blocks)
    precisions = np.array([*base.covariance.prior_precision.tolist(), *precision, 0.0])  # the mean has no prior
    return torch.from_numpy(lapack.on_diagonal(A, precisions))


def search(model: HeavyModel, starts: list[Tensor] | None = None, *, ftol: float = 1e-7) -> Ascent:
    """The highest of the maxima that the starts lead to, its value the approximation there.

    Args:
        model: What stays fixed.
        starts: Values of x; `HeavyModel.starts` by default.
        ftol: Relative rise of F at which a climb stops.
    """

    def rough(x: Tensor) -> Ascent:
        return _climb(model, _begin(model, x), ROUGH, rounds=1, close=ROUGH_MODE)

    ascent = highest(starts or model.starts, rough, lambda best: _climb(model, best.value, ftol, rounds=ROUNDS))
    return ascent._replace(value=ascent.value.laplace)


def _begin(model: HeavyModel, x: Tensor) -> HeavyLogPosterior:
    """The log posterior density at x, from the mode nearest to the mean; from nothing where there is none."""
    value = evaluate(model, x, x[-1].expand_as(model.base.y), BEGIN_STEPS)
    return value if math.isfinite(value.F) else evaluate(model, x)


def _climb(model: HeavyModel, value: HeavyLogPosterior, ftol: float, rounds: int, close: float = ENOUGH) -> Ascent:
    """Climb along a mode, and again from where another is found to be higher."""
    height = Objective(
        model.bounds,
        lambda x, last: evaluate(model, x, None if last is None else last.x[-1] + last.laplace.f, close=close),
        partial(slopes, model),
        partial(information, model) if model.base.is_informed else None,
    )
    evaluations = 0
    while True:
        ascent = climb(height, value, ftol=ftol)
        value, evaluations, rounds = ascent.value, evaluations + ascent.num_evaluations, rounds - 1
        if rounds == 0 or not (anew := evaluate(model, value.x)).F > value.F + HIGHER:
            return ascent._replace(num_evaluations=evaluations)
        value = anew
