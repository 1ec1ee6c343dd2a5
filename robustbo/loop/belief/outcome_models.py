"""What has been learned of each of several outcomes: a surrogate of its own, by a ladder of its own.

Where they say together that a trial failed as a whole, all its values are left out.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import torch

from robustbo.lazy import cached_property
from robustbo.loop.belief import trial_failure
from robustbo.loop.belief.judge import Belief, judge
from robustbo.loop.observations.expectation import Expectation
from robustbo.loop.observations.table import Data, Row
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fallback import PLAIN, climb
from robustbo.loop.surrogate.fit import fit_to, is_robust
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.pursuit.penalty import RATE
from robustbo.trials.outcomes import Wanted
from robustbo.trials.settings import Settings

T = TypeVar("T")

FAILED = 0.5  # probability from which on a trial counts as failed


@dataclass(frozen=True)
class Learned:
    """What has been learned of one of several outcomes.

    Attributes:
        wanted: The outcome.
        settings: Those of the surrogate that could be fitted.
        data: All trials, as this outcome alone sees them.
        fitted: The surrogate.
        failed: By trial, the probability that it failed as a whole, which spoils all its outcomes; see `joint`.
    """

    wanted: Wanted
    settings: Settings
    data: Data
    fitted: FittedSurrogate
    failed: Mapping[int, float] = field(default_factory=dict)

    @cached_property
    def belief(self) -> Belief:
        """What is believed of each value."""
        return judge(self.data, self.fitted)

    @cached_property
    def disbelieved(self) -> frozenset[int]:
        """The trials whose values are disbelieved."""
        return self.belief.flagged if is_robust(self.settings) else frozenset()

    def expect(self, row: Row) -> Expectation | None:
        """What a robust surrogate expects to be told at a unit-cube row."""
        return self.fitted.expect([row])[0] if is_robust(self.settings) else None


Several = tuple[Learned, ...]


def missing(settings: Settings, data: Data) -> list[str]:
    """The outcomes of which no value counts, so that nothing can be learned of them."""
    return [wanted.name for wanted in settings.outcomes if not data.of(wanted).told]


def climb_each(
    settings: Settings, data: Data, use: Callable[[Several], T], fits: FitCache, *, is_judging: bool = False
) -> tuple[T | None, str | None]:
    """As `ladder.climb`: what is made of all outcomes, each by the first surrogate that can be fitted.

    Where they cannot be used together, all are by the plain one.

    Args:
        settings: What the run was told at its beginning.
        data: All that happened before; at least one value of each outcome has been told.
        use: What is made of them; an error that is survivable (`attempt`) says that it cannot be.
        fits: The last fits.
        is_judging: Whether each value is to be judged, so that none may be left out.

    Returns:
        What it made, None if nothing could be made; and, where it was not by the first surrogates, why.
    """
    plain = replace(settings, surrogate=PLAIN, options="{}", committee_from=None)
    failed: list[str] = []
    for given in [settings] if settings.surrogate == PLAIN else [settings, plain]:
        learned, why = _learned(given, data, fits, is_judging)
        if learned is not None:
            made, error = attempt(partial(use, learned), *(each.settings.surrogate for each in learned))
            if error is None:
                return made, "; ".join([*failed, *why]) or None
            why.append(f"{given.surrogate}: {error}")
        failed += why
    return None, f"by none, since these failed: {'; '.join(failed)}"


def _learned(settings: Settings, data: Data, fits: FitCache, is_judging: bool) -> tuple[Several | None, list[str]]:
    found, why = list[Learned](), list[str]()
    for wanted in settings.outcomes:
        seen = data.of(wanted)
        if not seen.told:  # as where only some outcomes have been told, which are judged all the same
            continue
        learn = partial(_of_rung, wanted, seen)
        learned, reason = climb(settings.of(wanted), seen, learn, fits.of(wanted.name), is_judging=is_judging)
        if reason is not None:
            why.append(f"{wanted.name}: {reason}")
        if learned is None:
            return None, why
        found.append(learned)
    return _without_failed(tuple(found), fits) if settings.quarantine else tuple(found), why


def _without_failed(several: Several, fits: FitCache) -> Several:
    """The same where trials that have probably failed as a whole are left out of every outcome's fit."""
    p = _failed(several)
    numbers = {number for number, probability in p.items() if probability > FAILED}
    found = []
    for each in several:
        known = {trial.number for trial in each.data.told} - {*each.fitted.quarantined}
        if each.fitted.probability_wrong is not None and (failed := (numbers & known) - each.belief.flagged):
            again = partial(fit_to, each.settings, each.data, fits.of(each.wanted.name), sorted(failed))
            fitted, _ = attempt(again, each.settings.surrogate)
            each = each if fitted is None else replace(each, fitted=fitted)  # or it stays as it is
        found.append(replace(each, failed=p))
    return tuple(found)


def _failed(several: Several) -> dict[int, float]:
    """By trial, the probability that it failed as a whole, by what each outcome says of its value alone."""
    sampled = [each.belief for each in several if each.fitted.probability_wrong is not None]
    said = [{o.trial.number: o.probability_wrong for o in belief} for belief in sampled]
    if len(said) < 2:
        return {}
    numbers = sorted(set().union(*said))
    q = torch.tensor([[of.get(number, math.nan) for of in said] for number in numbers], dtype=torch.float64)
    return dict(zip(numbers, trial_failure.failed(q, RATE).tolist(), strict=True))


def _of_rung(wanted: Wanted, seen: Data, settings: Settings, fitted: FittedSurrogate) -> Learned:
    return Learned(wanted, settings, seen, fitted)


def rows_told(several: Sequence[Learned]) -> list[Row]:
    """The rows at which any outcome has a value that its surrogate was fitted to, each once, in the order of trials."""
    numbers = sorted({number for each in several for number in each.fitted.observations.numbers})
    return list(dict.fromkeys(several[0].data.rows[number] for number in numbers))


def unknown_rows(data: Data, several: Sequence[Learned]) -> list[Row]:
    """Where something is measured of which a surrogate does not know the value."""
    quarantined = dict.fromkeys(number for each in several for number in each.fitted.quarantined)
    return data.rows_of([*(trial.number for trial in data.pending), *sorted(quarantined)])
