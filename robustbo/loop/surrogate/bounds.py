"""Bounds among observations in the units of a model: what is predicted there, and how each is appraised."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from botorch.models.gpytorch import GPyTorchModel
from torch import Tensor

from robustbo.censored import CensoredValue, is_bound
from robustbo.loop.observations.expectation import Appraisal
from robustbo.loop.observations.table import Observations
from robustbo.loop.observations.units import Units
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.censored.sites import Bounds, PseudoValues, verdict
from robustbo.numerics.linalg.lapack import Array
from robustbo.surrogates.common import contract
from robustbo.surrogates.common.model_averaging import by_fits

LEAST_NOISE = 1e-6  # standard deviation of the noise, in units of the outcomes' spread
EVEN = 0.5  # probability of being wrong above which a bound is disbelieved
TO_ROBUST_SD = 1.4826  # of a median distance, where values are normal


class BoundRows(NamedTuple):
    """The bounds among observations, in the units of a model that sees larger as better.

    Attributes:
        rows: Their indices.
        c: Their limits.
        s: 1 where the value is at most its limit there, -1 where it is at least.
        log_b: Logarithms of the probability that a bound is wrong and kept.
        eps: Prior probabilities that a bound is wrong.
    """

    rows: list[int]
    c: Array
    s: Array
    log_b: Array
    eps: Array

    def bounds(self, sd: Array) -> Bounds:
        """The bounds, with the noise of a measurement at each."""
        return Bounds(self.c, self.s, sd, self.log_b, self.eps)


def directions(told: Observations, units: Units) -> Array:
    """``k`` numbers, 1 where a bound says that the value is at most its limit in a model's units, else -1."""
    signs = [value.sign for i in told.bounds if isinstance(value := told.values[i], CensoredValue)]
    return units.sign * np.array([1.0 if sign == "<" else -1.0 for sign in signs])


def center_and_spread(y: Array) -> tuple[float, float]:
    """The median of some values, and their robust standard deviation; 1 where most are the same."""
    median = float(np.median(y))
    return median, TO_ROBUST_SD * float(np.median(np.abs(y - median))) or 1.0


def bound_rows(told: Observations, units: Units, among: Sequence[float], rate: float) -> BoundRows:
    """The bounds among observations, each wrong at a rate except those that the user vouches for.

    A wrong value has a Cauchy distribution about the median of some values, as wide as their robust standard deviation.

    Args:
        told: Values and bounds.
        units: Of the model.
        among: Those values.
        rate: How many bounds are wrong.
    """
    rows, s = list(told.bounds), directions(told, units)
    c = units.to_model(np.array([float(told.values[i]) for i in rows]))
    median, spread = center_and_spread(units.to_model(np.array([float(v) for v in among])))
    eps = np.array([0.0 if told.numbers[i] in told.vouched else rate for i in rows])
    keeps = np.arctan2(spread, -s * (c - median)) / math.pi  # 1/2 + atan(s (c - median) / spread) / pi, however far
    with np.errstate(divide="ignore"):
        return BoundRows(rows, c, s, np.log(eps * keeps), eps)


def appraisals(
    told: Observations, base: FittedSurrogate, pseudo: PseudoValues, noise_sd: Array, rate: float
) -> dict[int, Appraisal]:
    """The appraisals of bounds, by trial: what is expected there by all else, and how probable it is that one is wrong.

    Args:
        told: Values and bounds.
        base: Whose units the pseudo-values are in.
        pseudo: What the bounds say.
        noise_sd: ``k`` standard deviations of a measurement's noise.
        rate: How many bounds are wrong; where none is, they have no weights.
    """
    sds = torch.from_numpy(np.hypot(pseudo.sd, noise_sd))
    expected, sd = base.in_units(torch.from_numpy(pseudo.mean), sds)
    wrong = pseudo.wrong.clip(0.0, 1.0).tolist()
    rows = zip(told.bounds, expected, sd, pseudo.evidence.tolist(), wrong, strict=True)
    return {
        told.numbers[i]: Appraisal(mean, spread, nats, p > EVEN, 1 - p if rate else None, p)
        for i, mean, spread, nats, p in rows
    }


def appraise_others(
    told: Observations, fitted: FittedSurrogate, appraisals: Mapping[int, Appraisal], rate: float
) -> dict[int, Appraisal]:
    """Appraisals of observations outside a fit, where bounds are appraised by what they say.

    Args:
        told: The observations.
        fitted: The surrogate, fitted to others.
        appraisals: Theirs, by trial, the limits taken for values.
        rate: How many bounds are wrong.
    """
    if not told.bounds:
        return dict(appraisals)
    own = [appraisals[told.numbers[i]] for i in told.bounds]
    mean = fitted.units.to_model(np.array([a.expected for a in own]))
    sd = fitted.units.sd_to_model(np.array([a.sd for a in own]))
    measured = [value for value in fitted.observations.values if not is_bound(value)]
    wrong, evidence = verdict(mean, sd, bound_rows(told, fitted.units, measured, rate).bounds(sd))
    rows = zip(told.bounds, own, wrong.tolist(), evidence.tolist(), strict=True)
    return dict(appraisals) | {
        told.numbers[i]: Appraisal(a.expected, a.sd, nats, p > EVEN, 1 - p if rate else None, p)
        for i, a, p, nats in rows
    }


def noise_variances(model: GPyTorchModel, X: Tensor) -> Tensor:
    """``m`` variances of the noise of a measurement at each point, in the units of the outcomes."""
    (_, noisy), (_, latent) = (contract.marginals(by_fits(model), X, is_noisy) for is_noisy in (True, False))
    return (noisy.square() - latent.square()).clamp_min(LEAST_NOISE**2).detach()


def joint_prediction(model: GPyTorchModel, X: Tensor) -> tuple[Array, Array]:
    """``m`` means and the ``m x m`` covariance of the latent values, in the units of the outcomes: by the model's fits.

    What bounds say is taken out of them again, which holds of a fit, and hardly of draws of the hyperparameters.
    """
    with torch.no_grad():
        normal = by_fits(model).posterior(X).distribution
        return normal.mean.flatten().numpy(), normal.covariance_matrix.numpy()
