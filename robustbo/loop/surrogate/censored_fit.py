"""A fit to values and bounds: the surrogate fitted to values, and to what the bounds say beside them.

Each bound becomes a normal pseudo-value of its point (`numerics.censored`), given what the values alone predict there;
the surrogate is fitted to both, and from its hyperparameters the pseudo-values follow anew, until they settle. The
noise of values is what the fit that it begins at found, where it is not known.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from botorch.models.gpytorch import GPyTorchModel
from torch import Tensor

from robustbo.lazy import Module
from robustbo.loop.observations.expectation import Appraisal
from robustbo.loop.observations.table import Observations
from robustbo.loop.observations.units import Units, noise_of_all
from robustbo.loop.surrogate.bounds import (
    EVEN,
    BoundRows,
    appraisals,
    bound_rows,
    center_and_spread,
    directions,
    joint_prediction,
    noise_variances,
)
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.censored.sites import PseudoValues, pseudo_values, without_sites
from robustbo.numerics.gp.wrong_density import WIDTH
from robustbo.numerics.linalg.lapack import Array
from robustbo.surrogates.common import contract
from robustbo.surrogates.common.model_averaging import by_fits

if TYPE_CHECKING:
    from scipy import stats
else:
    stats = Module("scipy.stats")

ROUNDS = 3  # of fits; pseudo-values hardly change after the second
SETTLED = 0.1  # change of the pseudo-values' posterior means, of a predicted standard deviation, at which rounds end
BEYOND, VAGUE = 0.8, 0.36  # mean and variance of half a normal distribution beyond a limit, as wide as a model's unit

Build = Callable[[Units, Tensor, Tensor, GPyTorchModel | None], GPyTorchModel]


class Beginning(NamedTuple):
    """Beliefs about the latent values at bounds, from the values alone.

    Attributes:
        base: A fit, in whose units these are.
        noise: ``n`` variances of the noise of a measurement at each point.
        m: ``k`` means at the bounds.
        C: ``k x k``.
    """

    base: FittedSurrogate
    noise: Tensor
    m: Array
    C: Array


class BoundsFit(NamedTuple):
    """A fit to values and bounds.

    Attributes:
        model: The surrogate.
        base: The fit that it began at, in whose units it is.
        pseudo: What the bounds say.
        sd: ``k`` standard deviations of the noise of a measurement.
        score: Log probability of values and bounds, each as the others predict it, in the user's units.
    """

    model: GPyTorchModel
    base: FittedSurrogate
    pseudo: PseudoValues
    sd: Array
    score: float

    @property
    def doubts_a_bound(self) -> bool:
        """Return whether a bound is more probably wrong than right."""
        return bool((self.pseudo.wrong > EVEN).any())

    def appraisals(self, told: Observations, rate: float) -> dict[int, Appraisal]:
        """The appraisals of the bounds, by trial."""
        return appraisals(told, self.base, self.pseudo, self.sd, rate)


def begin_at_values(told: Observations, X: Tensor, base: FittedSurrogate) -> Beginning:
    """Predictions at bounds of a fit to the values alone, from ``n x d`` inputs of all."""
    return Beginning(base, _noise(told, X, base), *joint_prediction(base.model, X[list(told.bounds)]))


def begin_at_vague_bounds(told: Observations, base: FittedSurrogate) -> Beginning:
    """Predictions at bounds of a fit for which they are `vague_values`, each without what these say."""
    mean, covariance = base.model.without(torch.tensor(told.bounds))
    noise, bounds = _noise(told, base.X, base), list(told.bounds)
    if len(values := np.setdiff1d(np.arange(len(noise)), bounds)):
        noise[bounds] = noise[bounds].clamp_max(noise[values].max())  # a warp stretches that of a value far beyond
    return Beginning(base, noise, mean.numpy(), covariance.numpy())


def vague_values(told: Observations, units: Units) -> tuple[Tensor, Tensor]:
    """``n`` values in a model's units, those of bounds as far beyond as values differ, and the variances of these."""
    Y = torch.tensor([units.to_model(float(value)) for value in told.values], dtype=torch.float64)
    variance, rows = torch.zeros_like(Y), list(told.bounds)
    Y[rows] -= BEYOND * torch.from_numpy(directions(told, units))
    variance[rows] = VAGUE  # eq. 18.7
    return Y, variance


def _noise(told: Observations, X: Tensor, base: FittedSurrogate) -> Tensor:
    """``n`` noise variances: as they were told, or else as a fit has learned them."""
    fixed, share = noise_of_all(told, base.units)
    return fixed + share * noise_variances(base.model, X) if share.any() else fixed


def fit_to_bounds(told: Observations, X: Tensor, begin: Beginning, rate: float, build: Build) -> BoundsFit:
    """The fit to values and bounds.

    Args:
        told: Values and bounds.
        X: ``n x d`` inputs of all.
        begin: What is known of the latent values at the bounds.
        rate: How many bounds are wrong.
        build: Fits a model in some units to ``n`` values with ``n`` noise variances, beginning where another ended.
    """
    base, noise, m, C = begin
    bounds, at = bound_rows(told, base.units, base.observations.values, rate), X[list(told.bounds)]
    sd = noise[bounds.rows].sqrt().numpy()
    values = X.new_tensor([base.units.to_model(float(v)) for v in told.values])
    pseudo, model, last, rounds = pseudo_values(m, C, bounds.bounds(sd)), None, m, list[BoundsFit]()
    for _ in range(ROUNDS):
        Y, Yvar = values.clone(), noise.clone()
        Y[bounds.rows], Yvar[bounds.rows] = torch.from_numpy(pseudo.y), torch.from_numpy(pseudo.variance)
        model = build(base.units, Y, Yvar, model)
        mean, covariance = joint_prediction(model, at)
        m, C = _without_bounds(model, bounds.rows, mean, covariance, pseudo)
        is_settled = (np.abs(mean - last) < SETTLED * np.sqrt(C.diagonal())).all()
        pseudo, last = pseudo_values(m, C, bounds.bounds(sd)), mean
        score = _score(model, base.units, bounds, pseudo, values.numpy())
        rounds.append(BoundsFit(model, base, pseudo, sd, score))
        if is_settled:
            break
    return max(rounds, key=lambda fit: fit.score) if rounds[-1].doubts_a_bound else rounds[-1]


def _without_bounds(
    model: Any, rows: list[int], mean: Array, covariance: Array, pseudo: PseudoValues
) -> tuple[Array, Array]:
    """Means and covariance of the latent values at bounds, as a model's other observations predict them."""
    if contract.capabilities(model).mixes_noise and model.is_named:
        return tuple(part.numpy() for part in model.without(torch.tensor(rows)))
    return without_sites(mean, covariance, pseudo.y, pseudo.variance)


def _score(model: GPyTorchModel, units: Units, bounds: BoundRows, pseudo: PseudoValues, y: Array) -> float:
    """Log probability of values and bounds, each as the others predict it, where it may be wrong; in the user's units.

    Args:
        model: A fit to both.
        units: Its units.
        bounds: The bounds.
        pseudo: What they say, and how probable each is by the others.
        y: ``n`` values, and limits, in these units.
    """
    rows, rate = np.setdiff1d(np.arange(len(y)), bounds.rows), float(bounds.eps.max())
    diagnosis = contract.diagnose(by_fits(model))
    right = stats.norm.logpdf(y[rows], diagnosis.expected.numpy()[rows], diagnosis.sd.numpy()[rows])
    center, scale = center_and_spread(y)
    with np.errstate(divide="ignore"):
        wrong = np.log(rate) + stats.cauchy.logpdf(y[rows], center, WIDTH * scale)
    of_values = np.logaddexp(np.log1p(-rate) + right, wrong)
    of_bounds = np.logaddexp(bounds.log_b, np.log1p(-bounds.eps) - pseudo.evidence)
    return float(of_values.sum() + of_bounds.sum() - len(rows) * math.log(units.scale))  # eq. 18.8
