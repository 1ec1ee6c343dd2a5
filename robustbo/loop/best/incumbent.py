"""The best point so far, as a pure function of settings and history."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from robustbo.censored import is_bound
from robustbo.determinism.surroundings import pin_surroundings
from robustbo.errors import FitError
from robustbo.guidance import TRIAL, Guided
from robustbo.loop.belief.outcome_models import OutcomeModel, OutcomeModels, use_models
from robustbo.loop.best.bounds import doubt_of_bounds
from robustbo.loop.best.recommended import Moved, points_with_fixed, recommendable_points
from robustbo.loop.best.records import records
from robustbo.loop.observations.no_value import no_value
from robustbo.loop.observations.table import Data, Row, observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fallback import check_finite
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.region.region import Fixed
from robustbo.trials.history import History, Trial
from robustbo.trials.outcome import Outcome
from robustbo.trials.settings import Settings

BEST = "the best"
LASTING = 0.5  # of an error that the surrogate takes for noise: what the objective itself does there; see `incumbent`


@dataclass(frozen=True)
class Incumbent(Guided):
    """The best point among those measured.

    Attributes:
        trial: The first trial at the point whose value is believed.
        mean: Posterior mean of the objective there (the measured value if ``raw`` was requested).
        sd: Posterior standard deviation, without noise (or the value's own, NaN where unknown).
        moved: The trial's point with the fixed values put in; None without fixed values.
        outcomes: With several outcomes, the posterior mean and standard deviation of each there.
        probability_feasible: The probability that it keeps all outcome constraints; if raw, 0 if its values break one.
        is_raw: Whether mean and sd are those of the measurement, without a model.
        quantity: What mean and sd are of: its name, its unit, and the possible range, which the mean is within.

    Example:
        >>> print(Incumbent(Trial(9, {"lr": 0.01, "act": "tanh"}, value=1.098), 1.1004, 0.0138))
        trial 9, lr=0.01, act='tanh': measured 1.098, believed 1.1 ± 0.014
    """

    MEANT = TRIAL
    trial: Trial
    mean: float
    sd: float
    moved: dict[str, Value] | None = None
    outcomes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    probability_feasible: float = 1.0
    is_raw: bool = False
    quantity: Outcome = field(default=Outcome(), repr=False, compare=False)

    def __str__(self) -> str:
        point, of = ", ".join(f"{name}={value!r}" for name, value in self.params.items()), self.quantity
        value = None if self.moved else self.trial.value
        if self.is_raw:
            text = f"measured {of.number(self.mean, 4) if math.isnan(self.sd) else of.around(self.mean, self.sd)}"
        else:
            measured = "" if value is None else f"measured {of.number(value, 4, self.sd)}, "
            text = f"{measured}believed {of.around(self.mean, self.sd)}"
        return f"{self.trial.title}, {point}: {f'{of.name} ' if of.name else ''}{text}{self.caveat}"

    @property
    def caveat(self) -> str:
        """A sentence on whether the point may break the bounds of other outcomes; empty if there is no doubt."""
        return doubt_of_bounds(self.probability_feasible, is_raw=self.is_raw)

    @property
    def params(self) -> dict[str, Value]:
        """The point."""
        return self.trial.params if self.moved is None else self.moved

    @property
    def objective_sd(self) -> float:
        """The posterior standard deviation of the objective there, without noise; NaN where no model predicts it."""
        return math.nan if self.is_raw else self.sd

    def of(self, quantity: Outcome) -> "Incumbent":
        """The incumbent for people: of what is measured, with a mean that is possible."""
        return replace(self, mean=self.mean if self.is_raw else quantity.nearest(self.mean), quantity=quantity)


@pin_surroundings
def incumbent(settings: Settings, history: History, fits: FitCache | None = None, fixed: Fixed = ()) -> Incumbent:
    """The measured point that is best by its posterior mean and its own value together.

    What the surrogate takes for noise may be roughness of the objective, which comes again when the point is measured
    again, and values at single points do not tell which. So a point counts half-way between what the surrogate says of
    it and what was measured there; by the former alone, where the noise is known.

    A point whose every value a robust surrogate disbelieves has not been measured: what the others predict there is a
    promise, and the value says otherwise. It is the incumbent only where no value is believed.

    Where no surrogate can be fitted it is the best value measured. A point that breaks a constraint is the best only
    where all do. With some values fixed it is the best of the points measured when they are changed to these values,
    as the surrogate predicts them; in a pool, of the rows measured that have them.

    Raises:
        ValueError: If no value has been told, or no measured point agrees with what is fixed.
        SpaceError: If no point keeps the constraints with what is fixed.
        FitError: If some values are fixed and no surrogate can be fitted.
    """
    if not fixed:
        return incumbents(settings, history, fits)[-1]
    data = observations(settings, history, fixed)
    if not data.told:
        raise ValueError(no_value(data.trials, BEST))
    if not points_with_fixed(data, data.told):
        raise ValueError(f"no measured point agrees with {dict(data.fixed)!r}; ask and tell one there first")
    use = partial(_best_at, data)
    best, reason = use_models(settings, data, use, FitCache() if fits is None else fits, is_judging=True)
    if best is None:
        raise FitError(f"no surrogate could find the best point {reason}")
    return best.of(settings.quantity)


@pin_surroundings
def incumbents(
    settings: Settings, history: History, fits: FitCache | None = None, *, without: Collection[int] = ()
) -> list[Incumbent]:
    """The best points so far, by what is believed now: each is better than all before it, and the last is the best.

    Args:
        settings: What the run was told at its beginning.
        history: All that happened.
        fits: The last fits.
        without: Trials that are learned from, and are no candidates.

    Raises:
        ValueError: If no value has been told.
    """
    data = observations(settings, history)
    if all(trial.number in without for trial in data.told):
        raise ValueError(no_value(data.trials, BEST))
    use = partial(_incumbents, data, without)
    best, _ = use_models(settings, data, use, FitCache() if fits is None else fits, is_judging=True)
    return [incumbent.of(settings.quantity) for incumbent in best or _raw_incumbents(data, without)]


def _incumbents(data: Data, without: Collection[int], models: OutcomeModels) -> list[Incumbent]:
    (model,) = models
    return incumbents_of_model(data, model, without)


def incumbents_of_model(data: Data, model: OutcomeModel, without: Collection[int] = ()) -> list[Incumbent]:
    """The best points so far by the only fitted surrogate, whatever is possible: means that decisions compare."""
    points, (believed, moved) = model.at_points(), _candidates(data, model, without)
    points |= dict(zip(moved, zip(*model.predict([*moved]), strict=True), strict=True)) if moved else {}
    worth = half_way(model, {row: mean for row, (mean, _) in points.items()})
    trials = believed | {row: trial for row, (trial, _) in moved.items()}
    rows = sorted((row for row in points if row in trials), key=lambda row: trials[row].number)
    best = records(rows, lambda row: data.sign * worth[row])
    check_finite(*points[best[-1]])
    return [Incumbent(trials[row], *points[row], moved[row][1] if row in moved else None) for row in best]


def half_way(model: OutcomeModel, means: Mapping[Row, float]) -> dict[Row, float]:
    """The worth of points by their posterior means: half-way to their own believed values, where they have some."""
    values = _mean_values(model.fitted, model.disbelieved)
    return {row: (1 - LASTING) * mean + LASTING * values.get(row, mean) for row, mean in means.items()}


def _mean_values(fitted: FittedSurrogate, disbelieved: Collection[int]) -> dict[Row, float]:
    """The mean of the believed values at each point, where some of their errors may not be noise."""
    numbers, rows, values, sds = fitted.observations[:4]
    by_row: dict[Row, list[float]] = {}
    for number, row, value, sd in zip(numbers, rows, values, (-1.0,) * len(rows) if sds is None else sds, strict=True):
        if sd < 0 and number not in disbelieved and not is_bound(value):
            by_row.setdefault(row, []).append(value)
    return {row: math.fsum(value / len(values) for value in values) for row, values in by_row.items()}


def _candidates(data: Data, model: OutcomeModel, without: Collection[int] = ()) -> tuple[dict[Row, Trial], Moved]:
    """The first trial whose value is believed, at each point measured that may be recommended, as it is or moved.

    Where this leaves no point, it is the first trial at each that may be; then the first at any point.
    """
    pairs = sorted(zip(model.fitted.observations.numbers, model.fitted.observations.X, strict=True))
    measured = [(number, row) for number, row in pairs if number not in without] or pairs
    first = {row: data.trials[number] for number, row in reversed(measured)}
    believed = {row: data.trials[number] for number, row in reversed(measured) if number not in model.disbelieved}
    for trials in (believed, first):
        allowed, moved = recommendable_points(data, trials)
        if allowed or moved:
            return allowed, moved
    return {row: believed.get(row, first[row]) for row in {*first} & {*believed} or {*first}}, {}


def _best_at(data: Data, models: OutcomeModels) -> Incumbent:
    """The incumbent with some values fixed."""
    (model,) = models
    allowed, moved = _candidates(data, model)
    trials = [*allowed.values(), *(trial for trial, _ in moved.values())]
    points = points_with_fixed(data, trials) or points_with_fixed(data, data.told)
    means, sds = model.predict(list(points))
    check_finite(*means, *sds)
    best = max(range(len(means)), key=lambda i: data.sign * means[i])
    trial, point = list(points.values())[best]
    return Incumbent(trial, means[best], sds[best], None if point == trial.params else point)


def raw_incumbent(settings: Settings, history: History) -> Incumbent:
    """The trial of best measured value, whatever the surrogate thinks of it.

    Raises:
        ValueError: If no value has been told.
    """
    data = observations(settings, history)
    if not data.told:
        raise ValueError(no_value(data.trials, BEST))
    return _raw_incumbents(data)[-1].of(settings.quantity)


def _raw_incumbents(data: Data, without: Collection[int] = ()) -> list[Incumbent]:
    """The trials of the best measured values so far; a bound is none, unless there is nothing else."""
    told = [trial for trial in data.told if trial.number not in without]
    allowed = [trial for trial in told if data.region.contains(trial.params)] or told
    values = [trial for trial in allowed if not is_bound(trial.measured)] or allowed
    best = records(values, lambda trial: data.sign * trial.measured)
    return [Incumbent(t, t.measured, math.nan if t.sd is None else t.sd, is_raw=True) for t in best]
