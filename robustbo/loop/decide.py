"""The decision which point comes next, as a pure function of settings and history."""

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from robustbo import seeds
from robustbo.determinism.surroundings import pin_surroundings
from robustbo.loop.belief.outcome_models import OutcomeModels, unknown_rows, unmeasured_outcomes, use_models
from robustbo.loop.candidates.choose import choose
from robustbo.loop.candidates.initial_design import feasible_sobol_point, is_filled, sobol_point
from robustbo.loop.candidates.no_signal import NO_SIGNAL, has_signal
from robustbo.loop.candidates.other_source import choose_source, name_target, suggest_row
from robustbo.loop.candidates.pending import NOTHING_NEW, is_exhausted
from robustbo.loop.candidates.retry import suggest_retry
from robustbo.loop.candidates.rules import UNKNOWN, Promise, Rules, rules_of
from robustbo.loop.candidates.search import Search
from robustbo.loop.candidates.suggestion import Suggestion
from robustbo.loop.feasibility.model import FeasibilityModel, feasibility_model
from robustbo.loop.observations.auxiliary import without_declared
from robustbo.loop.observations.correction import SourceShift
from robustbo.loop.observations.expectation import Expectation
from robustbo.loop.observations.table import Data, Row, observations
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.region.region import Fixed
from robustbo.trials.declared import source_in
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.sources import Labels
from robustbo.trials.tree import OPENED

log = logging.getLogger("robustbo")


@pin_surroundings
def step(
    settings: Settings,
    history: History,
    trial: int,
    fits: FitCache | None = None,
    fixed: Fixed = (),
    by: Labels = (),
) -> Suggestion:
    """The point of trial number ``trial``: same arguments, same point, bit for bit.

    The first `Settings.num_initial` points are scrambled Sobol points, and so is any point asked before a value has
    been told, and while all values are equal within noise (`no_signal`). Measurements made elsewhere count among the
    first; failed trials do not, unless few others are there (see `initial_design.is_filled`). Where some have failed,
    it keeps away from there.

    Args:
        settings: What the run was told at its beginning.
        history: All that happened before; its open trials are accounted for, and not asked for again.
        trial: The trial's number.
        fits: The last fits, of whoever asks again and again; they change nothing but the time.
        fixed: Parameters that have a given value, and it.
        by: The source that will measure it, where that is known; of declared ones the optimizer chooses it by default.

    Where a surrogate cannot be fitted or used, a simpler one decides, and at last a Sobol point: see
    `surrogate.fallback`.

    Raises:
        SpaceExhausted: If every point of the space is being measured.
        SpaceError: If no point of it keeps the constraints, with what is fixed.
    """
    data, fits = observations(settings, history, fixed, by), FitCache() if fits is None else fits
    if (name := source_in(settings.sources, by)) is not None:
        return replace(suggest_row(settings, data, name, trial, fits), fixed=fixed)
    suggestion = _step(settings, data, trial, fits)
    if settings.sources:
        suggestion = name_target(settings, suggestion) if by else choose_source(settings, data, suggestion, trial, fits)
    return replace(
        suggestion, fixed=fixed, elsewhere=without_declared(settings.sources, _sources_in_doubt(data, suggestion))
    )


@pin_surroundings
def promise(settings: Settings, history: History, row: Row, fits: FitCache | None = None) -> Promise:
    """The promise of a new point at a unit-cube row; infinite where nothing is known, or no surrogate can be fitted."""
    data = observations(settings, history)
    if not data.told or unmeasured_outcomes(settings, data.trials):
        return UNKNOWN

    def use(models: OutcomeModels) -> Promise:
        return rules_of(settings, data, models).promise(row)

    result, _ = use_models(settings, data, use, FitCache() if fits is None else fits, is_judging=True)
    return UNKNOWN if result is None else result


class Rival(NamedTuple):
    """Another new point than the one that was decided on.

    Attributes:
        suggestion: As it would have been.
        shortfall: How much lower its acquisition is, in nats; negative where it is higher.
    """

    suggestion: Suggestion
    shortfall: float


@pin_surroundings
def rival(
    settings: Settings,
    history: History,
    trial: int,
    points: tuple[Mapping[str, Value], Mapping[str, Value]],
    fits: FitCache | None = None,
    fixed: Fixed = (),
    by: Labels = (),
) -> Rival | None:
    """The rival of a new point that `step` decided on, by the same surrogates; None where these could not be used.

    Args:
        settings: As for `step`.
        history: As for `step`.
        trial: As for `step`.
        points: The point decided on, and the other one.
        fits: As for `step`.
        fixed: As for `step`.
        by: As for `step`.
    """
    data, fits = observations(settings, history, fixed, by), FitCache() if fits is None else fits
    feasibility, _ = _fit_feasibility(settings, data, fits)

    def use(models: OutcomeModels) -> Rival:
        rules = rules_of(settings, data, models)
        search = _search(settings, data, trial, feasibility, models, rules)
        decided, other = search.values_at([data.space.to_unit(point) for point in points]).tolist()
        suggestion = Suggestion(dict(points[1]), "model")
        expected = rules.expectation(suggestion)
        error = _expected_error(expected, data.by, models)
        return Rival(replace(suggestion, expected=expected, expected_error=error, fixed=fixed), decided - other)

    result, _ = use_models(settings, data, use, fits)
    return result


def _sources_in_doubt(data: Data, suggestion: Suggestion) -> Labels:
    """The sources of the value that a suggestion replicates: what another one says tells it from the function."""
    number = suggestion.trial_to_replicate
    return () if number is None else tuple(sorted(data.trials[number].sources.items()))


def _step(settings: Settings, data: Data, trial: int, fits: FitCache) -> Suggestion:
    count = sum(map(data.trials.num, ("told", OPENED, "excluded")))
    reason = NOTHING_NEW if is_exhausted(data.region, data.trials) else None
    if (again := suggest_retry(data)) is not None:
        return again
    feasibility, unlearned = _fit_feasibility(settings, data, fits)
    fill = partial(_fill_space, settings, data, trial, reason, feasibility)
    is_begun = count >= settings.num_initial or (feasibility is not None and is_filled(data, settings.num_initial))
    if settings.acquisition == "sobol" or not data.trials.num("told") or not is_begun:
        return _with_fallbacks(fill(), unlearned)
    if names := unmeasured_outcomes(settings, data.trials):
        why = f"space-filling, since no value of {' and '.join(names)} has been told"
        return _with_fallbacks(fill(), why, unlearned)
    if not has_signal(data, [outcome.name for outcome in settings.outcomes]):
        filling = fill()
        return _with_fallbacks(replace(filling, reason=filling.reason or NO_SIGNAL), unlearned)
    suggestion, fallback = use_models(
        settings, data, partial(_decide, settings, data, trial, reason, feasibility), fits
    )
    return _with_fallbacks(fill() if suggestion is None else suggestion, fallback, unlearned)


def _with_fallbacks(suggestion: Suggestion, *fallbacks: str | None) -> Suggestion:
    """The suggestion with the fallbacks by which it came about, if there are any."""
    reasons = [reason for reason in (*fallbacks, suggestion.fallback) if reason is not None]
    return replace(suggestion, fallback="; ".join(reasons)) if reasons else suggestion


def _fit_feasibility(settings: Settings, data: Data, fits: FitCache) -> tuple[FeasibilityModel | None, str | None]:
    """The model of where trials give a value, if that is to be learned; and why it could not be."""
    if settings.failures == "ignore" or settings.acquisition == "sobol":
        return None, None
    model, error = attempt(partial(feasibility_model, data, settings.seed, fits))
    if error is None:
        return model, None
    log.warning("the model of failures could not be fitted: %s", error)
    return None, f"as if no trial had failed, since it could not be learned where: {error}"


def _fill_space(
    settings: Settings, data: Data, trial: int, reason: str | None, feasibility: FeasibilityModel | None
) -> Suggestion:
    """A space-filling point."""
    if feasibility is None:
        return Suggestion(sobol_point(data, settings.seed, trial), "sobol", reason=reason)
    point_and_reason, error = attempt(partial(feasible_sobol_point, data, feasibility, settings.seed, trial))
    if point_and_reason is None:
        log.warning("the model of failures could not be used: %s", error)
        why = f"as if no trial had failed, since its chance could not be computed: {error}"
        return _with_fallbacks(_fill_space(settings, data, trial, reason, None), why)
    point, away = point_and_reason
    return Suggestion(point, "sobol", reason=reason or away)


def _decide(
    settings: Settings,
    data: Data,
    trial: int,
    reason: str | None,
    feasibility: FeasibilityModel | None,
    models: OutcomeModels,
) -> Suggestion:
    """The decision by fitted surrogates, one an outcome."""
    started, seed = time.perf_counter(), partial(seeds.derive, settings.seed, trial)
    rules = rules_of(settings, data, models)
    search = _search(settings, data, trial, feasibility, models, rules)
    suggestion = choose(data, reason, search, seed, rules.replicate)
    expected, diagnosis = rules.expectation(suggestion), rules.diagnosis(trial)
    fit_s, acquisition_s = sum(model.fitted.seconds for model in models), time.perf_counter() - started
    suggestion = replace(suggestion, expected=expected, diagnosis=diagnosis, fit_s=fit_s, acquisition_s=acquisition_s)
    return replace(suggestion, expected_error=_expected_error(expected, data.by, models))


def _search(
    settings: Settings,
    data: Data,
    trial: int,
    feasibility: FeasibilityModel | None,
    models: OutcomeModels,
    rules: Rules,
) -> Search:
    """The search for a new point by fitted surrogates."""
    seed, unknown = seeds.derive(settings.seed, trial, "acquisition"), unknown_rows(data, models)
    return Search(settings.acquisition, rules.target, feasibility, unknown, data.region, seed)


def _expected_error(
    expected: Expectation | dict[str, Expectation] | None, by: Labels, models: OutcomeModels
) -> SourceShift | dict[str, SourceShift] | None:
    """The error that the source which will measure adds to an expectation, by what is believed of it."""
    if expected is None or not by:
        return None
    shifts = {model.outcome.name: model.fitted.source_shift(dict(by)) for model in models}
    if not isinstance(expected, dict):
        return shifts[models[0].outcome.name]
    return {name: shift for name, shift in shifts.items() if name in expected and shift is not None} or None
