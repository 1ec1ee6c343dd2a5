"""The next row of another source than the target, and which source is worth its cost.

The first rows of a source spread over the space, as many as the target's initial design has; the levels of one thing
share them. Later ones are where they are worth most (`source_worth`). Which source is asked is that of the largest
worth by its cost; until a source has proven itself, what it may cost is capped.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from robustbo import seeds
from robustbo.loop.belief.outcome_models import OutcomeModels, use_models
from robustbo.loop.candidates.initial_design import feasible_sobol_point, sobol_point
from robustbo.loop.candidates.pending import has_free_point
from robustbo.loop.candidates.retry import retry_by_user, suggest_retry
from robustbo.loop.candidates.source_worth import (
    fixed_points,
    points_to_compare,
    source_feasibility,
    target_worth,
    transfer_models,
    worths,
)
from robustbo.loop.candidates.suggestion import Suggestion
from robustbo.loop.observations.table import Data
from robustbo.loop.surrogate.cache import FitCache
from robustbo.trials.declared import others_of, target_of
from robustbo.trials.settings import Settings
from robustbo.trials.sources import DEFAULT_KIND

UNPROVEN = 0.15  # share of all costs that a source may have before it has proven itself
PROOF = 3.0  # nats that speak for its saying something of the target, from which on it has


def suggest_row(settings: Settings, data: Data, name: str, trial: int, fits: FitCache) -> Suggestion:
    """The next row of a source; a pure function of its arguments except for ``fits``.

    Args:
        settings: What the run was told at its beginning.
        data: All trials.
        name: The source.
        trial: The number of the trial.
        fits: The last fits.
    """
    data = data.at_source(name)
    own = data.trials_of_source(name)
    if (again := suggest_retry(own)) is not None:
        return replace(again, source=_label(name))
    spread = _spread(settings, own, name, trial, fits)
    if not _is_learning(settings, data, name):
        return spread
    suggestion, fallback = use_models(settings, data, partial(_best_row, settings, data, name, trial, fits), fits)
    return replace(spread if suggestion is None else suggestion, fallback=fallback)


def _spread(settings: Settings, own: Data, name: str, trial: int, fits: FitCache) -> Suggestion:
    """A row that spreads over the space, where the source may well give a value."""
    feasibility = source_feasibility(settings, own, fits)
    if feasibility is None:
        return Suggestion(sobol_point(own, settings.seed, trial), "sobol", source=_label(name))
    point, reason = feasible_sobol_point(own, feasibility, settings.seed, trial)
    return Suggestion(point, "sobol", source=_label(name), reason=reason)


def choose_source(settings: Settings, data: Data, target: Suggestion, trial: int, fits: FitCache) -> Suggestion:
    """The suggestion of the source that is worth its cost: the target's own, unless another source is worth more.

    Args:
        settings, data, trial, fits: As in `suggest_row`.
        target: The suggestion for the target.
    """
    named = name_target(settings, target)
    if target.origin != "model" or target.repeats is not None or data.fixed:
        return named
    askable = [name for name, source in others_of(settings.sources).items() if source.ask and _is_free(data, name)]
    again = (name for name in askable if retry_by_user(data.at_source(name).trials_of_source(name)) is not None)
    due = (name for name in askable if not _is_learning(settings, data, name) and _is_due(settings, data, name))
    if (begin := next(chain(again, due), None)) is not None:
        return suggest_row(settings, data, begin, trial, fits)
    usable = [name for name in askable if _is_learning(settings, data, name)]
    if not usable:
        return named
    name, _ = use_models(settings, data, partial(_worth_most, settings, data, usable, target, fits), fits)
    return named if not name else suggest_row(settings, data, name, trial, fits)


def name_target(settings: Settings, suggestion: Suggestion) -> Suggestion:
    """The suggestion with the name of the target."""
    return replace(suggestion, source=_label(str(target_of(settings.sources))))


def _label(name: str) -> tuple[tuple[str, str], ...]:
    return ((DEFAULT_KIND, name),)


def _is_learning(settings: Settings, data: Data, name: str) -> bool:
    """Return whether enough is known of a source to ask for its rows by what they are worth."""
    family = data.auxiliary.family(name)
    outcomes = [data.auxiliary.of(o.name) for o in settings.outcomes if o.is_objective] or [data.auxiliary]
    has_values = any(of.told(other) for of in outcomes for other in family)
    is_begun = sum(len(data.auxiliary.of_source(other)) for other in family) >= settings.num_initial and has_values
    return is_begun and bool(data.told) and settings.acquisition != "sobol"


def _is_free(data: Data, name: str) -> bool:
    """Return whether a source has a free point, and no row that is not told yet: its next one follows from that."""
    if any(trial.is_open for trial in data.auxiliary.of_source(name)):
        return False
    own = data.at_source(name).trials_of_source(name)
    return not own.barred or has_free_point(own)


def _is_due(settings: Settings, data: Data, name: str) -> bool:
    """Return whether one more row of a source that has proven nothing is within what it may cost."""
    own = dict(settings.sources)[name].cost
    spent = {of: data.auxiliary.spent(of) for of in others_of(settings.sources)}
    at_target = dict(settings.sources)[str(target_of(settings.sources))].cost
    trials = (*data.told, *data.failed, *data.pending, *data.excluded)
    total = sum(spent.values()) + at_target * sum(trial.origin != "user" for trial in trials)
    return spent[name] + own <= UNPROVEN * (total + own)


def _best_row(
    settings: Settings, data: Data, name: str, trial: int, fits: FitCache, models: OutcomeModels
) -> Suggestion | None:
    """The row of a source that is worth most; None where its values are not learned from."""
    points = points_to_compare(data.trials_of_source(name), seeds.derive(settings.seed, trial, "row"))
    worth = worths(settings, data, transfer_models(models), name, points, fits)
    return None if worth is None else Suggestion(points[int(worth.argmax())], "model", source=_label(name))


def _worth_most(
    settings: Settings, data: Data, names: Sequence[str], target: Suggestion, fits: FitCache, models: OutcomeModels
) -> str:
    """The source whose best row is worth most by its cost; "" of the target, at the point that it would be asked at."""
    learning, cost = transfer_models(models), {name: source.cost for name, source in settings.sources}
    if not learning:
        return ""
    at_target = target_worth(data, learning, target.params, fixed_points(data, settings))
    worth = {"": at_target / cost[str(target_of(settings.sources))]}
    for name in names:
        evidence = [of[name].evidence for model in learning if name in (of := model.fitted.relations)]
        if not evidence and data.auxiliary.depth(name):
            evidence = [of.evidence for model in learning for of in model.fitted.relations.values()]
        if any(nats > PROOF for nats in evidence) or (evidence and _is_due(settings, data, name)):
            at_source = data.at_source(name)
            points = points_to_compare(at_source.trials_of_source(name), seeds.derive(settings.seed, 0, "sources"))
            if (values := worths(settings, at_source, learning, name, points, fits)) is not None:
                worth[name] = float(values.max()) / cost[name]
    return max(worth, key=lambda name: worth[name])
