"""The model of where trials give a value, fitted to how all trials ended, as a function of the set of them alone.

A crash is information: what a point promises counts by the probability that anything is measured there (how much, says
`feasibility_weight.CAUTION`). A flake is none: a rate of failures that have nothing to do with their points is learned
along with it.

What the user has said counts: a failure that was a flake (``retry=True``) says nothing of its point, and one that was
none (``retry=False``) is no flake to the model either.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from robustbo import seeds
from robustbo.lazy import cached_property
from robustbo.loop.observations.digest import digest
from robustbo.loop.observations.table import Data, Row
from robustbo.loop.surrogate.cache import FitCache
from robustbo.numerics.failures.likelihood import Outcomes
from robustbo.numerics.failures.map_fit import FailureModel, at_mean_flake_rate, evaluate, search
from robustbo.numerics.failures.predictive import Predictor
from robustbo.numerics.failures.predictive import predictor as predictor_of
from robustbo.numerics.failures.telling import most_informative
from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.linalg.lapack import Array
from robustbo.searchspace.encoding import encode
from robustbo.searchspace.space import Space
from robustbo.surrogates.transforms.input_encoding import one_hot_inputs

KERNEL = "matern52"
REACH, SPREAD = 0.4, 0.8  # prior of the length-scales: its mode, times the root of d, and of the logarithm the spread
LEARNED, MODELLED = 100, 200  # places at most that hyperparameters are learned from, and that predictions come from

TrialEnd = tuple[int, Row, bool, bool]  # a trial's number and row, whether there is a value, or none for sure


@dataclass(frozen=True)
class FeasibilityModel:
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
        """Log odds by trial, if it has failed: how much likelier it was a flake than its point's doing, in nats."""
        return dict(zip(self.numbers, self.predictor.log_odds.tolist(), strict=True))


def inputs(space: Space, rows: Sequence[Row]) -> Tensor:
    """``m x d`` inputs of the model."""
    X, one_hot = encode(space, [list(row) for row in rows]), one_hot_inputs(space)
    return X if one_hot is None else one_hot.transform(X)


def feasibility_model(data: Data, seed: int, fits: FitCache) -> FeasibilityModel | None:
    """The model fitted to how trials ended; None where none has failed but by flakes that the user knows to be some.

    With several outcomes a trial counts as failed if an objective failed (NaN): of a bound that is kept
    where there is nothing to optimize, nothing comes.
    """
    failed = {trial.number: trial.retry is False for trial in data.failed if trial.retry is not True}
    failed |= {trial.number: False for trial in data.without_objective}
    if not failed:
        return None
    ok = {trial.number for trial in (*data.told, *data.excluded)} - {*failed}
    ended = [(number, data.rows[number], number in ok, failed.get(number, False)) for number in ok | {*failed}]
    return _fit_trials(data.space, tuple(sorted(ended, key=_own_order)), seed, fits)


def _own_order(trial: TrialEnd) -> tuple[object, ...]:
    """A key by which trials stand in an order of their own, as `Observations.in_own_order` has it."""
    number, row, is_ok, is_sure = trial
    return digest(*row), is_ok, is_sure, number


def _fit_trials(space: Space, ended: tuple[TrialEnd, ...], seed: int, fits: FitCache) -> FeasibilityModel:
    """The model fitted to the ends of trials."""

    def fit() -> FeasibilityModel:
        numbers, rows, is_ok, is_sure = zip(*ended, strict=True)
        return FeasibilityModel(space, numbers, fit_predictor(inputs(space, rows), is_ok, is_sure, seed))

    return fits.get_small(("viability", space, ended, seed), fit)


class PointOutcomes(NamedTuple):
    """The points of trials, and what became of them: trials at one point count as one.

    Attributes:
        Z: ``n x d`` inputs, no two the same.
        outcomes: What became of the trials at each.
        at: Which place each trial was at.
    """

    Z: Tensor
    outcomes: Outcomes
    at: NDArray[np.intp]

    @classmethod
    def of(cls, X: Tensor, is_ok: Sequence[bool], is_sure: Sequence[bool]) -> "PointOutcomes":
        """The points of trials at ``m x d`` inputs; see `fit_predictor`."""
        rows = [tuple(row) for row in X.tolist()]
        places = {row: i for i, row in enumerate(dict.fromkeys(rows))}
        at = np.array([places[row] for row in rows])
        kinds = np.asarray([is_ok, np.logical_not(is_ok), is_sure], float)
        K, k, sure = (np.bincount(at, weights).astype(np.float64) for weights in kinds)
        return cls(X.new_tensor(list(places)), Outcomes(K, k, sure > 0), at)

    def most_telling_indices(self, count: int) -> NDArray[np.intp]:
        """The indices of up to ``count`` most telling points, in order."""
        if len(self.Z) <= count:
            return np.arange(len(self.Z))
        return np.sort(most_informative(self.Z.numpy(), self.outcomes.is_ok, count))

    def model(self, indices: NDArray[np.intp]) -> FailureModel:
        """The model of some of the places."""
        d = self.Z.shape[-1]
        prior = LogNormal(math.log(REACH * math.sqrt(d)) + SPREAD**2, SPREAD)
        K, k, is_sure = self.outcomes
        outcomes = Outcomes(K[indices], k[indices], is_sure[indices])
        return FailureModel(outcomes, stationary(self.Z[indices], KERNEL, prior, None))


def fit_predictor(X: Tensor, is_ok: Sequence[bool], is_sure: Sequence[bool], seed: int) -> Predictor:
    """The model fitted to how trials ended; those at one place count as one.

    Where there are many places, the most telling ones stand for all: few say how far places speak for each other and
    how often trials flake, and more of them where they fail.

    Args:
        X: ``n x d`` inputs.
        is_ok: Whether each of ``n`` trials ended with a value.
        is_sure: Whether it failed by its point, by the user's word.
        seed: Of the samples.

    Returns:
        Its ``log_odds`` are those of the ``n`` trials.
    """
    places = PointOutcomes.of(X, is_ok, is_sure)
    indices, more = places.most_telling_indices(LEARNED), places.most_telling_indices(MODELLED)
    model = places.model(indices)
    value = at_mean_flake_rate(model, search(model).value)
    if len(more) > len(indices):
        larger = places.model(more)
        value_there = evaluate(larger, value.x)
        if math.isfinite(value_there.F):  # else so many do not agree, and those that it was learned from do
            model, value, indices = larger, value_there, more
    predictor = predictor_of(model, KERNEL, places.Z[indices], value, seeds.generator(seed, len(X), "failures"))
    return predictor._replace(log_odds=_log_odds(predictor, places, indices)[places.at])


def _log_odds(predictor: Predictor, places: PointOutcomes, indices: NDArray[np.intp]) -> Array:
    """Log odds of each point, of which some are modelled: how much likelier what failed there was a flake, in nats."""
    odds = np.full(len(places.Z), math.inf)
    is_unmodelled = ~places.outcomes.is_ok
    is_unmodelled[indices] = False
    odds[is_unmodelled] = predictor.log_odds_at(places.Z[is_unmodelled], places.outcomes.k[is_unmodelled])
    odds[indices] = predictor.log_odds
    return odds
