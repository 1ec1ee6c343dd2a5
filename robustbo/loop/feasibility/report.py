"""The belief about each failed trial: that its point makes trials fail, or that it was a flake."""

import logging
import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Literal

from robustbo.determinism.surroundings import pin_surroundings
from robustbo.errors import FitError
from robustbo.loop.feasibility.model import FeasibilityModel, feasibility_model
from robustbo.loop.observations.table import Data, observations
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.cache import FitCache
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import Settings

log = logging.getLogger("robustbo")
Fate = Literal["told", "failed", "pending"] | None


@dataclass(frozen=True)
class Failure:
    """A trial that gave no value, and how it compares with all other trials.

    Attributes:
        trial: The trial; its ``reason`` is what happened.
        log_odds: Log odds that it is a flake and not caused by its point, in nats: 3 nats are 20 to 1. Infinite if the
            user has given a verdict; NaN if it was not judged.
        again: What became of other trials at its point: "told", "failed" (none gave a value), "pending", or None.
    """

    trial: Trial
    log_odds: float
    again: Fate = None

    @property
    def looks_like(self) -> Literal["flake", "region"] | None:
        """The one of the two that it looks like; None where it was not judged."""
        return None if math.isnan(self.log_odds) else "flake" if self.log_odds > 0 else "region"

    @property
    def probability_flake(self) -> float:
        """Probability that it was a flake."""
        return 0.0 if self.log_odds < -700 else 1 / (1 + math.exp(-self.log_odds))


@pin_surroundings
def failures(
    settings: Settings, history: History, fits: FitCache | None = None, *, is_judged: bool = True
) -> list[Failure]:
    """Every failed trial, in order; judged unless that is not wanted, since it takes time, or cannot be learned.

    Of a single failure at a point that nobody has tried again there is nothing to say: it is not judged.
    """
    data = observations(settings, history)
    model = _fit_model(settings, data, fits)[0] if is_judged else None
    reports = []
    for trial in data.failed:
        odds_by_user = {None: math.nan, True: math.inf, False: -math.inf}[trial.retry]
        again = _fate_of_others({t.state for t in data.groups[trial.point].trials if t is not trial} - {"withdrawn"})
        is_alone = len(data.failed) == 1 and again in (None, "pending")
        odds = odds_by_user if model is None or trial.retry is not None or is_alone else model.log_odds[trial.number]
        reports.append(Failure(trial, odds, again))
    return reports


def _fate_of_others(states: Collection[str]) -> Fate:
    """The fate of the other trials at a point, by their states."""
    if not states:
        return None
    return "told" if {"told", "excluded"} & {*states} else "failed" if {*states} == {"failed"} else "pending"


@pin_surroundings
def chances(settings: Settings, history: History, rows: list[list[float]], fits: FitCache | None = None) -> list[float]:
    """The probability that a trial at each unit-cube row gives a value; 1 where none has failed.

    Raises:
        FitError: If it cannot be learned where trials fail.
    """
    model, why = _fit_model(settings, observations(settings, history), fits)
    if why is not None:
        raise FitError(f"the model of failures could not be fitted: {why}")
    if model is None or not rows:
        return [1.0] * len(rows)
    p, why = attempt(lambda: model.log_p([tuple(row) for row in rows]).exp().tolist())
    if p is None:
        raise FitError(f"the probability of a value could not be computed: {why}")
    return p


@pin_surroundings
def flake_rate(settings: Settings, history: History, fits: FitCache | None = None) -> float | None:
    """The share of trials that fail wherever they are, as it is learned; None where nothing is learned."""
    model, _ = _fit_model(settings, observations(settings, history), fits)
    return None if model is None else model.predictor.e1


def _fit_model(settings: Settings, data: Data, fits: FitCache | None) -> tuple[FeasibilityModel | None, str | None]:
    """The model of failures, None where none has failed; and why it cannot be had, if it cannot."""
    model, why = attempt(partial(feasibility_model, data, settings.seed, FitCache() if fits is None else fits))
    if why is not None:
        log.warning("the model of failures could not be fitted: %s", why)
    return model, why
