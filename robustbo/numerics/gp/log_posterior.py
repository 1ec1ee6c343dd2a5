"""The log posterior density of a GP's hyperparameters and of its observations' own variances, and its derivatives.

Notation (no batch dimensions: a search is one search):
    K      n x n  covariance of the latent values
    s2     n      noise variances
    theta  p      logarithms of the kernel's hyperparameters, then log s2 unless the noise is known, then the warp's t
    rho    n      added variances, zero outside the support
    Sg     n x n  K + diag(s2 + rho)
    F             log posterior density: log marginal likelihood L plus log prior densities, of outcomes as they were

References:
    docs/equations.md section 6.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.covariance import Covariance, CovarianceFunction
from robustbo.numerics.gp.evidence import Evidence, evidence
from robustbo.numerics.gp.parameters import Block, LogNormal
from robustbo.numerics.gp.replicates import Groups
from robustbo.numerics.gp.warp import WarpedOutcomes
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

LOG_S2 = (math.log(1e-4), math.log(1e4))  # the lower bound is BoTorch's, on standardized outcomes


class Model(NamedTuple):
    """Observations, covariance function and priors: what stays fixed in a search for hyperparameters.

    Attributes:
        y: ``n`` observations, standardized; before the warp, where there is one.
        covariance: Of the latent values.
        s2_prior: Prior of the noise variance.
        s2_known: ``n`` known noise variances, likewise; the noise is not searched then.
        s2_parts: Where the noise is known for some alone, or some are means: ``n`` known noise variances (else 0), and
            ``n`` shares of the searched one (0 where it is known, 1/k for a mean of k).
        cleared: ``n`` booleans: the observations that need no variance of their own, whatever they would gain by it.
        groups: Which observations are right or wrong together.
        warp: The coordinates of the observations' warp, `warp.FREE` or `warp.fixed_warp`; none where there is no warp.
        s2_least: The least noise variance that is searched: that of rounding (`resolution`), or the least that matters.
    """

    y: Tensor
    covariance: CovarianceFunction
    s2_prior: LogNormal
    s2_known: Tensor | None = None
    cleared: Tensor | None = None
    groups: Groups = Groups()
    warp: tuple[Block, ...] = ()
    s2_least: float = 0.0
    s2_parts: tuple[Tensor, Tensor] | None = None

    @property
    def blocks(self) -> list[Block]:
        """Blocks of theta beside those of the covariance: noise and warp."""
        noise = [noise_block(self.s2_prior, self.s2_least)] if self.s2_known is None else []
        return [*noise, *self.warp]

    @property
    def starts(self) -> list[Tensor]:
        """Values of theta at which cold searches begin, the most plausible first."""
        return parameters.starts(self.blocks, self.covariance.starts)

    @property
    def is_informed(self) -> bool:
        """Return whether the covariance has tangents, which the information needs."""
        return self.covariance.prior_precision is not None

    @property
    def prior_precision(self) -> Tensor | None:
        """``p`` negative second derivatives of the log prior; None where the covariance does not tell its own."""
        head = self.covariance.prior_precision
        return None if head is None else torch.cat([head, head.new_tensor(parameters.prior_precisions(self.blocks))])

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of theta."""
        return self.covariance.bounds + parameters.bounds(self.blocks)

    @property
    def num_free(self) -> int:
        """Number of hyperparameters, the mean included; without those of the warp, which costs by its prior alone."""
        return len(self.bounds) + 1 - len(self.warp)

    def warp_at(self, theta: Tensor) -> WarpedOutcomes | None:
        """The observations' warp at some hyperparameters; None where there is none, or it is held straight."""
        t = theta.tolist()[len(theta) - len(self.warp) :]
        is_straight = not any(t) and all(block.bounds == (0.0, 0.0) for block in self.warp)
        return None if is_straight else WarpedOutcomes(self.y.numpy(), t)


@lru_cache
def noise_block(s2_prior: LogNormal, least: float = 0.0) -> Block:
    """The noise variance that is searched."""
    low, high = LOG_S2
    low = min(max(low, math.log(least)), high) if least > 0 else low
    return Block("s2", (max(s2_prior.log_mode, low),), (low, high), s2_prior)


class LogPosterior(NamedTuple):
    """The log posterior density at some theta and rho, and what its derivatives need.

    Attributes:
        F: Log posterior density.
        theta: ``p`` hyperparameters.
        y: ``n`` observations, warped.
        s2: ``n`` noise variances, of these.
        covariance: Of the latent values.
        evidence: Log marginal likelihood, and what its factorization gives.
        members: ``n`` booleans: which observations have, or may have, a variance of their own.
        warp: The observations' warp, where there is one.
    """

    F: float
    theta: Tensor
    y: Tensor
    s2: Tensor
    covariance: Covariance
    evidence: Evidence
    members: NDArray[np.bool_]
    warp: WarpedOutcomes | None


def log_posterior(
    model: Model,
    theta: Tensor,
    rho: Tensor,
    m: Tensor | None = None,
    support: Tensor | None = None,
    bend: WarpedOutcomes | None = None,
) -> LogPosterior:
    """Log marginal likelihood plus log prior densities; -inf where the covariance is not positive definite.

    Args:
        model: What stays fixed.
        theta: ``p`` hyperparameters.
        rho: ``n`` added variances.
        m: Constant mean; the best one by default.
        support: Indices of the observations that may have a variance of their own; those that have one by default.
        bend: The observations' warp there, where it is at hand.
    """
    p = len(model.covariance.bounds)
    covariance, bend = model.covariance.at(theta[:p]), model.warp_at(theta) if bend is None else bend
    s2 = noise(model, theta, bend)
    log_prior = covariance.log_prior + parameters.log_prior(model.blocks, theta.tolist()[p:])
    y = model.y if bend is None else torch.from_numpy(bend.y)
    Sg = lapack.on_diagonal(covariance.K.numpy().copy(), s2.numpy() + rho.numpy())
    marginal = evidence(torch.from_numpy(Sg), y, m, is_spent=True)
    F, members = marginal.L.item() + log_prior, rho.numpy() > 0
    members[[] if support is None else support.numpy()] = True
    if bend is not None:
        F += bend.log_jacobian(members)
    F = F if marginal.converged and math.isfinite(F) else -math.inf
    return LogPosterior(F, theta, y, s2, covariance, marginal, members, bend)


def gradient(model: Model, value: LogPosterior) -> tuple[Tensor, Tensor]:
    """The gradient of F in theta (``p``) and rho (``n``)."""
    G = value.evidence.G
    slopes, F_rho = value.covariance.pullback(G), G.diagonal()
    if model.s2_known is None:
        on_noise = float(F_rho.numpy() @ free_noise(model, value).numpy())  # eq. 6.22
        on_noise += model.s2_prior.slope(value.theta[len(slopes)].item())
        slopes = torch.from_numpy(np.append(slopes.numpy(), on_noise))
    return torch.from_numpy(np.append(slopes.numpy(), _on_warp(model, value, F_rho.numpy()))), F_rho


def _on_warp(model: Model, value: LogPosterior, F_rho: Array) -> Array:
    """The ``2`` derivatives of F in the warp's coordinates."""
    if value.warp is None:
        return np.zeros(len(model.warp))
    slopes = -value.evidence.al.numpy() * value.warp.y_t  # eq. 17.5
    if model.s2_known is not None or model.s2_parts is not None:
        fixed = value.s2 if model.s2_known is not None else value.s2 - free_noise(model, value)
        slopes += F_rho * fixed.numpy() * 2 * value.warp.log_slope_t
    on_prior = np.array(parameters.prior_slopes(model.warp, value.theta.tolist()[-len(model.warp) :]))
    return value.warp.by_side(slopes) + value.warp.log_jacobian_slopes(value.members) + on_prior


def information(
    model: Model, value: LogPosterior, support: Tensor, slope: Tensor, on_warp: Array | None = None
) -> Tensor:
    """The average of the likelihood's observed and expected information about theta and the variances of a support.

    With V_a the derivative of Sg and al = P (y - m), its elements are al' V_a Pm V_b al / 2, Pm being P with the
    constant mean projected out: positive semi-definite, without a trace, and as cheap as a gradient. A coordinate of
    the warp enters by sqrt 2 times the derivatives of the observations in place of V_a al, and the other sign.

    Args:
        model: What stays fixed; its covariance must have tangents.
        value: Where.
        support: ``k`` indices.
        slope: ``k`` derivatives of rho in the search's variables.
        on_warp: ``2 x n`` derivatives of rho in the coordinates of the warp, where there is one.

    Returns:
        ``(p + k) x (p + k)`` matrix.

    References:
        Gilmour, Thompson and Cullis (1995), Average information REML.
    """
    al, P, P1 = (part.numpy() for part in (value.evidence.al, value.evidence.P, value.evidence.P1))
    assert value.covariance.tangents is not None
    rows, indices = [value.covariance.tangents(value.evidence.al).numpy()], support.numpy()
    if model.s2_known is None:
        rows.append((free_noise(model, value).numpy() * al)[None])
    if value.warp is None:
        rows.append(np.zeros((len(model.warp), len(al))))
    else:
        by_noise = 0.0 if on_warp is None else on_warp * al
        rows.append(by_noise - math.sqrt(2) * value.warp.apart(value.warp.y_t))  # eq. 17.6
    shared, own = np.concatenate(rows), slope.numpy() * al[indices]  # V_a al: its numbers, or the only one not zero
    p, m = len(shared), len(shared) + len(own)
    SP, OP, A, on_mean = shared @ P, own[:, None] * P[indices], np.empty((m, m)), np.empty(m)
    A[:p, :p], A[p:, :p], A[p:, p:] = SP @ shared.T, OP @ shared.T, OP[:, indices] * own
    A[:p, p:] = A[p:, :p].T
    on_mean[:p], on_mean[p:] = shared @ P1, own * P1[indices]
    return torch.from_numpy(0.5 * (A - on_mean[:, None] * on_mean / P1.sum()))


def noise(model: Model, theta: Tensor, bend: WarpedOutcomes | None = None) -> Tensor:
    """``n`` noise variances at some hyperparameters: known, or one for all; of warped observations by their warp."""
    if model.s2_known is None and model.s2_parts is None:
        return new_noise(model, theta).expand_as(model.y)
    bend = model.warp_at(theta) if bend is None else bend
    if model.s2_parts is not None:
        fixed, share = model.s2_parts
        fixed = fixed if bend is None else fixed * torch.from_numpy(np.exp(2 * bend.log_slope))
        return fixed + share * new_noise(model, theta)  # eq. 6.21
    assert model.s2_known is not None
    return model.s2_known if bend is None else model.s2_known * torch.from_numpy(np.exp(2 * bend.log_slope))


def new_noise(model: Model, theta: Tensor) -> Tensor:
    """The noise variance of a single measurement that is searched."""
    return theta[len(model.covariance.bounds)].exp()


def free_noise(model: Model, value: LogPosterior) -> Tensor:
    """``n`` parts of the noise variances that are searched: their derivatives in the logarithm of the noise."""
    return value.s2 if model.s2_parts is None else model.s2_parts[1] * new_noise(model, value.theta)
