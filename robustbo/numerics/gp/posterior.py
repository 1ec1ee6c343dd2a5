"""Posteriors of latent values given data, and fitted Gaussian processes in numbers, for explicit formulas.

Notation (shapes after any leading batch dimensions: of the processes, or of one process's points):
    X, Z   q x d, m x d   points
    k      q x n          prior covariance of new points with the inputs of the data
    P      n x n          inverse covariance of the observations
"""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from robustbo.numerics.gp.kernels import KERNELS, squared_differences

LEAST = 1e-12  # of the signal variance: what rounding leaves of a variance is no less
AT_ONCE = 256  # points whose covariances with the inputs are held at a time


class Posterior(Protocol):
    """A posterior of latent values given data, however it is represented: dense, factored, or of low rank.

    A component of a mixture is a weight and one of these.
    """

    def explain(self, k: Tensor) -> tuple[Tensor, Tensor]:
        """Move of the mean by the data, and reduction of the covariance by them.

        Args:
            k: ``... x q x n`` prior covariances of latent values with those at the inputs of the data.

        Returns:
            ``... x q`` and ``... x q x q``.
        """


class LatentProcess(NamedTuple):
    """A Gaussian process given data: kernel, constant mean, inputs, and what the data's covariance gives.

    Attributes:
        kernel: A name of `KERNELS`.
        l: ``... x d`` length-scales.
        s2f: ``...`` signal variances.
        m: ``...`` constant means.
        X: ``n x d`` inputs.
        root: ``... x r x n``: its transpose times itself is P. Nobody computes P: see `lapack.inverse_root`.
        al: ``... x n`` values of P (y - m).
        partner: ``... x r x n``, whose transpose times the root is P, where P is not positive semi-definite.
    """

    kernel: str
    l: Tensor
    s2f: Tensor
    m: Tensor
    X: Tensor
    root: Tensor
    al: Tensor
    partner: Tensor | None = None

    def covariance(self, X: Tensor, Z: Tensor) -> Tensor:
        """Prior covariance of latent values at points: autograd can follow it.

        Args:
            X: ``q x d`` points; of one process with any leading batch dimensions.
            Z: ``m x d`` points; likewise.
        """
        return KERNELS[self.kernel](squared_differences(X, Z), self.l, self.s2f).K

    def posterior(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Mean (``... x q``) and covariance (``... x q x q``) of one process's latent values at ``... x q x d``."""
        k = self.covariance(X, self.X)
        return self.mean(k), self.posterior_covariance(X, k)

    def mean(self, k: Tensor) -> Tensor:
        """Means of one process, ``... x q``, by the prior covariances of the points with the inputs."""
        return self.m + k @ self.al

    def posterior_covariance(self, X: Tensor, k: Tensor) -> Tensor:
        """Covariance of one process, ``... x q x q``, at ``... x q x d`` points; k as for `mean`."""
        return self.covariance(X, X) - self._reduction(k)

    def variances(self, k: Tensor) -> Tensor:
        """Variances of one process, ``... x q``; one that is none but for rounding is `LEAST` of the signal's."""
        left, right = self.projections(k)
        return (self.s2f - (left * right).sum(-1)).maximum(LEAST * self.s2f)

    def marginals(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Means and variances of one process's latent values at ``q x d`` points, ``q`` each, in O(q n^2).

        The memory beside it is that of `AT_ONCE` rows.
        """
        means, variances = [], []
        for part in X.split(AT_ONCE):
            k = self.covariance(part, self.X)
            means.append(self.mean(k))
            variances.append(self.variances(k))
        return torch.cat(means), torch.cat(variances)

    def noise(self, X: Tensor, s2: float) -> Tensor:
        """``q`` noise variances at ``q x d`` points: the same at each."""
        return X.new_tensor(s2).expand(len(X))

    def explain(self, k: Tensor) -> tuple[Tensor, Tensor]:
        """See `Posterior.explain`; of one process."""
        return k @ self.al, self._reduction(k)

    def projections(self, k: Tensor) -> tuple[Tensor, Tensor]:
        """Two ``... x q x r`` matrices, the first of which times the other's transpose is k P k'; mostly the same."""
        right = k @ self.root.mT
        return right if self.partner is None else k @ self.partner.mT, right

    def _reduction(self, k: Tensor) -> Tensor:
        left, right = self.projections(k)
        return left @ right.mT
