"""RCaGP, from its equations: a robust computation-aware process whose few actions are learned with all the rest.

At given actions S its posterior is that of our `computation-aware` (docs/equations.md, eq. 8.5): weights around the
prior mean stretch the noise, and the mean is m + k S inv(S'AS) S'z. Ours takes its actions from a policy and its
hyperparameters from an exact model of some rows. RCaGP learns a block-sparse S, and the hyperparameters, by climbing a
bound: the expected loss under the approximate posterior, and its divergence from the prior.

References:
    Sinaga, Martinelli and Kaski (2025), Robust and computation-aware Gaussian processes (NeurIPS).
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from scipy.stats import norm
from torch import Tensor

SHARE = 0.8  # of the values that lie within the threshold (the authors')
ROWS_AN_ACTION = 4  # the authors have five actions for any table, which sees little of it
STEPS, RATE = 500, 0.02  # of Adam


class Parameters(NamedTuple):
    """Logarithms of length-scales, signal and noise variance; and the entry of each row in S. All are learned."""

    log_lengths: Tensor
    log_signal: Tensor
    log_noise: Tensor
    entries: Tensor


class Projection(NamedTuple):
    """The posterior in the span of the actions.

    Attributes:
        S: ``n x i`` actions.
        SAS: Lower Cholesky factor of S'AS.
        SNS: ``i`` entries of S'NS, which is diagonal.
        u: ``i`` entries of inv(S'AS) S'z.
    """

    S: Tensor
    SAS: Tensor
    SNS: Tensor
    u: Tensor


class RCaGP:
    """The process of ``n x d`` inputs, standardized, and ``n`` targets, centered."""

    def __init__(self, X: Tensor, y: Tensor) -> None:
        n, d = X.shape
        self._X, self._y, self._num_actions = X, y, max(1, n // ROWS_AN_ACTION)
        self._block = torch.arange(n) * self._num_actions // n
        c = y.abs().quantile(SHARE)
        self._weight = 1 / (1 + (y / c).square())  # w^2
        self._slope = -2 * y / c.square() * self._weight.square()  # dw^2 / dy
        draw = torch.Generator().manual_seed(0)
        entries = torch.randn(n, generator=draw, dtype=X.dtype) / math.sqrt(n / self._num_actions)
        begin = (torch.full((d,), math.log(math.sqrt(d))), torch.tensor(0.0), torch.tensor(math.log(0.1)), entries)
        self._parameters = Parameters(*(part.to(X.dtype).requires_grad_() for part in begin))

    def fit(self) -> None:
        """Climb the bound."""
        optimizer = torch.optim.Adam(self._parameters, lr=RATE)
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss = -self.bound() / len(self._y)
            loss.backward()
            optimizer.step()

    def bound(self) -> Tensor:
        """Bound of the log evidence: minus the expected loss, minus the divergence from the prior."""
        s2, w2 = self._parameters.log_noise.exp(), self._weight
        K = self._covariance(self._X, self._X)
        of = self._project(K)
        SKS = of.S.mT @ K @ of.S
        mean, variance = self._moments(K, of)
        error = mean - self._y
        loss = w2 / s2.square() * (error.square() + variance) + 2 / s2 * (error * self._slope - w2)
        trace = torch.cholesky_solve(SKS, of.SAS).diagonal().sum()
        log_det = 2 * of.SAS.diagonal().log().sum() - of.SNS.log().sum()
        return -loss.sum() - 0.5 * (of.u @ SKS @ of.u + log_det - trace)

    def predict(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Means and variances of measurements at ``m x d`` inputs."""
        with torch.no_grad():
            of = self._project(self._covariance(self._X, self._X))
            mean, variance = self._moments(self._covariance(X, self._X), of)
            return mean, variance + self._parameters.log_noise.exp()

    def _project(self, K: Tensor) -> Projection:
        s2, entries = self._parameters.log_noise.exp(), self._parameters.entries
        N = s2.square() / (2 * self._weight)
        z = self._y - s2 * self._slope / self._weight
        S = torch.nn.functional.one_hot(self._block, self._num_actions) * entries.unsqueeze(-1)
        SNS = (S.square() * N.unsqueeze(-1)).sum(0)
        L = torch.linalg.cholesky(S.mT @ K @ S + torch.diag(SNS))
        u = torch.cholesky_solve((S.mT @ z).unsqueeze(-1), L).squeeze(-1)
        return Projection(S, L, SNS, u)

    def _moments(self, k: Tensor, of: Projection) -> tuple[Tensor, Tensor]:
        kS = k @ of.S
        explained = torch.linalg.solve_triangular(of.SAS, kS.mT, upper=False).square().sum(0)
        return kS @ of.u, (self._parameters.log_signal.exp() - explained).clamp_min(0.0)

    def _covariance(self, X: Tensor, Z: Tensor) -> Tensor:
        lengths = self._parameters.log_lengths.exp()
        X, Z = X / lengths, Z / lengths
        squares = X.square().sum(-1, keepdim=True) + Z.square().sum(-1) - 2 * X @ Z.mT
        r = (5 * squares).clamp_min(1e-12).sqrt()  # a distance of 0 has a gradient, too
        return self._parameters.log_signal.exp() * (1 + r + r.square() / 3) * (-r).exp()


def predict(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and log densities of the rows held out, in the units of the targets, of which the median is 0."""
    process = RCaGP(torch.from_numpy(X), torch.from_numpy(y))
    process.fit()
    mean, variance = (part.numpy() for part in process.predict(torch.from_numpy(X_test)))
    return mean, norm.logpdf(y_test, mean, np.sqrt(variance))
