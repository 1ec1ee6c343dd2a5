"""The stops of a relevance pursuit: hyperparameters and added variances, climbed to for a given support.

A support is one of groups, by their first observations (`replicates.Groups`): of what is right or wrong together.

Notation (no batch dimensions: a search is one search):
    e    n   leave-one-out error, observation minus prediction, its group left out at once
    v    n   leave-one-out variance, the group's own added variances removed
    rho  n   added variances
    F        log posterior density of hyperparameters and variances

References:
    Ament et al. (2024), Robust Gaussian processes via relevance pursuit; docs/equations.md section 6.
"""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.map_fit import Fit, climb, maximize_alone
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.outlier_gain import GroupErrors, group_variance, groups_at
from robustbo.numerics.gp.prediction_cache import PredictionCache
from robustbo.numerics.gp.replicates import Groups

SCREEN_SHARE = 100
NONE = Groups()
SUSPICION = 100.0  # added variance of everybody at the beginning, in units of the outcomes' variance


class Level(NamedTuple):
    """One stop of a pursuit.

    Attributes:
        support: The sorted groups that may each have a variance of their own.
        fit: Hyperparameters and variances found for it.
        e: ``n`` leave-one-out errors there.
        v: ``n`` leave-one-out variances there.
        gains: ``n``: what each group gains by the best variance of its own, all else as it is in the fit.
        cache: All that is known there, where that is at hand.
    """

    support: tuple[int, ...]
    fit: Fit
    e: Tensor
    v: Tensor
    gains: Sequence[float]
    cache: PredictionCache | None = None


Refit = Callable[[Level, tuple[int, ...]], Level]


def refit(model: Model, level: Level, support: tuple[int, ...], **options: Any) -> Level:
    """The level of another support, climbed to from a level; new members begin at their closed-form variance."""
    new = list(model.groups.members(set(support).difference(level.support)))
    rho = level.fit.rho.clone()
    rho[new] = group_variance(level.e, level.v, model.groups)[new]
    return _climb_to_level(model, support, level.fit.theta, rho, level.v, **options)


def empty(model: Model, *, start_ftol: float = 1e-4, **options: Any) -> Level:
    """The level without outliers, climbed to from the best of what every start of the model roughly leads to."""
    none = torch.zeros_like(model.y)
    rough = [maximize_alone(model, theta, ftol=start_ftol) for theta in model.starts]
    return _climb_to_level(model, (), max(rough, key=lambda fit: fit.F).theta, none, none, **options)


def suspicious_levels(model: Model, starts: Sequence[Tensor] | None = None, **options: Any) -> list[Level]:
    """Levels in which everybody is an outlier to begin with, climbed to from some starts, by default all of the model.

    Each has a variance of `SUSPICION`, or its square where that is more, and may lose it; the cleared have none.
    """
    rho, none = model.y.square().clamp_min(SUSPICION), torch.zeros_like(model.y)
    rho = rho if model.cleared is None else rho.masked_fill(model.cleared, 0.0)
    everybody = model.groups.of(rho.nonzero().flatten().tolist())
    return [
        _climb_to_level(model, everybody, theta, rho, _out(model, theta, none).v, **options)
        for theta in (model.starts if starts is None else starts)
    ]


def prefix_rows(n: int, count: int) -> Tensor:
    """The ``n`` rows of observations of which the first so many were fitted to, see `transfer_fit`."""
    rows = torch.arange(n)
    return rows.masked_fill(rows >= count, -1)


def transfer_fit(fit: Fit, rows: Tensor, groups: Groups = NONE) -> Fit:
    """A fit to other observations as one to these: those that it has not seen have their group's variance, or none.

    Args:
        fit: The fit.
        rows: For each of ``n`` observations, which one it is of the fit's, or -1.
        groups: Of these observations.
    """
    return fit._replace(rho=groups.mean(fit.rho[rows].masked_fill(rows < 0, 0.0), (rows >= 0).double()))


def transfer_support(model: Model, level: Level, rows: Tensor) -> tuple[tuple[int, ...], Fit]:
    """The support of a level of other observations, and its fit, as those of these; likewise. See `level_at`."""
    fit = transfer_fit(level.fit, rows, model.groups)
    stays = torch.isin(rows, _indices(level.support)) | (fit.rho > 0)
    return model.groups.of(stays.nonzero().flatten().tolist()), fit


def level_at(model: Model, support: tuple[int, ...], fit: Fit) -> Level:
    """The level of a support at a fit, without a climb."""
    return _level(support, fit, _out(model, fit.theta, fit.rho))


def revalue_level(model: Model, support: tuple[int, ...], fit: Fit) -> Level:
    """The level of a support at the fit of other observations, with its height at these."""
    value = log_posterior(model, fit.theta, fit.rho)
    return _level(support, fit._replace(F=value.F), groups_at(model, value, fit.rho))


def screen(model: Model, theta: Tensor, threshold: float) -> Level:
    """The gross outliers at given hyperparameters, the grossest first, by closed forms alone.

    A gross value spoils the predictions of all its neighbours, so only the worst group (one in `SCREEN_SHARE`) is taken
    at a time and everything is predicted anew, until nothing gains more than the threshold or half are taken.
    """
    groups, rho, support = model.groups, torch.zeros_like(model.y), set[int]()
    n = groups.count(len(rho))
    while True:
        out, supported = _out(model, theta, rho), _indices(support)
        members = _indices(groups.members(support))
        rho = rho.index_put((members,), group_variance(out.e, out.v, groups)[members])
        candidates = out.gains.index_fill(0, supported, 0.0)
        room = min(max(1, n // SCREEN_SHARE), n // 2 - len(support))
        if room <= 0 or not candidates.max() > threshold:
            outliers = tuple(
                supported[out.gains[supported] > threshold].tolist()
            )  # for others a neighbour was to blame
            members = _indices(groups.members(outliers))
            rho = torch.zeros_like(rho).index_put((members,), rho[members])
            return _level(outliers, Fit(theta, rho, -math.inf, -math.inf, 0, True), out)
        support |= {i for i in candidates.argsort(descending=True)[:room].tolist() if candidates[i] > threshold}


def _climb_to_level(
    model: Model, support: tuple[int, ...], theta: Tensor, rho: Tensor, v: Tensor, **options: Any
) -> Level:
    fit, value = climb(model, theta, rho, _indices(model.groups.members(support)), v, **options)
    return _level(support, fit, groups_at(model, value, fit.rho))


def _level(support: tuple[int, ...], fit: Fit, out: GroupErrors) -> Level:
    return Level(support, fit, out.e, out.v, out.gains.tolist())


def _out(model: Model, theta: Tensor, rho: Tensor) -> GroupErrors:
    return groups_at(model, log_posterior(model, theta, rho), rho)


def _indices(support: Collection[int]) -> Tensor:
    return torch.tensor(sorted(support), dtype=torch.long)
