"""The log posterior density of a GP's hyperparameters and of its observations' own variances, and its derivatives.

Notation (no batch dimensions: a search is one search):
    K      n x n  covariance of the latent values
    s2     n      noise variances
    theta  p      logarithms of the kernel's hyperparameters, then log s2 unless the noise is known
    rho    n      added variances, zero outside the support
    Sg     n x n  K + diag(s2 + rho)
    F             log posterior density: log marginal likelihood L plus log prior densities

References:
    docs/equations.md section 6.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.covariance import Covariance, CovarianceFunction
from robustbo.numerics.gp.evidence import Evidence, evidence
from robustbo.numerics.gp.parameters import Block, LogNormal
from robustbo.numerics.linalg import lapack

LOG_S2 = (math.log(1e-4), math.log(1e4))  # the lower bound is BoTorch's, on standardized outcomes


class Model(NamedTuple):
    """What stays fixed in a search.

    Attributes:
        y: ``n`` observations, standardized.
        covariance: Of the latent values.
        s2_prior: Prior of the noise variance.
        s2_known: ``n`` known noise variances; the noise is not searched then.
        cleared: ``n`` booleans: the observations that need no variance of their own, whatever they would gain by it.
        alike: Sets of observations of one recurring value; see `replicates.recurring`.
    """

    y: Tensor
    covariance: CovarianceFunction
    s2_prior: LogNormal
    s2_known: Tensor | None = None
    cleared: Tensor | None = None
    alike: tuple[frozenset[int], ...] = ()

    @property
    def blocks(self) -> list[Block]:
        """What there is of theta beside the covariance's."""
        return [noise_block(self.s2_prior)] if self.s2_known is None else []

    @property
    def starts(self) -> list[Tensor]:
        """Where cold searches begin, the most plausible first."""
        return parameters.starts(self.blocks, self.covariance.starts)

    @property
    def is_informed(self) -> bool:
        """Whether the covariance knows its tangents, which the information needs."""
        return self.covariance.prior_precision is not None

    @property
    def prior_precision(self) -> Tensor | None:
        """``p`` negative second derivatives of the log prior; None where the covariance does not tell its own."""
        head = self.covariance.prior_precision
        return None if head is None else torch.cat([head, head.new_tensor(parameters.prior_precisions(self.blocks))])

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Of theta."""
        return self.covariance.bounds + parameters.bounds(self.blocks)


@lru_cache
def noise_block(s2_prior: LogNormal) -> Block:
    """The noise variance that is searched."""
    return Block("s2", (s2_prior.log_mode,), LOG_S2, s2_prior)


class Value(NamedTuple):
    """The log posterior density at some theta and rho, and what its derivatives need."""

    F: float
    theta: Tensor
    s2: Tensor
    covariance: Covariance
    evidence: Evidence


def log_posterior(model: Model, theta: Tensor, rho: Tensor, m: Tensor | None = None) -> Value:
    """Log marginal likelihood plus log prior densities; -inf where the covariance is not positive definite.

    The constant mean is the best one unless m is given.
    """
    p = len(model.covariance.bounds)
    covariance = model.covariance.at(theta[:p])
    s2, log_prior = noise(model, theta), covariance.log_prior + parameters.log_prior(model.blocks, theta.tolist()[p:])
    Sg = lapack.on_diagonal(covariance.K.numpy().copy(), s2.numpy() + rho.numpy())
    found = evidence(torch.from_numpy(Sg), model.y, m, is_spent=True)
    F = found.L.item() + log_prior
    return Value(F if found.converged and math.isfinite(F) else -math.inf, theta, s2, covariance, found)


def gradient(model: Model, value: Value) -> tuple[Tensor, Tensor]:
    """The gradient of F in theta (``p``) and rho (``n``)."""
    G = value.evidence.G
    slopes, F_rho = value.covariance.pullback(G), G.diagonal()
    if model.s2_known is None:
        on_noise = float(F_rho.numpy() @ value.s2.numpy()) + model.s2_prior.slope(value.theta[-1].item())
        slopes = torch.from_numpy(np.append(slopes.numpy(), on_noise))
    return slopes, F_rho


def information(model: Model, value: Value, support: Tensor, slope: Tensor) -> Tensor:
    """The average of the likelihood's observed and expected information about theta and the variances of a support.

    With V_a the derivative of Sg and al = P (y - m), its elements are al' V_a Pm V_b al / 2, Pm being P with the
    constant mean projected out: positive semi-definite, without a trace, and as cheap as a gradient.

    Args:
        model: What stays fixed; its covariance must have tangents.
        value: Where.
        support: ``k`` indices.
        slope: ``k`` derivatives of rho in the search's variables.

    Returns:
        ``(p + k) x (p + k)`` matrix.

    References:
        Gilmour, Thompson and Cullis (1995), Average information REML.
    """
    al, P, P1 = (part.numpy() for part in (value.evidence.al, value.evidence.P, value.evidence.P1))
    assert value.covariance.tangents is not None
    rows, chosen = [value.covariance.tangents(value.evidence.al).numpy()], support.numpy()
    if model.s2_known is None:
        rows.append((value.s2.numpy() * al)[None])
    shared, own = np.concatenate(rows), slope.numpy() * al[chosen]  # V_a al: its numbers, or the only one not zero
    p, m = len(shared), len(shared) + len(own)
    SP, OP, A, on_mean = shared @ P, own[:, None] * P[chosen], np.empty((m, m)), np.empty(m)
    A[:p, :p], A[p:, :p], A[p:, p:] = SP @ shared.T, OP @ shared.T, OP[:, chosen] * own
    A[:p, p:] = A[p:, :p].T
    on_mean[:p], on_mean[p:] = shared @ P1, own * P1[chosen]
    return torch.from_numpy(0.5 * (A - on_mean[:, None] * on_mean / P1.sum()))


def noise(model: Model, theta: Tensor) -> Tensor:
    """``n`` noise variances at some hyperparameters: known, or one for all."""
    return theta[-1].exp().expand_as(model.y) if model.s2_known is None else model.s2_known
