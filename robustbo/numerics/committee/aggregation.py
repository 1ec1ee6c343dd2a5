"""Predictions of several Gaussian process experts made into one.

Every rule adds up what experts say, so that experts may be summed in parts, in different places.

Notation (shapes after any leading batch dimensions):
    mu     M x m  latent means of M experts at m points, less the prior's
    v      M x m  latent variances
    v0     m      prior variances
    beta   M x m  how much each expert counts
    w      M x m  weights, beta / v made to add up to 1
    rho    m      mean correlation of the experts' errors (`errors.correlation`)
    n             observations of an expert

References:
    Deisenroth and Ng (2015), Distributed Gaussian processes; Mair and Brefeld (2018), Distributed robust Gaussian
    process regression; docs/equations.md section 9.
"""

from typing import NamedTuple

import torch
from torch import Tensor

LEAST = 1e-12  # of the prior's variance: no expert is surer


class ExpertPrediction(NamedTuple):
    """Latent means (less the prior's) and variances."""

    mean: Tensor
    variance: Tensor


class Experts(NamedTuple):
    """Factors of the experts, from which predictions follow.

    The variance at x is k** - k'J^-1 D(W) k with J = I + D(W) K, in this order: the inverse of K + D(W)^-1 itself would
    lose all digits where the signal is large beside the noise.

    Attributes:
        a: ``M x n`` representer weights: the latent mean at x is m + k'a.
        W: ``M x n`` curvatures of the likelihood, with their signs; inverse variances where the noise is normal.
        LU: ``M x n x n`` factors of J.
        pivots: ``M x n`` likewise.
    """

    a: Tensor
    W: Tensor
    LU: Tensor
    pivots: Tensor

    def part(self, rows: slice) -> "Experts":
        """Some of them."""
        return Experts(*(x[rows] for x in self))

    def mean(self, k: Tensor) -> Tensor:
        """``... M x q`` latent means (less m), from ``... M x q x n`` prior covariances with their observations."""
        return (k @ self.a.unsqueeze(-1)).squeeze(-1)

    def explain(self, k: Tensor) -> tuple[Tensor, Tensor]:
        """See `gp.posterior.Posterior`; each by itself, from ``... M x q x n`` covariances."""
        return self.mean(k), k @ self.interpolation_weights(k)

    def interpolation_weights(self, k: Tensor) -> Tensor:
        """``... M x n x q`` J^-1 D(W) k."""
        Wk = (k * self.W.unsqueeze(-2)).mT
        batch = Wk.shape[:-2]
        return torch.linalg.lu_solve(self.LU.expand(*batch, -1, -1), self.pivots.expand(*batch, -1), Wk)

    def variance(self, k: Tensor, v0: Tensor) -> Tensor:
        """``... M x q`` latent variances, of the same and ``... M x q`` prior variances."""
        return (v0 - (k * self.interpolation_weights(k).mT).sum(-1)).maximum(LEAST * v0)


def latent(k: Tensor, experts: Experts, v0: Tensor) -> ExpertPrediction:
    """``... M x q`` means and variances of the experts, each by itself.

    Args:
        k: ``... M x q x n`` prior covariances of the points with each expert's observations.
        experts: The experts.
        v0: ``... q`` prior variances.
    """
    return ExpertPrediction(experts.mean(k), experts.variance(k, v0.unsqueeze(-2)))


def entropy_weights(v: Tensor, v0: Tensor) -> Tensor:
    """Half the difference of differential entropies of prior and posterior, at least 0.

    With signed curvatures an expert can be less sure than the prior; it does not count then.
    """
    return (0.5 * (v0.unsqueeze(-2).log() - v.log())).clamp_min(0.0)  # eq. 9.2


class Sums(NamedTuple):
    """Sums over experts, ``m`` each.

    Attributes:
        beta: Of beta.
        precision: Of beta / v.
        pull: Of beta mu / v.
        reduction: Of beta (v0 - v) / v.
        square: Of beta^2 / v.
        root: Of beta / sqrt v.
        spread: Of beta^2 (1 - v / v0) / v.
    """

    beta: Tensor
    precision: Tensor
    pull: Tensor
    reduction: Tensor
    square: Tensor
    root: Tensor
    spread: Tensor

    def plus(self, other: "Sums") -> "Sums":
        """Add the sums of more experts."""
        return Sums(*(own + more for own, more in zip(self, other, strict=True)))


class Rule(NamedTuple):
    """Rule by which the predictions of experts become one.

    Attributes:
        is_entropy: Whether an expert counts by `entropy_weights`, or all count alike.
        is_averaged: Whether what experts count is made to add up to 1.
        is_prior_shared: Whether the prior counts once, and not once an expert.
        is_correlated: Whether the experts' errors are taken for correlated; the other three are then of no account but
            the first.
    """

    is_entropy: bool = False
    is_averaged: bool = False
    is_prior_shared: bool = False
    is_correlated: bool = False

    def sums(self, mu: Tensor, v: Tensor, v0: Tensor) -> Sums:
        """Sum what the experts predict."""
        beta = entropy_weights(v, v0) if self.is_entropy else torch.ones_like(v)
        precision, explained = beta / v, v0.unsqueeze(-2) - v
        square, root = beta * precision, beta / v.sqrt()
        spread = square * explained / v0.unsqueeze(-2)
        terms = beta, precision, beta * mu / v, precision * explained, square, root, spread
        return Sums(*(term.sum(-2) for term in terms))  # eq. 9.1

    def finish(self, sums: Sums, v0: Tensor, rho: Tensor | float = 1.0) -> ExpertPrediction:
        """The prediction; where nobody knows anything, the prior.

        Args:
            sums: What the experts say together.
            v0: ``m`` prior variances.
            rho: ``m`` correlations of the experts' errors, for the rule that minds them.
        """
        if self.is_correlated:
            return _combine_with_correlation(sums, v0, rho)
        beta, precision, pull, *_ = sums
        is_silent = beta == 0
        if self.is_averaged:
            total = beta.masked_fill(is_silent, 1.0)
            beta, precision, pull = beta / total, precision / total, pull / total
        if self.is_prior_shared:
            precision = precision + (1 - beta) / v0  # eq. 9.2
        precision = torch.where(is_silent, 1 / v0, precision)
        return ExpertPrediction(pull / precision, 1 / precision)  # eq. 9.3

    def __call__(self, mu: Tensor, v: Tensor, v0: Tensor, rho: Tensor | float = 1.0) -> ExpertPrediction:
        """The prediction of experts that are all here."""
        return self.finish(self.sums(mu, v, v0), v0, rho)


def _combine_with_correlation(sums: Sums, v0: Tensor, rho: Tensor | float) -> ExpertPrediction:
    """The best linear prediction from the experts' average, whose errors are correlated."""
    is_silent = sums.beta == 0
    total = sums.precision.masked_fill(is_silent, 1.0)
    average, u, gain = sums.pull / total, sums.beta / total, sums.reduction / total
    V = ((1 - rho) * sums.square + rho * sums.root.square()) / total.square()  # eq. 9.8
    least = gain.square() / v0 + sums.spread / total.square()  # eq. 9.10
    spread = torch.maximum(gain + V - u, least).masked_fill(is_silent, 1.0)  # eq. 9.9
    scale = gain / spread  # eq. 9.11
    return ExpertPrediction(scale * average, (v0 - scale * gain).maximum(LEAST * v0))


def correlation(C: Tensor) -> Tensor:
    """``... x q x q`` correlations of covariances."""
    sd = C.diagonal(dim1=-2, dim2=-1).clamp_min(torch.finfo(C.dtype).tiny).sqrt()
    return C / sd.unsqueeze(-1) / sd.unsqueeze(-2)


COMBINE = {
    "poe": Rule(),  # product of experts: surer with every expert, even far from all data
    "gpoe": Rule(is_averaged=True),  # generalized product of experts, weights 1 / M
    "entropy-gpoe": Rule(is_entropy=True),
    "normalized-entropy-gpoe": Rule(is_entropy=True, is_averaged=True),
    "bcm": Rule(is_prior_shared=True),  # Bayesian committee machine
    "rbcm": Rule(is_entropy=True, is_prior_shared=True),  # the robust one
    "calibrated": Rule(is_entropy=True, is_correlated=True),  # ours: experts' errors are correlated
}
