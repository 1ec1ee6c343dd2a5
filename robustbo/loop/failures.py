"""What is believed of each failed trial: that its point makes trials fail, or that it was a flake."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from robustbo.determinism.surroundings import pinned
from robustbo.loop.cache import FitCache
from robustbo.loop.observations import observations
from robustbo.loop.viability import viability
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import Settings

Again = Literal["told", "failed", "pending"] | None


@dataclass(frozen=True)
class Failure:
    """A trial that gave no value, against what all the others say of its point.

    Attributes:
        trial: The trial; its ``reason`` is what happened.
        log_odds: How much likelier it is a flake, which strikes anywhere, than its point's doing, in nats: 3 nats are
            20 to 1. Infinite where the user has said which; NaN where it was not judged.
        again: What became of other trials at its point: "told", "failed" (none gave a value), "pending", or None.
    """

    trial: Trial
    log_odds: float
    again: Again = None

    @property
    def looks_like(self) -> Literal["flake", "region"] | None:
        """Which of the two it looks like; None where it was not judged."""
        return None if math.isnan(self.log_odds) else "flake" if self.log_odds > 0 else "region"

    @property
    def probability_flake(self) -> float:
        """Probability that it was a flake."""
        return 0.0 if self.log_odds < -700 else 1 / (1 + math.exp(-self.log_odds))


@pinned
def failures(
    settings: Settings, history: History, fits: FitCache | None = None, *, is_judged: bool = True
) -> list[Failure]:
    """Every failed trial, in order; judged unless that is not wanted, since it takes time.

    Of a single failure at a point that nobody has tried again there is nothing to say: it is not judged.

    Raises:
        FitError: If it cannot be learned where trials fail.
    """
    data = observations(settings, history)
    found = viability(data, settings.seed, FitCache() if fits is None else fits) if is_judged else None
    made = []
    for trial in data.failed:
        said = {None: math.nan, True: math.inf, False: -math.inf}[trial.retry]
        again = _again({t.state for t in data.places[trial.point].trials if t is not trial})
        is_alone = len(data.failed) == 1 and again in (None, "pending")
        odds = said if found is None or trial.retry is not None or is_alone else found.log_odds[trial.number]
        made.append(Failure(trial, odds, again))
    return made


def _again(states: Collection[str]) -> Again:
    """What became of the other trials at a point, of these states."""
    if not states:
        return None
    return "told" if {"told", "excluded"} & {*states} else "failed" if {*states} == {"failed"} else "pending"


@pinned
def chances(settings: Settings, history: History, rows: list[list[float]], fits: FitCache | None = None) -> list[float]:
    """The probability that a trial at each unit-cube row gives a value; 1 where none has failed."""
    found = viability(observations(settings, history), settings.seed, FitCache() if fits is None else fits)
    if found is None or not rows:
        return [1.0] * len(rows)
    return found.log_p([tuple(row) for row in rows]).exp().tolist()


@pinned
def flake_rate(settings: Settings, history: History, fits: FitCache | None = None) -> float | None:
    """The share of trials that fail wherever they are, as it is learned; None where nothing is learned."""
    found = viability(observations(settings, history), settings.seed, FitCache() if fits is None else fits)
    return None if found is None else found.predictor.e1
