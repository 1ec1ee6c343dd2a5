"""Maximum a posteriori hyperparameters of the model of failures, by expectation propagation with explicit gradients.

Notation (no batch dimensions: a search is one search), beside that of `likelihood` and `propagation`:
    x      theta, then log e1, then m
    theta  logarithms of the kernel's length-scales
    m      constant mean of the latent values
    F      log posterior density: L plus log prior densities, as a density of e1 itself

References:
    docs/equations.md section 15.
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.errors import FitError
from robustbo.numerics.failures.likelihood import Outcomes
from robustbo.numerics.failures.propagation import Approximation, propagate
from robustbo.numerics.gp import objective, parameters
from robustbo.numerics.gp.ascent import Ascent
from robustbo.numerics.gp.covariance import Covariance, CovarianceFunction
from robustbo.numerics.gp.objective import Objective
from robustbo.numerics.gp.parameters import Block, LogNormal, Normal
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

FLAKES = LogNormal(math.log(0.05), 1.0)  # prior of e1
MEAN = Normal(0.5, 1.0)  # prior of m: 7 of 10 points are viable, and it may be all or none
LOG_E1 = (math.log(2e-3), math.log(0.45))
REACH = (-4.0, 4.0)  # of m
BLOCKS = [
    Block("e1", (math.log(0.05), math.log(0.2), math.log(0.05)), LOG_E1, FLAKES),
    Block("m", (MEAN.loc,), REACH, MEAN),
]
ROUGH, FINE = 1e-2, 1e-3  # relative rises of F at which climbs stop
RATES = 8  # of flakes, evenly spaced in log e1, over which a mean is taken


class FailureModel(NamedTuple):
    """Outcomes and covariance function: what stays fixed in a search for hyperparameters."""

    outcomes: Outcomes
    covariance: CovarianceFunction

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of x."""
        return self.covariance.bounds + parameters.bounds(BLOCKS)

    @property
    def starts(self) -> list[Tensor]:
        """Values of x at which searches begin, the most plausible first."""
        return parameters.starts(BLOCKS, self.covariance.starts)


class FailureLogPosterior(NamedTuple):
    """The log posterior density at some x, and what its derivatives need."""

    F: float
    x: Tensor
    covariance: Covariance
    approximation: Approximation


def evaluate(model: FailureModel, x: Tensor, last: FailureLogPosterior | None = None) -> FailureLogPosterior:
    """The log posterior density at x; -inf where the sites do not settle.

    Args:
        model: What stays fixed.
        x: Where.
        last: An evaluation nearby, from whose sites it begins; from none by default.
    """
    log_e1, m = x.tolist()[-2:]
    covariance = model.covariance.at(x[:-2])
    sites = None if last is None else last.approximation.sites
    approximation = propagate(covariance.K.numpy(), m, model.outcomes, math.exp(log_e1), sites)
    F = (
        approximation.L
        + model.outcomes.flakes(math.exp(log_e1))
        + covariance.log_prior
        + parameters.log_prior(BLOCKS, [log_e1, m])
    )
    return FailureLogPosterior(
        F if approximation.converged and math.isfinite(F) else -math.inf, x, covariance, approximation
    )


def slopes(model: FailureModel, value: FailureLogPosterior) -> Tensor:
    """The gradient of F in x: where the sites have settled, they need not be followed."""
    approximation, (log_e1, m) = value.approximation, value.x.tolist()[-2:]
    G = torch.from_numpy(0.5 * (approximation.a[:, None] * approximation.a - approximation.R))  # eq. 15.7
    on_priors = parameters.prior_slopes(BLOCKS, [log_e1, m])
    on_rest = [float(_scores(model, value).sum()) + on_priors[0], float(approximation.a.sum()) + on_priors[1]]
    return torch.cat([value.covariance.pullback(G), value.x.new_tensor(on_rest)])


def _scores(model: FailureModel, value: FailureLogPosterior) -> Array:
    """``n`` derivatives of each log Z in log e1."""
    return model.outcomes.scores(value.approximation.u, value.approximation.log_Z, math.exp(value.x[-2]))


def information(model: FailureModel, value: FailureLogPosterior) -> Tensor:
    """An approximate information matrix: that of the Gaussian process with the sites as its observations.

    References:
        `log_posterior.information`; here the mean is one of the coordinates. That of log e1 is the outer product of
        the scores.
    """
    assert value.covariance.tangents is not None
    assert model.covariance.prior_precision is not None
    a, half, scores = torch.from_numpy(value.approximation.a), math.sqrt(0.5), _scores(model, value)
    rows = np.concatenate([half * value.covariance.tangents(a).numpy(), np.ones((1, len(a)))])
    p = len(rows) - 1
    A, coordinates = np.zeros((p + 2, p + 2)), [*range(p), p + 1]
    A[np.ix_(coordinates, coordinates)] = rows @ value.approximation.R @ rows.T
    A[p, p] = scores @ scores
    precisions = [*model.covariance.prior_precision.tolist(), *parameters.prior_precisions(BLOCKS)]
    return torch.from_numpy(lapack.on_diagonal(A, np.array(precisions)))


def height_of(model: FailureModel) -> Objective:
    """The log posterior density of a model's hyperparameters, as searches climb it."""
    return Objective(model.bounds, partial(evaluate, model), partial(slopes, model), partial(information, model))


def search(model: FailureModel) -> Ascent:
    """The highest of the maxima that searches from several places lead to.

    Raises:
        FitError: If expectation propagation settles nowhere.
    """
    ascent = objective.search(height_of(model), model.starts, rough=ROUGH, fine=FINE)
    if not math.isfinite(ascent.F):
        raise FitError(f"no sites settled for {len(model.outcomes.k)} places")
    return ascent


def at_mean_flake_rate(model: FailureModel, value: FailureLogPosterior) -> FailureLogPosterior:
    """The fit at the posterior mean of the rate of flakes, the rest held: few trials leave the mode far below it.

    Args:
        model: What was fitted.
        value: The fit at the mode; also what is returned where no sites settle at the mean.
    """
    *_, at_mode, _ = value.x.tolist()
    log_e1 = np.sort([*np.linspace(*LOG_E1, RATES), at_mode])  # where F is finite, at one of them at least
    F = np.array([evaluate(model, _at_rate(value.x, rate), value).F for rate in log_e1])
    w = np.exp(F - F.max() + log_e1)
    mean = np.trapezoid(w * np.exp(log_e1), log_e1) / np.trapezoid(w, log_e1)  # eq. 15.12
    at_mean = evaluate(model, _at_rate(value.x, math.log(mean)), value)
    return at_mean if math.isfinite(at_mean.F) else value


def _at_rate(x: Tensor, log_e1: float) -> Tensor:
    """x with another rate of flakes."""
    return torch.cat([x[:-2], x.new_tensor([log_e1]), x[-1:]])
