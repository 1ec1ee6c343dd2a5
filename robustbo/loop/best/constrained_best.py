"""The best point of one objective, where other outcomes must keep bounds."""

import math

from robustbo.censored import is_bound
from robustbo.determinism.surroundings import pin_surroundings
from robustbo.errors import FitError
from robustbo.loop.best.front import use_points
from robustbo.loop.best.incumbent import BEST, Incumbent, half_way
from robustbo.loop.best.measured_points import MeasuredPoints
from robustbo.loop.best.records import records
from robustbo.loop.observations.no_value import no_value
from robustbo.loop.observations.table import Data, observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.region.region import Fixed
from robustbo.trials.history import History, Trial
from robustbo.trials.outcome import Outcome
from robustbo.trials.outcomes import OutcomeGoal
from robustbo.trials.settings import Settings


@pin_surroundings
def best(settings: Settings, history: History, fits: FitCache | None = None, fixed: Fixed = ()) -> Incumbent:
    """The best of one objective among the points measured, where other outcomes must keep bounds.

    A point counts half-way between its posterior mean and its own believed value, as where there is one outcome. Of the
    points that probably keep the bounds it is the one whose lead over the worst, times that probability, is largest: as
    if a point that breaks a bound were worth as much as the worst. Where none probably does, it is the one most
    likely to. Where no surrogate can be fitted it is that of the best value measured, as `raw_best`.

    Raises:
        ValueError: If there are several objectives, or an outcome has no value that counts.
        FitError: If some values are fixed and no surrogate can be fitted.
    """
    return bests(settings, history, fits, fixed)[-1]


@pin_surroundings
def bests(settings: Settings, history: History, fits: FitCache | None = None, fixed: Fixed = ()) -> list[Incumbent]:
    """The best points so far, by what is believed now: each beats those before it; the last is the `best`."""
    _objective(settings)
    try:
        return use_points(settings, observations(settings, history, fixed), fits, _bests)
    except FitError:
        if fixed:
            raise
        return [raw_best(settings, history)]


def raw_best(settings: Settings, history: History) -> Incumbent:
    """The trial of best measured value of one objective, whatever the surrogates think of it.

    Those that have broken a bound, or lack an outcome that has one, come last.

    Raises:
        ValueError: If there are several objectives, or the objective has no value.
    """
    objective = _objective(settings)
    data = observations(settings, history)
    told = data.of(objective).told
    if not told:
        raise ValueError(no_value(data.trials, BEST, [objective.name]))

    def is_feasible(trial: Trial) -> bool:
        values = data.trials[trial.number].values
        return all(o.keeps(values.get(o.name, math.nan)) for o in settings.outcomes if o.is_constrained)

    def rank(trial: Trial) -> tuple[bool, bool, bool, float]:
        is_value = not is_bound(trial.measured)
        return is_value, data.region.contains(trial.params), is_feasible(trial), objective.sign * trial.measured

    best = max(told, key=rank)
    sd = math.nan if best.sd is None else best.sd
    quantity, p = objective.outcome or Outcome(), float(is_feasible(best))
    return Incumbent(
        data.trials[best.number], best.measured, sd, probability_feasible=p, is_raw=True, quantity=quantity
    )


def _objective(settings: Settings) -> OutcomeGoal:
    """The only objective."""
    if len(settings.objectives) > 1:
        names = [name for name, _ in settings.objectives]
        raise ValueError(
            f"several objectives {names} have no single best point; front() returns the points that no other beats"
        )
    return settings.outcomes[0]


def _bests(data: Data, points: MeasuredPoints) -> list[Incumbent]:
    ((place, model),) = ((i, model) for i, model in enumerate(points.models) if model.outcome.is_objective)
    rows_of_points = [tuple(data.space.to_unit(point)) for point in points.points]
    worth = half_way(model, dict(zip(rows_of_points, points.means[:, place].tolist(), strict=True)))
    value, p = points.X.new_tensor([model.outcome.sign * worth[row] for row in rows_of_points]), points.feasible
    lead = p * (value - value.min())
    is_any = bool(points.is_likely.any())
    score = (lead if is_any else points.log_feasible).tolist()
    allowed = [i for i, is_likely in enumerate(points.is_likely.tolist()) if is_likely or not is_any]
    rows = sorted(allowed, key=lambda i: points.trials[i].number)
    name, quantity = model.outcome.name, model.outcome.outcome
    incumbents = []
    for point in map(points.point, records(rows, score.__getitem__)):
        outcomes = {other: (point.means[other], point.sds[other]) for other in point.means}
        best = Incumbent(point.trial, *outcomes[name], point.moved, outcomes, point.probability_feasible)
        incumbents.append(best if quantity is None else best.of(quantity))
    return incumbents
