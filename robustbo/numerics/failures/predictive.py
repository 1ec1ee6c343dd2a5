"""Predictions of the model of failures at other points, by samples of the latent values; of failures, by all others.

Notation (no batch dimensions), beside that of `likelihood` and `sampling`:
    k      q x n  prior covariances of new points with the places
    al     n x S  values of (K + jitter)^-1 f of each sample
    mu     q x S  means of the latent values given each sample, m + k al
    v      q      their variance given the latent values of the places, 1 - k' P k
    u      q x S  mu / sqrt(1 / beta^2 + v), so that a point is viable with probability Phi(u)

References:
    docs/equations.md section 15.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import log_ndtr, ndtr
from torch import Tensor

from robustbo.numerics.failures.likelihood import BETA, E0
from robustbo.numerics.failures.map_fit import FailureLogPosterior, FailureModel
from robustbo.numerics.failures.sampling import draw_samples
from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.gp.kernels import FORMS, SLOPES
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

SAMPLES, STEPS = 32, 6
LEAST = 1e-9  # variance of a latent value
TINY = 1e-12  # of a probability that samples agree on


class Predictor(NamedTuple):
    """A fitted model of failures in numbers.

    Attributes:
        kernel: A name of `kernels.FORMS`.
        l: ``d`` length-scales.
        m: Constant mean.
        e1: Rate of flakes.
        X: ``n x d`` inputs, divided by their length-scales.
        al: ``n x S``.
        P: ``n x n`` inverse of K with jitter.
        log_odds: ``n`` logarithms of the odds that what has failed there were flakes, and not the place's doing.
        x: The fit's hyperparameters; see `map_fit`.
    """

    kernel: str
    l: Array
    m: float
    e1: float
    X: Array
    al: Array
    P: Array
    log_odds: Array
    x: Tensor

    def log_viable(self, Z: Tensor) -> tuple[Tensor, Tensor]:
        """``q`` log probabilities of a value at ``q x d`` points, at least log e0; their ``q x d`` gradients."""
        z = Z.detach().numpy() / self.l
        u2 = np.square(z).sum(-1, keepdims=True) + np.square(self.X).sum(-1) - 2 * z @ self.X.T
        k, slope = FORMS[self.kernel](np.maximum(u2, 0), 0.0)
        Pk = k @ self.P
        mu, v = self.m + k @ self.al, 1 - (Pk * k).sum(-1)
        is_known = v > LEAST
        root = np.sqrt(BETA**-2 + np.where(is_known, v, LEAST))[:, None]
        u = mu / root
        share = (1 - E0 - self.e1) / u.shape[-1]
        p = E0 + share * ndtr(u).sum(-1)  # eq. 15.9
        on_u = np.exp(-0.5 * (u * u + LOG_2PI)) * (share / p)[:, None] / root
        on_v = (on_u * mu).sum(-1, keepdims=True) / (root * root) * is_known[:, None]
        pull = SLOPES[self.kernel] * (on_u @ self.al.T + on_v * Pk) * slope  # by minus half of the squared distances
        gradient = (pull @ self.X - pull.sum(-1, keepdims=True) * z) / self.l
        return torch.from_numpy(np.log(p)), torch.from_numpy(gradient)

    def log_odds_at(self, Z: Tensor, k: Array) -> Array:
        """``q`` log odds that ``k`` failures at each of ``q x d`` points that are none of the ``n`` were flakes."""
        viable = np.clip((np.exp(self.log_viable(Z)[0].numpy()) - E0) / (1 - E0 - self.e1), TINY, 1 - TINY)
        return k * math.log(self.e1) + np.log(viable) - math.log1p(-E0) - np.log1p(-viable)  # eq. 15.10


def predictor(
    model: FailureModel, kernel: str, X: Tensor, value: FailureLogPosterior, generator: np.random.Generator
) -> Predictor:
    """Predictor of a fit, by samples.

    Args:
        model: What was fitted.
        kernel: A name of `kernels.FORMS`.
        X: ``n x d`` inputs.
        value: The fit.
        generator: Of the samples.
    """
    *_, log_e1, m = value.x.tolist()
    e1 = math.exp(log_e1)
    K = value.covariance.K.numpy()
    C, zeta = draw_samples(K, m, model.outcomes, e1, value.approximation, SAMPLES, STEPS, generator)
    u = value.approximation.u  # beta s h, by all others: of failures s is -1
    odds = model.outcomes.k * log_e1 + log_ndtr(-u) - math.log1p(-E0) - log_ndtr(u)  # eq. 15.10
    odds = np.where(model.outcomes.is_ok, -math.log(E0), odds)
    inverse = lapack.forward(C, np.eye(len(C)))
    al, P = inverse.T @ zeta, inverse.T @ inverse
    l = value.x[:-2].exp().numpy()
    return Predictor(kernel, l, m, e1, X.numpy() / l, al, P, odds, value.x)
