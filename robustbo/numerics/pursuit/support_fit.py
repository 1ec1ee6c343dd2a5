"""The stops of a relevance pursuit: hyperparameters and added variances, climbed to for a given support.

Notation (no batch dimensions: a search is one search):
    e    n   leave-one-out error, observation minus prediction
    v    n   leave-one-out variance, the observation's own added variance removed
    rho  n   added variances
    F        log posterior density of hyperparameters and variances

References:
    Ament et al. (2024), Robust Gaussian processes via relevance pursuit; docs/equations.md section 6.
"""

import math
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp.known import Known
from robustbo.numerics.gp.log_posterior import Model
from robustbo.numerics.gp.map_fit import Fit, climb, maximize_alone
from robustbo.numerics.gp.outlier_gain import errors, errors_at, gain, optimal_variance

SCREEN_SHARE = 100
SUSPICION = 100.0  # added variance of everybody at the beginning, in units of the outcomes' variance


class Level(NamedTuple):
    """One stop of a pursuit.

    Attributes:
        support: Sorted indices of the observations that may have a variance of their own.
        fit: Hyperparameters and variances found for it.
        e: ``n`` leave-one-out errors there.
        v: ``n`` leave-one-out variances there.
        known: All that is known there, where that is at hand.
    """

    support: tuple[int, ...]
    fit: Fit
    e: Tensor
    v: Tensor
    known: Known | None = None

    @property
    def gains(self) -> list[float]:
        """What each observation gains by the best variance of its own, all else as it is in the fit."""
        return gain(self.e, self.v).tolist()


Refit = Callable[[Level, tuple[int, ...]], Level]


def refit(model: Model, level: Level, support: tuple[int, ...], **options: Any) -> Level:
    """The level of another support, climbed to from a level; new members begin at their closed-form variance."""
    new = [i for i in support if i not in level.support]
    rho = level.fit.rho.clone()
    rho[new] = optimal_variance(level.e, level.v)[new]
    return _climbed(model, support, level.fit.theta, rho, level.v, **options)


def empty(model: Model, *, start_ftol: float = 1e-4, **options: Any) -> Level:
    """The level without outliers, climbed to from the best of what every start of the model roughly leads to."""
    none = torch.zeros_like(model.y)
    rough = [maximize_alone(model, theta, ftol=start_ftol) for theta in model.starts]
    return _climbed(model, (), max(rough, key=lambda fit: fit.F).theta, none, none, **options)


def suspicious(model: Model, group: Collection[int], **options: Any) -> list[Level]:
    """Levels in which a group's observations are outliers to begin with, climbed to from every start of the model.

    Each has a variance of `SUSPICION`, or its square where that is more, and may lose it; the cleared have none.
    """
    rho, none = _suspected(model, group), torch.zeros_like(model.y)
    members = tuple(rho.nonzero().flatten().tolist())
    return [_climbed(model, members, theta, rho, errors(model, theta, none)[1], **options) for theta in model.starts]


def _suspected(model: Model, group: Collection[int]) -> Tensor:
    """``n`` added variances that leave those of a group that are not cleared without a pull."""
    members = _indices(group)
    rho = torch.zeros_like(model.y).index_put((members,), model.y.square().clamp_min(SUSPICION)[members])
    return rho if model.cleared is None else rho.masked_fill(model.cleared, 0.0)


def first(n: int, count: int) -> Tensor:
    """The ``n`` rows of observations of which the first so many were fitted to, see `placed`."""
    rows = torch.arange(n)
    return rows.masked_fill(rows >= count, -1)


def placed(fit: Fit, rows: Tensor) -> Fit:
    """A fit to other observations as one to these: those that it has not seen have no variance of their own.

    Args:
        fit: The fit.
        rows: For each of ``n`` observations, which one it is of the fit's, or -1.
    """
    return fit._replace(rho=fit.rho[rows].masked_fill(rows < 0, 0.0))


def extended(model: Model, level: Level, rows: Tensor) -> Level:
    """A level of other observations as one of these; likewise."""
    fit = placed(level.fit, rows)
    support = tuple(torch.isin(rows, _indices(level.support)).nonzero().flatten().tolist())
    return Level(support, fit, *errors(model, fit.theta, fit.rho))


def screen(model: Model, theta: Tensor, threshold: float, begin: Collection[int] = ()) -> Level:
    """The gross outliers at given hyperparameters, the grossest first, by closed forms alone.

    A gross value spoils the predictions of all its neighbours, so only the worst observation (one in `SCREEN_SHARE`) is
    taken at a time (those to begin with at once) and everything is predicted anew, until nothing gains more than the
    threshold or half are taken.
    """
    n, rho, support = len(model.y), _suspected(model, begin), set(begin)
    while True:
        e, v = errors(model, theta, rho)
        members = _indices(support)
        rho = rho.index_put((members,), optimal_variance(e, v)[members])
        found = gain(e, v)
        needless = members[found[members] <= threshold]  # taken when a neighbour was to blame
        found = found.index_fill(0, members, 0.0)
        room = min(max(1, n // SCREEN_SHARE), n // 2 - len(support))
        if room <= 0 or not found.max() > threshold:
            rho = rho.index_fill(0, needless, 0.0)
            return Level(tuple(rho.nonzero().flatten().tolist()), Fit(theta, rho, -math.inf, -math.inf, 0, True), e, v)
        support |= {i for i in found.argsort(descending=True)[:room].tolist() if found[i] > threshold}


def _climbed(model: Model, support: tuple[int, ...], theta: Tensor, rho: Tensor, v: Tensor, **options: Any) -> Level:
    fit, value = climb(model, theta, rho, _indices(support), v, **options)
    return Level(support, fit, *errors_at(model, value, fit.rho))


def _indices(support: Collection[int]) -> Tensor:
    return torch.tensor(sorted(support), dtype=torch.long)
