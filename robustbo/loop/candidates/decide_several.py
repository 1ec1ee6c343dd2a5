"""The decision which point comes next, by a fitted surrogate of each of several outcomes."""

import math
import time
from dataclasses import replace
from functools import partial

from robustbo import seeds
from robustbo.loop.belief.outcome_models import Several
from robustbo.loop.candidates.choose import choose, may_replicate
from robustbo.loop.candidates.replicate_several import replicate
from robustbo.loop.candidates.search_several import SearchSeveral, search
from robustbo.loop.candidates.suggestion import Suggestion
from robustbo.loop.feasibility.model import FeasibilityModel
from robustbo.loop.observations.expectation import Expectation
from robustbo.loop.observations.table import Data, Row
from robustbo.trials.history import RETRY
from robustbo.trials.settings import Settings
from robustbo.trials.trial import Trial


def decided(
    settings: Settings, data: Data, trial: int, reason: str | None, viable: FeasibilityModel | None, learned: Several
) -> Suggestion:
    """The decision by a fitted surrogate of each outcome."""
    started, seed = time.perf_counter(), partial(seeds.derive, settings.seed, trial)
    searching = search(settings, data, learned, viable, seed)
    made = choose(data, reason, searching, seed, partial(_replicate, settings, data, searching))
    again = None if made.repeats is None or made.reason == RETRY else data.trials[made.repeats]
    expected = _expected(learned, tuple(data.space.to_unit(made.params)), again)
    seconds = time.perf_counter() - started
    fit_s = sum(each.fitted.seconds for each in learned)
    return replace(made, expected=expected, fit_s=fit_s, acquisition_s=seconds)


def _expected(learned: Several, row: Row, again: Trial | None) -> dict[str, Expectation] | None:
    """What robust surrogates expect to be told at a unit-cube row: of a replicate, what all but its value predict."""
    found = {}
    for each in learned:
        said = None if again is None else next((o for o in each.belief if o.trial.number == again.number), None)
        expected = each.expect(row) if said is None else (said.expected, said.sd)
        if expected is not None and all(map(math.isfinite, expected)):
            found[each.wanted.name] = expected
    return found or None


def _replicate(settings: Settings, data: Data, searching: SearchSeveral, new: Row) -> Suggestion | None:
    """As `_replicate`, by the worth of all outcomes."""
    if not may_replicate(settings, data):
        return None
    among, reference, is_any = searching.among, searching.reference, settings.replicate == "any"
    first = replicate(data, among, reference, new, max_replicates=settings.max_replicates, is_any=is_any)
    return None if first is None else Suggestion(first.params, "model", None, first.number)
