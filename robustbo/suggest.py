"""The decision: which point comes next, and which one is the best so far, as pure functions of settings and history."""

import math
import time
from dataclasses import dataclass

from robustbo import seeds
from robustbo.acquisition import next_point
from robustbo.fitting import decode, encode, fit
from robustbo.history import History, Trial
from robustbo.parameters import Value
from robustbo.settings import Settings

NOTHING_TOLD = "the best needs at least one told value, got none; tell one first"


@dataclass(frozen=True)
class Suggestion:
    """The next point, where it came from ("sobol" or "model"), and the seconds that fit and acquisition took."""

    params: dict[str, Value]
    origin: str
    fit_s: float = 0.0
    acquisition_s: float = 0.0


@dataclass(frozen=True)
class Incumbent:
    """The best point among those measured.

    Attributes:
        trial: The first trial that measured it.
        mean: Posterior mean of the objective there (or the raw value, where that was asked for).
        sd: Posterior standard deviation (or the value's own, NaN where unknown).
    """

    trial: Trial
    mean: float
    sd: float


def step(settings: Settings, history: History, trial: int) -> Suggestion:
    """The point of trial number ``trial``: same arguments, same point, bit for bit.

    The first `Settings.num_initial` points are scrambled Sobol points, and so is any point asked before a value has
    been told. Measurements made elsewhere count among the first; failed trials do not.

    Args:
        settings: What the run was told at its beginning.
        history: All that happened before; its pending trials are accounted for.
        trial: The trial's number.

    Raises:
        FitError: If the surrogate cannot be fitted.
    """
    told, pending = history.having("told"), history.having("pending")
    count = len(told) + len(pending) + len(history.having("excluded"))
    if settings.acquisition == "sobol" or not told or count < settings.num_initial:
        return Suggestion(settings.space.sobol(seeds.derive(settings.seed, 0, "sobol"), trial), "sobol")
    fitted = fit(settings, history)
    started = time.perf_counter()
    rows = [settings.space.to_unit(t.params) for t in pending]
    seed = seeds.derive(settings.seed, trial, "acquisition")
    x = next_point(settings.acquisition, fitted, settings.space, rows, seed)
    params = settings.space.from_unit(decode(settings.space, x.unsqueeze(0))[0])
    return Suggestion(params, "model", fitted.seconds, time.perf_counter() - started)


def incumbent(settings: Settings, history: History) -> Incumbent:
    """The measured point of best posterior mean.

    Raises:
        ValueError: If no value has been told.
        FitError: If the surrogate cannot be fitted.
    """
    if not history.having("told"):
        raise ValueError(NOTHING_TOLD)
    fitted = fit(settings, history)
    rows = sorted(set(fitted.observations.X), key=fitted.observations.X.index)
    means, sds = fitted.predict(encode(settings.space, [list(row) for row in rows]))
    best = max(range(len(rows)), key=lambda i: settings.sign * means[i])
    number = fitted.observations.numbers[fitted.observations.X.index(rows[best])]
    return Incumbent(history[number], means[best], sds[best])


def raw_incumbent(settings: Settings, history: History) -> Incumbent:
    """The trial of best measured value, whatever the surrogate thinks of it.

    Raises:
        ValueError: If no value has been told.
    """
    told = [(t.value, t) for t in history.having("told") if t.value is not None]
    if not told:
        raise ValueError(NOTHING_TOLD)
    value, trial = max(told, key=lambda pair: settings.sign * pair[0])
    return Incumbent(trial, value, math.nan if trial.sd is None else trial.sd)
