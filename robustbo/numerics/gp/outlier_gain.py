"""Gain in log likelihood by an error variance of one observation's own, all else fixed: closed forms, for all at once.

Notation (shapes after any leading batch dimensions):
    e    n   leave-one-out error, observation minus prediction
    v    n   leave-one-out variance, the observation's own added variance removed
    q    n   e^2 / v, the squared standardized error
    rho  n   added variances

References:
    Ament et al. (2024), Robust Gaussian processes via relevance pursuit, Lemma 1; docs/equations.md section 6.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp.leave_one_out import LeaveOneOut, factor, leave_one_out, leave_out
from robustbo.numerics.gp.log_posterior import LogPosterior, log_posterior
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.replicates import Groups


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


def group_variance(e: Tensor, v: Tensor, groups: Groups, rho: Tensor | None = None) -> Tensor:
    """The added variance of each group, one for all of its members: the best if they were independent, or nearly so.

    Args:
        e: ``n`` leave-one-out errors.
        v: ``n`` leave-one-out variances, positive.
        groups: The observations that belong together.
        rho: ``n`` added variances so far; where the result is the same, it is the best.

    Returns:
        ``n`` values: (e^2 - v)_+ of an observation that stands alone.

    References:
        Relevance pursuit, Lemma 1; docs/equations.md section 6.
    """
    weights = None if rho is None else (v + rho).square().reciprocal()
    return groups.mean(e.square() - v, weights).clamp_min(0)  # eq. 6.3 and eq. 6.25


def gain_together(e: Tensor, V: Tensor) -> Tensor:
    """The log likelihood, in nats, that a group gains by an added variance, the best if V were diagonal and all alike.

    Args:
        e: ``m`` errors, the group left out at once.
        V: ``m x m`` their covariance.

    Returns:
        A number of at least 0: `gain` where m is 1.

    References:
        docs/equations.md section 6.
    """
    apart = V + (e.square() - V.diagonal()).mean().clamp_min(0) * torch.eye(len(e), dtype=e.dtype)
    return (_log_density(e, apart) - _log_density(e, V)).clamp_min(0)  # eq. 6.19


def _log_density(e: Tensor, V: Tensor) -> Tensor:
    """Log density of errors with mean zero, but for a constant."""
    L = factor(V).L
    white = torch.linalg.solve_triangular(L, e.unsqueeze(-1), upper=False)
    return -0.5 * white.square().sum() - L.diagonal().log().sum()


class GroupErrors(NamedTuple):
    """Errors and variances of each group as the others predict it.

    Attributes:
        e: ``n`` errors, the group left out at once.
        v: ``n`` variances, likewise.
        gains: ``n`` gains by added variances; that of a group is at its first observation.
    """

    e: Tensor
    v: Tensor
    gains: Tensor


def groups_left_out(e: Tensor, v: Tensor, groups: Groups, together: Callable[[Tensor], LeaveOneOut]) -> GroupErrors:
    """Leave each group out at once.

    Args:
        e: ``n`` errors, each observation left out alone.
        v: ``n`` variances, likewise.
        groups: The observations that belong together.
        together: Computes errors and their covariance, where some indices are left out at once.
    """
    e, v, gains = e.clone(), v.clone(), gain(e, v)
    for group in map(torch.tensor, groups.recurring):
        e[group], V = together(group)
        v[group] = V.diagonal()
        gains[group] = -math.inf
        gains[group[0]] = gain_together(e[group], V)
    return GroupErrors(e, v, gains)


def errors(model: Model, theta: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    """Leave-one-out errors and variances (own added variance removed), ``n`` each; the mean is that of all.

    The error of a cleared observation is not held against it: it is zero.
    """
    return errors_at(model, log_posterior(model, theta, rho), rho)


def errors_at(model: Model, value: LogPosterior, rho: Tensor) -> tuple[Tensor, Tensor]:
    """Leave-one-out errors and variances as `errors` has them, where the log posterior density has been evaluated."""
    e, v = raw_errors(value, rho)
    return e if model.cleared is None else e.masked_fill(model.cleared, 0.0), v


def raw_errors(value: LogPosterior, rho: Tensor) -> tuple[Tensor, Tensor]:
    """Leave-one-out errors and variances of all observations, whether they are cleared or not."""
    r, K0, P = residual_system(value)
    prediction = leave_one_out(r, K0, rho, P)
    return r - prediction.mean, prediction.variance


def groups_at(model: Model, value: LogPosterior, rho: Tensor) -> GroupErrors:
    """Leave each group of the model out at once, added variances removed; errors of the cleared are zero."""

    def together(group: Tensor) -> LeaveOneOut:
        r, K0, P = residual_system(value)
        prediction = leave_out(r, K0, rho, group, P)
        return LeaveOneOut(r[group] - prediction.mean, prediction.variance)

    return groups_left_out(*errors_at(model, value, rho), model.groups, together)


def residual_system(value: LogPosterior) -> tuple[Tensor, Tensor, Tensor | None]:
    """Residuals, covariance without added variances, and the inverse with added variances if it is at hand."""
    P = value.evidence.P if value.evidence.converged else None
    return value.y - value.evidence.m, value.covariance.K + torch.diag(value.s2), P
