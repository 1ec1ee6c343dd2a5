"""Where trials give a value: the model of failures, fitted to how all trials ended, as a function of the history alone.

A crash is information: what a point promises counts by the probability that anything is measured there (how much, says
`viable.CAUTION`). A flake is none: a rate of failures that have nothing to do with their points is learned along with
it.

What the user has said counts: a failure that was a flake (``retry=True``) says nothing of its point, and one that was
none (``retry=False``) is no flake to the model either.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robustbo import seeds
from robustbo.lazy import cached_property
from robustbo.loop.cache import FitCache
from robustbo.loop.observations import Data, Row
from robustbo.loop.warm_start import predecessor
from robustbo.numerics.failures.likelihood import Outcomes
from robustbo.numerics.failures.map_fit import Model, search
from robustbo.numerics.failures.predictive import Predictor, predictor
from robustbo.numerics.gp.covariance import CovarianceFunction, stationary
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.searchspace.encoding import encode
from robustbo.searchspace.space import Space
from robustbo.surrogates.transforms.inputs import one_hot_inputs

KERNEL = "matern52"
REACH, SPREAD = 0.4, 0.8  # prior of the length-scales: its mode, times the root of d, and of the logarithm the spread
MOST = 256  # places that are modelled: what is far from all failures says little of where trials fail


@dataclass(frozen=True)
class Viability:
    """A fitted model of where trials give a value.

    Attributes:
        space: The search space.
        numbers: The trials that it was fitted to.
        predictor: What it says.
    """

    space: Space
    numbers: tuple[int, ...]
    predictor: Predictor

    def log_p(self, rows: Sequence[Row]) -> Tensor:
        """``m`` log probabilities that a trial at a unit-cube row gives a value."""
        return self.predictor.log_viable(inputs(self.space, rows))[0]

    @cached_property
    def log_odds(self) -> dict[int, float]:
        """Of each trial, if it has failed: how much likelier it was a flake than its point's doing, in nats."""
        return dict(zip(self.numbers, self.predictor.log_odds.tolist(), strict=True))


def inputs(space: Space, rows: Sequence[Row]) -> Tensor:
    """``m x d`` inputs of the model."""
    X, one_hot = encode(space, [list(row) for row in rows]), one_hot_inputs(space)
    return X if one_hot is None else one_hot.transform(X)


def viability(data: Data, seed: int, fits: FitCache) -> Viability | None:
    """The model fitted to how trials ended; None where none has failed but by flakes that the user knows to be some.

    Of several outcomes a trial of which an objective came to nothing (NaN) counts as failed: of a bound that is kept
    where there is nothing to optimize, nothing comes.
    """
    failed = {trial.number: trial.retry is False for trial in data.failed if trial.retry is not True}
    failed |= {trial.number: False for trial in data.lacking}
    if not failed:
        return None
    ok = {trial.number for trial in (*data.told, *data.excluded)} - {*failed}
    ended = [(number, data.rows[number], number in ok, failed.get(number, False)) for number in sorted(ok | {*failed})]
    return _fitted_to(data.space, tuple(ended), seed, fits)


def _fitted_to(space: Space, ended: tuple[tuple[int, Row, bool, bool], ...], seed: int, fits: FitCache) -> Viability:
    """That of trials, of which the number, the row, and whether there is a value, or none for sure, are given."""

    def fit() -> Viability:
        numbers, rows, is_ok, is_sure = zip(*ended, strict=True)
        count = predecessor(len(ended))
        is_cold = count is None or all(is_ok[:count])
        before = None if is_cold else _fitted_to(space, ended[:count], seed, fits).predictor.x
        return Viability(space, numbers, fitted(inputs(space, rows), is_ok, is_sure, seed, before))

    return fits.get_small(("viability", space, ended, seed), fit)


def fitted(
    X: Tensor, is_ok: Sequence[bool], is_sure: Sequence[bool], seed: int, before: Tensor | None = None
) -> Predictor:
    """The model fitted to how trials ended; those at one place count as one.

    Args:
        X: ``n x d`` inputs.
        is_ok: Whether each of ``n`` trials ended with a value.
        is_sure: Whether it failed by its point, by the user's word.
        seed: Of the samples.
        before: Hyperparameters where the search begins; several places unless given.

    Returns:
        Its ``log_odds`` are those of the ``n`` trials.
    """
    rows = [tuple(row) for row in X.tolist()]
    places = {row: i for i, row in enumerate(dict.fromkeys(rows))}
    at = np.array([places[row] for row in rows])
    K, k, sure = (np.bincount(at, np.asarray(which, float)) for which in (is_ok, np.logical_not(is_ok), is_sure))
    Z = X.new_tensor(list(places))
    kept = _nearest(Z, K > 0)
    model = Model(Outcomes(K[kept], k[kept], sure[kept] > 0), _covariance(Z[kept]))
    value = search(model, before).value
    found = predictor(model, KERNEL, Z[kept], value, seeds.generator(seed, len(X), "failures"))
    odds = np.full(len(Z), math.inf)
    odds[kept] = found.log_odds
    return found._replace(log_odds=odds[at])


def _covariance(Z: Tensor) -> CovarianceFunction:
    d = Z.shape[-1]
    return stationary(Z, KERNEL, LogNormal(math.log(REACH * math.sqrt(d)) + SPREAD**2, SPREAD), None)


def _nearest(Z: Tensor, is_ok: np.ndarray) -> np.ndarray:
    """Which places count: all that failed, and of the others the nearest to these, up to `MOST` in all."""
    failed = np.flatnonzero(~is_ok)
    if len(Z) <= MOST:
        return np.arange(len(Z))
    ok = np.flatnonzero(is_ok)
    distance = torch.cdist(Z[ok], Z[failed]).amin(-1)
    nearest = ok[distance.argsort(stable=True)[: max(0, MOST - len(failed))].numpy()]
    return np.sort(np.concatenate([failed, nearest]))
