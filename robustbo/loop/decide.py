"""The decision which point comes next, as a pure function of settings and history."""

import logging
import math
import time
from dataclasses import replace
from functools import partial

from robustbo import seeds
from robustbo.determinism.surroundings import pin_surroundings
from robustbo.loop.belief.incumbent import Incumbent, incumbent, raw_incumbent
from robustbo.loop.belief.judge import judge
from robustbo.loop.belief.outcome_models import climb_each, missing
from robustbo.loop.candidates import decide_several as several
from robustbo.loop.candidates.choose import choose, may_replicate
from robustbo.loop.candidates.initial_design import away, is_filled
from robustbo.loop.candidates.pending import NOTHING_NEW, first_point, is_exhausted
from robustbo.loop.candidates.propose import search
from robustbo.loop.candidates.replicate import replicate
from robustbo.loop.candidates.retry import wanted_again
from robustbo.loop.candidates.suggestion import Suggestion
from robustbo.loop.feasibility.model import FeasibilityModel, feasibility_model
from robustbo.loop.observations.expectation import Expectation
from robustbo.loop.observations.table import Data, Row, observations
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fallback import climb
from robustbo.loop.surrogate.fit import is_robust
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.searchspace.region.region import Fixed
from robustbo.surrogates.common.contract import capabilities
from robustbo.surrogates.filtered import FilterVerdict
from robustbo.trials.history import RETRY, Diagnosis, History
from robustbo.trials.settings import Settings
from robustbo.trials.tree import OPENED

log = logging.getLogger("robustbo")

__all__ = ["Incumbent", "Suggestion", "incumbent", "raw_incumbent", "step"]  # the best was found here once


@pin_surroundings
def step(
    settings: Settings, history: History, trial: int, fits: FitCache | None = None, fixed: Fixed = ()
) -> Suggestion:
    """The point of trial number ``trial``: same arguments, same point, bit for bit.

    The first `Settings.num_initial` points are scrambled Sobol points, and so is any point asked before a value has
    been told. Measurements made elsewhere count among the first; failed trials do not, unless few others are there (see
    `away.is_filled`). Where some have failed, it keeps away from there.

    Args:
        settings: What the run was told at its beginning.
        history: All that happened before; its open trials are accounted for, and not asked for again.
        trial: The trial's number.
        fits: The last fits, of whoever asks again and again; they change nothing but the time.
        fixed: Parameters that have a given value, and it.

    Where a surrogate cannot be fitted or used, a simpler one decides, and at last a Sobol point; see `ladder`.

    Raises:
        SpaceExhausted: If every point of the space is being measured.
        SpaceError: If no point of it keeps the constraints, with what is fixed.
    """
    data = observations(settings, history, fixed)
    return replace(_step(settings, data, trial, FitCache() if fits is None else fits), fixed=fixed)


def _step(settings: Settings, data: Data, trial: int, fits: FitCache) -> Suggestion:
    count = sum(map(data.trials.num, ("told", OPENED, "excluded")))
    reason = NOTHING_NEW if is_exhausted(data.region, data.trials) else None
    if (again := wanted_again(data)) is not None:
        return Suggestion(again.params, again.origin, again.expectations or again.expectation, again.number, RETRY)
    viable, unlearned = _viability(settings, data, fits)
    filling = partial(_filling, settings, data, trial, reason, viable)
    is_begun = count >= settings.num_initial or (viable is not None and is_filled(data, settings.num_initial))
    if settings.acquisition == "sobol" or not data.trials.num("told") or not is_begun:
        return _explained(filling(), unlearned)
    if names := missing(settings, data):
        why = f"space-filling, since no value of {' and '.join(names)} has been told"
        return _explained(filling(), why, unlearned)
    if settings.outcomes:
        decided = partial(several.decided, settings, data, trial, reason, viable)
        made, fallback = climb_each(settings, data, decided, fits)
    else:
        made, fallback = climb(settings, data, partial(_decided, data, trial, reason, viable), fits)
    return _explained(filling() if made is None else made, fallback, unlearned)


def _explained(made: Suggestion, *why: str | None) -> Suggestion:
    """A suggestion that says what could not be done for it, if there is anything."""
    reasons = [reason for reason in (*why, made.fallback) if reason is not None]
    return replace(made, fallback="; ".join(reasons)) if reasons else made


def _viability(settings: Settings, data: Data, fits: FitCache) -> tuple[FeasibilityModel | None, str | None]:
    """Where trials give a value, if that is to be learned; and why it could not be."""
    if settings.failures == "ignore" or settings.acquisition == "sobol":
        return None, None
    found, error = attempt(partial(feasibility_model, data, settings.seed, fits))
    if error is None:
        return found, None
    log.warning("where trials fail could not be learned: %s", error)
    return None, f"as if no trial had failed, since it could not be learned where: {error}"


def _filling(
    settings: Settings, data: Data, trial: int, reason: str | None, viable: FeasibilityModel | None
) -> Suggestion:
    """A space-filling point."""
    if viable is None:
        return Suggestion(first_point(data, settings.seed, trial), "sobol", reason=reason)
    kept_away, error = attempt(partial(away, data, viable, settings.seed, trial))
    if kept_away is None:
        log.warning("where trials fail could not be heeded: %s", error)
        why = f"as if no trial had failed, since its chance could not be computed: {error}"
        return _explained(_filling(settings, data, trial, reason, None), why)
    point, other = kept_away
    return Suggestion(point, "sobol", reason=reason or other)


def _decided(
    data: Data,
    trial: int,
    reason: str | None,
    viable: FeasibilityModel | None,
    settings: Settings,
    fitted: FittedSurrogate,
) -> Suggestion:
    """The decision by a fitted surrogate."""
    started, seed = time.perf_counter(), partial(seeds.derive, settings.seed, trial)
    searching = search(settings.acquisition, data, fitted, viable, seed)
    made = choose(data, reason, searching, seed, partial(_replicate, settings, data, fitted))
    if made.repeats is None or made.reason == RETRY:
        made = replace(made, expected=_expected(settings, fitted, tuple(data.space.to_unit(made.params))))
    seconds = time.perf_counter() - started
    return replace(made, diagnosis=_new_diagnosis(data, fitted, trial), fit_s=fitted.seconds, acquisition_s=seconds)


def _replicate(settings: Settings, data: Data, fitted: FittedSurrogate, new: Row) -> Suggestion | None:
    """A replicate in place of a new point, if knowing that value is worth more."""
    if not may_replicate(settings, data):
        return None
    belief, is_any = judge(data, fitted), settings.replicate == "any"
    found = replicate(data, fitted, belief, new, max_replicates=settings.max_replicates, is_any=is_any)
    if found is None:
        return None
    first = found.trial
    return Suggestion(first.params, "model", _finite(found.expected, found.sd), first.number)


def _expected(settings: Settings, fitted: FittedSurrogate, new: Row) -> Expectation | None:
    """What a robust surrogate expects to be told at a new point."""
    if not is_robust(settings):
        return None
    (expected,) = fitted.expect([new])
    return _finite(*expected)


def _finite(expected: float, sd: float) -> Expectation | None:
    return (expected, sd) if math.isfinite(expected) and math.isfinite(sd) else None


def _new_diagnosis(data: Data, fitted: FittedSurrogate, trial: int) -> Diagnosis | None:
    """The verdict that the surrogate stands on, if the history does not end with the same."""
    verdict: FilterVerdict | None = fitted.model.verdict if capabilities(fitted.model).judges_alone else None
    if verdict is None:
        return None
    numbers = [fitted.observations.numbers[i] for i in verdict.outliers]
    found = dict(sorted(zip(numbers, verdict.percentiles, strict=True)))
    outliers, percentiles = tuple(found), tuple(u if fitted.sign > 0 else 1 - u for u in found.values())
    made = Diagnosis(trial, verdict.observations, outliers, percentiles, verdict.is_void)
    said = [(d.observations, d.outliers, d.void) for d in (*data.diagnoses[-1:], made)]
    return None if len(said) == 2 and said[0] == said[1] else made
