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
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.covariance import Covariance
from robustbo.numerics.gp.evidence import Evidence, evidence
from robustbo.numerics.gp.model import Model, new_noise, noise
from robustbo.numerics.gp.warp import WarpedOutcomes
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array


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
    if support is not None:
        members[support.numpy()] = True
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
    if model.warp:
        slopes = torch.from_numpy(np.append(slopes.numpy(), _on_warp(model, value, F_rho.numpy())))
    return slopes, F_rho


def _on_warp(model: Model, value: LogPosterior, F_rho: Array) -> Array:
    """The ``3`` derivatives of F in the warp's coordinates."""
    if value.warp is None:
        return np.zeros(len(model.warp))
    slopes = value.warp.log_jacobian_slopes(value.members) - value.warp.y_t @ value.evidence.al.numpy()  # eq. 17.5
    if model.s2_known is not None or model.s2_parts is not None:
        fixed = value.s2 if model.s2_known is not None else value.s2 - free_noise(model, value)
        slopes += value.warp.log_slope_t @ (F_rho * fixed.numpy() * 2)
    return slopes + np.array(parameters.prior_slopes(model.warp, value.theta.tolist()[-len(model.warp) :]))


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
        on_warp: ``3 x n`` derivatives of rho in the coordinates of the warp, where there is one.

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
        rows.append(by_noise - math.sqrt(2) * value.warp.y_t)  # eq. 17.6
    shared, own = np.concatenate(rows), slope.numpy() * al[indices]  # V_a al: its numbers, or the only one not zero
    p, m = len(shared), len(shared) + len(own)
    SP, OP, A, on_mean = shared @ P, own[:, None] * P[indices], np.empty((m, m)), np.empty(m)
    A[:p, :p], A[p:, :p], A[p:, p:] = SP @ shared.T, OP @ shared.T, OP[:, indices] * own
    A[:p, p:] = A[p:, :p].T
    on_mean[:p], on_mean[p:] = shared @ P1, own * P1[indices]
    return torch.from_numpy(0.5 * (A - on_mean[:, None] * on_mean / P1.sum()))


def free_noise(model: Model, value: LogPosterior) -> Tensor:
    """``n`` parts of the noise variances that are searched: their derivatives in the logarithm of the noise."""
    return value.s2 if model.s2_parts is None else model.s2_parts[1] * new_noise(model, value.theta)
