"""The points measured whose values are believed, and what is believed of all outcomes there."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from robustbo.loop.belief.outcome_models import OutcomeModel, OutcomeModels
from robustbo.loop.best.bounds import LIKELY
from robustbo.loop.best.recommended import points_with_fixed, recommendable_points
from robustbo.loop.observations.table import Data, Row
from robustbo.loop.surrogate.fallback import check_finite
from robustbo.searchspace.parameters import Value
from robustbo.trials.history import Trial
from robustbo.trials.outcome import Outcome
from robustbo.trials.outcomes import OutcomeGoal

LEAST, MOST = 1e-300, 1e150  # a standard deviation that is as good as none, and so many that their square is a number


@dataclass(frozen=True)
class FrontPoint:
    """A measured point, and what the surrogates predict there.

    Attributes:
        trial: The first trial at the point whose values are all believed.
        means: Posterior mean of each outcome there, in your units.
        sds: Standard deviation of each.
        probability_feasible: The probability that the point keeps the outcome constraints; 1 without constraints.
        probability: The probability that the point is feasible and no other measured point beats it.
        moved: The trial's point with the fixed values put in; None without fixed values.
        quantities: What each outcome is: its unit, and its possible range, which the mean is within.

    Example:
        >>> print(FrontPoint(Trial(7, {"x": 0.5}), {"yield": 81.25, "cost": 3.0}, {"yield": 0.41, "cost": 0.02}))
        trial 7, x=0.5: yield 81.25 ± 0.41, cost 3 ± 0.02
    """

    trial: Trial
    means: Mapping[str, float]
    sds: Mapping[str, float]
    probability_feasible: float = 1.0
    probability: float = math.nan
    moved: dict[str, Value] | None = None
    quantities: Mapping[str, Outcome] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        point = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"{self.trial.title}, {point}: {', '.join(map(self._quantity, self.means))}"

    def _quantity(self, name: str) -> str:
        return f"{name} {self.quantities.get(name, Outcome(name)).around(self.means[name], self.sds[name])}"

    @property
    def params(self) -> dict[str, Value]:
        """The point."""
        return self.trial.params if self.moved is None else self.moved


@dataclass(frozen=True)
class MeasuredPoints:
    """The points measured whose values are believed, and what is believed of them.

    Attributes:
        models: The model of each outcome.
        trials: The first trial at each of ``m`` points, one whose values are believed where there is one.
        points: The points.
        X: ``m x d`` inputs.
        means: ``m x M`` posterior means of all outcomes, in the user's units.
        sds: Their standard deviations.
        log_feasible: ``m`` logarithms of the probabilities that a point keeps the outcome constraints.
    """

    models: OutcomeModels
    trials: tuple[Trial, ...]
    points: tuple[Mapping[str, Value], ...]
    X: Tensor
    means: Tensor
    sds: Tensor
    log_feasible: Tensor

    @property
    def feasible(self) -> Tensor:
        """``m`` probabilities that a point keeps the outcome constraints."""
        return self.log_feasible.exp()

    @property
    def objectives(self) -> Tensor:
        """``m x K`` posterior means of the objectives, turned so that larger is better."""
        return larger_is_better(self.models, self.means)

    @property
    def is_likely(self) -> Tensor:
        """``m`` booleans: whether a point probably keeps the outcome constraints."""
        return self.feasible >= LIKELY

    def point(self, i: int, probability: float = math.nan) -> FrontPoint:
        """One of the points as people see it: with means that are possible."""
        quantities = {model.outcome.name: model.outcome.quantity for model in self.models}
        means, sds = (dict(zip(quantities, of[i].tolist(), strict=True)) for of in (self.means, self.sds))
        shown = {name: quantities[name].nearest(mean) for name, mean in means.items()}
        point = None if self.points[i] == self.trials[i].params else dict(self.points[i])
        return FrontPoint(self.trials[i], shown, sds, self.feasible[i].item(), probability, point, quantities)


def larger_is_better(models: Sequence[OutcomeModel], values: Tensor) -> Tensor:
    """``... x K`` objectives out of ``... x M`` outcomes in the user's units, turned so that larger is better."""
    signs = [(i, model.outcome.sign) for i, model in enumerate(models) if model.outcome.is_objective]
    return torch.stack([sign * values[..., i] for i, sign in signs], -1)


def measured_points(data: Data, models: OutcomeModels) -> MeasuredPoints:
    """The points measured whose values are believed, as they are with what is fixed.

    Of the demands that a point has a value of each objective, and that its values are believed, and that it keeps the
    constraints of the space, the first two are dropped where they leave nothing, then the last.
    """
    disbelieved = {number for model in models for number in model.disbelieved}
    first = dict[Row, Trial]()
    for trial in sorted(data.told, key=lambda trial: trial.number in disbelieved):
        first.setdefault(data.rows[trial.number], trial)
    allowed, moved = recommendable_points(data, first)
    standing = {trial.number: (row, point) for row, (trial, point) in moved.items()}
    first_trials = {row: trial for row, trial in first.items() if row in allowed or trial.number in standing} or first
    doubtful = {row for model in models for row in _doubtful_rows(model, first_trials)}
    believed = {row: trial for row, trial in first_trials.items() if row not in doubtful} or first_trials
    if data.fixed:
        by_row = points_with_fixed(data, believed.values()) or points_with_fixed(data, data.told)
    else:
        places = {row: standing.get(trial.number, (row, trial.params)) for row, trial in believed.items()}
        by_row = {places[row][0]: (trial, places[row][1]) for row, trial in believed.items()}
    trials, points = zip(*by_row.values(), strict=True)
    X = models[0].fitted.encoded(list(by_row))
    predictions = [model.predict(list(by_row)) for model in models]
    check_finite(*(number for pair in predictions for numbers in pair for number in numbers))
    means, sds = (torch.tensor([pair[i] for pair in predictions], dtype=torch.float64).T for i in (0, 1))
    return MeasuredPoints(models, trials, points, X, means, sds, log_probability_feasible(models, means, sds))


def _doubtful_rows(model: OutcomeModel, rows: Collection[Row]) -> set[Row]:
    """The rows at which every value of an outcome is disbelieved; or an objective has none at all.

    It is missing, or excluded: what a model expects there is no measurement, as little as with one outcome.
    """
    row_of = model.data.rows
    believed = {row_of[t.number] for t in model.data.told if t.number not in model.disbelieved}
    measured = rows if model.outcome.is_objective else {row_of[number] for number in model.disbelieved}
    return {*measured} - believed


def probability_feasible(
    models: Sequence[OutcomeModel], means: Tensor, sds: Tensor, without: int | None = None
) -> Tensor:
    """The probability at ``m`` points that all outcomes keep their bounds, each by itself.

    Args:
        models: ``M`` of them.
        means: ``m x M``.
        sds: ``m x M``.
        without: The index of an outcome that is not asked.
    """
    return log_probability_feasible(models, means, sds, without).exp()


def log_probability_feasible(
    models: Sequence[OutcomeModel], means: Tensor, sds: Tensor, without: int | None = None
) -> Tensor:
    """The logarithm of `probability_feasible`, which says what is nearest to bounds that no point keeps."""
    log_p = torch.zeros(len(means), dtype=torch.float64)
    for i, model in enumerate(models):
        if i != without:
            log_p = log_p + log_probability_within(model.outcome, means[:, i], sds[:, i])
    return log_p


def probability_within(outcome: OutcomeGoal, mean: Tensor, sd: Tensor) -> Tensor:
    """The probability that ``m`` values of an outcome, of these means and standard deviations, keep its bounds."""
    return log_probability_within(outcome, mean, sd).exp()


def log_probability_within(outcome: OutcomeGoal, mean: Tensor, sd: Tensor) -> Tensor:
    """The logarithm of `probability_within`."""
    low, high = (
        ((bound - mean) / sd.clamp_min(LEAST)).clamp(-MOST, MOST) if math.isfinite(bound) else mean.new_tensor(bound)
        for bound in outcome.bounds
    )
    is_above = low > 0  # of two small probabilities the difference is that of the small tails
    log_below, log_at_most = (
        torch.special.log_ndtr(torch.where(is_above, *pair)) for pair in ((-high, low), (-low, high))
    )
    return log_at_most + torch.log1p(-(log_below - log_at_most).exp())
