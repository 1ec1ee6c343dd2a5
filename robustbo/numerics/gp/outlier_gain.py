"""What one observation gains by an error variance of its own, all else fixed: closed forms, for all at once.

Notation (shapes after any leading batch dimensions):
    e    n   leave-one-out error, observation minus prediction
    v    n   leave-one-out variance, the observation's own added variance removed
    q    n   e^2 / v, the squared standardized error
    rho  n   added variances

References:
    Ament et al. (2024), Robust Gaussian processes via relevance pursuit, Lemma 1; docs/equations.md section 6.
"""

import torch
from torch import Tensor

from robustbo.numerics.gp.leave_one_out import leave_one_out
from robustbo.numerics.gp.log_posterior import Model, Value, log_posterior


def optimal_variance(e: Tensor, v: Tensor) -> Tensor:
    """The added variance that maximizes the likelihood of one observation, the others fixed.

    Args:
        e: ``... x n`` leave-one-out errors.
        v: ``... x n`` leave-one-out variances, positive.

    Returns:
        ``... x n`` values of rho* = (e^2 - v)_+.

    References:
        Relevance pursuit, Lemma 1; docs/equations.md section 6.
    """
    return (e.square() - v).clamp_min(0)  # eq. 6.3


def gain(e: Tensor, v: Tensor) -> Tensor:
    """The log likelihood, in nats, that one observation gains by its best added variance.

    Args:
        e: ``... x n`` leave-one-out errors.
        v: ``... x n`` leave-one-out variances, positive.

    Returns:
        ``... x n`` values of (q - 1 - log q) / 2 where q > 1, else 0.

    References:
        docs/equations.md section 6 (verified there by brute force).
    """
    q = e.square() / v
    is_outside = q > 1
    safe = q.masked_fill(~is_outside, 1.0)
    return torch.where(is_outside, (safe - 1 - safe.log()) / 2, torch.zeros_like(q))  # eq. 6.4


def errors(model: Model, theta: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    """Leave-one-out errors and variances (own added variance removed), ``n`` each; the mean is that of all.

    The error of a cleared observation is not held against it: it is zero.
    """
    return errors_at(model, log_posterior(model, theta, rho), rho)


def errors_at(model: Model, value: Value, rho: Tensor) -> tuple[Tensor, Tensor]:
    """The same, where the log posterior density has been evaluated."""
    e, v = left_out(model, value, rho)
    return e if model.cleared is None else e.masked_fill(model.cleared, 0.0), v


def left_out(model: Model, value: Value, rho: Tensor) -> tuple[Tensor, Tensor]:
    """The same, whether observations are cleared or not."""
    r = value.y - value.evidence.m
    P = value.evidence.P if value.evidence.converged else None
    found = leave_one_out(r, value.covariance.K + torch.diag(value.s2), rho, P)
    return r - found.mean, found.variance
