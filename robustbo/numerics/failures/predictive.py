"""What the model of failures says of other points, and of each trial by all the others.

Notation (no batch dimensions), beside that of `likelihood`:
    k    q x n   prior covariances of new points with the trials
    mu   q       means of the latent values, m + k a
    v    q       their variances, s2f - k' R k
    u    q       mu / sqrt(1 + v), so that a point is viable with probability Phi(u)

References:
    docs/equations.md section 15.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import log_ndtr
from torch import Tensor

from robustbo.numerics.failures.likelihood import E0
from robustbo.numerics.failures.map_fit import Value
from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.linalg.lapack import Array

LEAST = 1e-12  # variance of a latent value, of a signal variance


class Predictor(NamedTuple):
    """A fitted model of failures in numbers.

    Attributes:
        kernel: A name of `KERNELS`.
        l: ``d`` length-scales.
        s2f: Signal variance.
        m: Constant mean.
        e1: Rate of flakes.
        X: ``n x d`` inputs.
        a: ``n`` values of K^-1 f.
        R: ``n x n``; see `laplace.approximation`.
    """

    kernel: str
    l: Tensor
    s2f: Tensor
    m: float
    e1: float
    X: Tensor
    a: Tensor
    R: Tensor

    def log_viable(self, Z: Tensor) -> tuple[Tensor, Tensor]:
        """``q`` log probabilities of a value at ``q x d`` points, exact however small; their ``q x d`` gradients."""
        k, slope = KERNELS[self.kernel](squared_differences(Z, self.X), self.l, self.s2f)
        Rk = k @ self.R
        mu, v = self.m + k @ self.a, self.s2f - (Rk * k).sum(-1)
        is_known = v > LEAST * self.s2f
        root = (1 + torch.where(is_known, v, LEAST * self.s2f)).sqrt()
        u = mu / root
        log_c = math.log1p(-E0 - self.e1)
        log_ok = log_c + torch.special.log_ndtr(u)
        log_p = torch.logaddexp(log_ok, log_ok.new_tensor(math.log(E0)))  # eq. 15.7
        on_u = (log_c - 0.5 * (u.square() + LOG_2PI) - log_p).exp()
        on_k = (on_u / root)[:, None] * (self.a + (mu / root.square() * is_known)[:, None] * Rk)  # eq. 15.8
        pull = 2 * on_k * slope  # by half of the squared distances
        gradient = (pull.sum(-1, keepdim=True) * Z - pull @ self.X) / self.l.square()
        return log_p, gradient


def log_odds(value: Value) -> Array:
    """``n`` logarithms of the odds that a trial there fails by a flake, not by its point, if it fails; by the others.

    Returns:
        log(e1 Phi(u)) - log((1 - e0) Phi(-u)), with u by all trials but this one.
    """
    log_e1, m = value.x.tolist()[-2:]
    u = left_out(value, m)
    return log_e1 + log_ndtr(u) - math.log1p(-E0) - log_ndtr(-u)  # eq. 15.10


def left_out(value: Value, m: float) -> Array:
    """``n`` values of u at each trial, by all others."""
    at = value.laplace
    v, W, a, f = (part.numpy() for part in (at.v, at.W, at.a, at.f))
    prior = np.einsum("ii->i", value.covariance.K.numpy())
    share = 1 - W * v
    is_there = share > LEAST
    cavity = np.where(is_there, v / np.where(is_there, share, 1.0), prior)  # eq. 15.9
    mu = m + np.where(is_there, f - a * cavity, 0.0)
    return mu / np.sqrt(1 + np.maximum(cavity, 0.0))
