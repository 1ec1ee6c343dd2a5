"""The decision which point comes next, as a pure function of settings and history."""

import logging
import math
import time
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from robustbo import seeds
from robustbo.determinism.surroundings import pinned
from robustbo.loop.away import away, is_filled
from robustbo.loop.cache import FitCache
from robustbo.loop.distinct import AGAIN, NOTHING_NEW, first_point, is_at, is_exhausted
from robustbo.loop.evidence import Expectation
from robustbo.loop.fit import Fitted, is_robust
from robustbo.loop.incumbent import Incumbent, incumbent, raw_incumbent
from robustbo.loop.judge import judge
from robustbo.loop.ladder import NUMERICAL, climb
from robustbo.loop.observations import Data, Row, observations
from robustbo.loop.propose import propose, search
from robustbo.loop.replicate import is_wanted, replicate
from robustbo.loop.retry import flake, vouched_for
from robustbo.loop.viability import Viability, viability
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.region.region import Fixed
from robustbo.surrogates.common.contract import capabilities
from robustbo.surrogates.filtered import Verdict
from robustbo.trials.history import REMEASURE, RETRY, Diagnosis, History
from robustbo.trials.settings import Settings

log = logging.getLogger("robustbo")

__all__ = ["Incumbent", "Suggestion", "incumbent", "raw_incumbent", "step"]  # the best was found here once


@dataclass(frozen=True)
class Suggestion:
    """The next point, or one to re-evaluate.

    Attributes:
        params: The point.
        origin: "sobol" or "model".
        expected: What a robust model expects to be told there, and the standard deviation of that, noise included.
        repeats: The trial that it replicates, if it does.
        reason: "re-measure" or "retry" where it repeats another, "asked before" where the model wants another value at
            a point, "away from failures" where a Sobol point would probably fail, "nothing new left" where every point
            of a finite space has been asked for.
        fallback: Which surrogate it comes from, and why, where that of the settings could not be used.
        diagnosis: What a surrogate that judges on a schedule has found since the last one in the history.
        fit_s: Seconds that the fit took.
        acquisition_s: Seconds that the rest took.
        fixed: What was given.
    """

    params: dict[str, Value]
    origin: str
    expected: tuple[float, float] | None = None
    repeats: int | None = None
    reason: str | None = None
    fallback: str | None = None
    diagnosis: Diagnosis | None = None
    fit_s: float = 0.0
    acquisition_s: float = 0.0
    fixed: Fixed = ()

    @property
    def decision(self) -> dict[str, Any]:
        """All but the times: what is the same whenever it is computed again."""
        made: dict[str, Any] = {"params": self.params, "origin": self.origin}
        if self.expected is not None:
            made |= dict(zip(("expected", "expected_sd"), self.expected, strict=True))
        if self.fallback is not None:
            made["fallback"] = self.fallback
        if self.fixed:
            made["fixed"] = dict(self.fixed)
        if self.repeats is not None:
            return made | {"repeats": self.repeats, "reason": self.reason or REMEASURE}
        return made if self.reason is None else made | {"reason": self.reason}

    def events(self, trial: int) -> list[dict[str, Any]]:
        """What a journal keeps of it: the diagnosis, if there is one, then the decision and how long it took."""
        times = {"fit_s": round(self.fit_s, 4), "acquisition_s": round(self.acquisition_s, 4)}
        ask = {"event": "ask", "trial": trial, **self.decision, **times}
        return [ask] if self.diagnosis is None else [{"event": "diagnose", **asdict(self.diagnosis)}, ask]


@pinned
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
    count = len(data.told) + len(data.pending) + len(data.excluded)
    reason = NOTHING_NEW if is_exhausted(data.region, data.trials) else None
    if (again := vouched_for(data)) is not None:
        return Suggestion(again.params, again.origin, again.expectation, again.number, RETRY)
    viable, unlearned = _viability(settings, data, fits)
    filling = partial(_filling, settings, data, trial, reason, viable)
    is_begun = count >= settings.num_initial or (viable is not None and is_filled(data, settings.num_initial))
    if settings.acquisition == "sobol" or not data.told or not is_begun:
        return replace(filling(), fallback=unlearned)
    made, fallback = climb(settings, data, partial(_decided, data, trial, reason, viable), fits)
    made, why = filling() if made is None else made, [each for each in (fallback, unlearned) if each is not None]
    return replace(made, fallback="; ".join(why)) if why else made


def _viability(settings: Settings, data: Data, fits: FitCache) -> tuple[Viability | None, str | None]:
    """Where trials give a value, if that is to be learned; and why it could not be."""
    if settings.failures == "ignore" or settings.acquisition == "sobol":
        return None, None
    try:
        return viability(data, settings.seed, fits), None
    except NUMERICAL as error:
        log.warning("where trials fail could not be learned: %s", error)
        return None, f"as if no trial had failed, since it could not be learned where: {type(error).__name__}: {error}"


def _filling(settings: Settings, data: Data, trial: int, reason: str | None, viable: Viability | None) -> Suggestion:
    """A space-filling point."""
    if viable is None:
        return Suggestion(first_point(data, settings.seed, trial), "sobol", reason=reason)
    point, other = away(data, viable, settings.seed, trial)
    return Suggestion(point, "sobol", reason=reason or other)


def _decided(
    data: Data, trial: int, reason: str | None, viable: Viability | None, settings: Settings, fitted: Fitted
) -> Suggestion:
    """The decision by a fitted surrogate."""
    started, seed = time.perf_counter(), partial(seeds.derive, settings.seed, trial)
    searching = search(settings.acquisition, data, fitted, viable, seed)
    point = propose(searching, data, seed)
    row = tuple(data.space.to_unit(point))
    made = _replicate(settings, data, fitted, row)
    if made is None and viable is not None and is_wanted(data):
        failed = flake(searching, data, viable, row)
        if failed is not None:
            expected = _expected(settings, fitted, data.rows[failed.number])
            made = Suggestion(failed.params, "model", expected, failed.number, RETRY)
    if made is None:
        reason = AGAIN if reason is None and is_at(data.trials, point) else reason
        made = Suggestion(point, "model", _expected(settings, fitted, row), reason=reason)
    seconds = time.perf_counter() - started
    return replace(made, diagnosis=_new_diagnosis(data, fitted, trial), fit_s=fitted.seconds, acquisition_s=seconds)


def _replicate(settings: Settings, data: Data, fitted: Fitted, new: Row) -> Suggestion | None:
    """A replicate in place of a new point, if knowing that value is worth more."""
    is_any = settings.remeasure == "suspicious"
    is_on = is_any or (settings.remeasure == "promising" and is_robust(settings))
    if not is_on or not is_wanted(data):
        return None
    belief = judge(data, fitted)
    found = replicate(data, fitted, belief, new, max_repeats=settings.max_repeats, is_any=is_any)
    if found is None:
        return None
    first = found.trial
    return Suggestion(first.params, "model", _finite(found.expected, found.sd), first.number)


def _expected(settings: Settings, fitted: Fitted, new: Row) -> Expectation | None:
    """What a robust surrogate expects to be told at a new point."""
    if not is_robust(settings):
        return None
    (expected,) = fitted.expect([new])
    return _finite(*expected)


def _finite(expected: float, sd: float) -> Expectation | None:
    return (expected, sd) if math.isfinite(expected) and math.isfinite(sd) else None


def _new_diagnosis(data: Data, fitted: Fitted, trial: int) -> Diagnosis | None:
    """The verdict that the surrogate stands on, if the history does not end with the same."""
    verdict: Verdict | None = fitted.model.verdict if capabilities(fitted.model).judges_alone else None
    if verdict is None:
        return None
    outliers = tuple(fitted.observations.numbers[i] for i in verdict.outliers)
    percentiles = tuple(u if fitted.sign > 0 else 1 - u for u in verdict.percentiles)
    made = Diagnosis(trial, verdict.observations, outliers, percentiles, verdict.is_void)
    said = [(d.observations, d.outliers, d.void) for d in (*data.diagnoses[-1:], made)]
    return None if len(said) == 2 and said[0] == said[1] else made
