"""What a study has measured, in our surrogates' words, and what the user says of it."""

import math
from typing import Any, NamedTuple

import pandas as pd
from optuna.study import Study
from optuna.trial import FrozenTrial

from robustbo.loop.cache import FitCache
from robustbo.loop.decide import step
from robustbo.loop.failures import failures as failed
from robustbo.loop.incumbent import incumbent
from robustbo.loop.judge import COLUMNS
from robustbo.loop.outliers import outliers as reported
from robustbo.optuna import notes
from robustbo.optuna.conditions import search_space
from robustbo.optuna.history import Gathered, space_of
from robustbo.optuna.sampler import RobustSampler
from robustbo.trials.settings import Settings
from robustbo.validation import index, noise_sd, real

FAILED = ("reason", "looks_like", "log_odds", "again")


class Best(NamedTuple):
    """The best trial, and what is believed of the objective there.

    Attributes:
        number: Of the trial.
        params: All its parameters.
        value: As it was measured, or amended.
        mean: Posterior mean of the objective at this point.
        sd: Its standard deviation.
    """

    number: int
    params: dict[str, Any]
    value: float
    mean: float
    sd: float


class Seen(NamedTuple):
    """A study, what is decided of it by, and the last fits."""

    settings: Settings
    gathered: Gathered
    fits: FitCache


def seen(study: Study) -> Seen:
    """A study as its sampler sees it, or as a `RobustSampler` would.

    Raises:
        ValueError: If it has several objectives, or no trial of it is completed that has parameters of a range.
    """
    _check_single(study)
    sampler = study.sampler if isinstance(study.sampler, RobustSampler) else RobustSampler(seed=0)
    trials = study.get_trials(deepcopy=False)
    searched = search_space(trials)
    if not searched or (space := space_of(searched, trials)) is None:
        raise ValueError(
            f"the study must have a completed trial with a parameter to choose, it has {len(trials)} trials"
        )
    return Seen(sampler.settings(study, space), sampler.gathered(study, space, searched, trials), sampler.fits)


def best(study: Study) -> Best:
    """The best trial, never one whose every value looks wrong; ``study.best_trial`` is that of the best value.

    By the surrogate of the study's sampler, or by relevance pursuit where that is none of ours. A trial that has
    failed, is excluded or breaks a constraint is never the best.

    Args:
        study: With any sampler; it is only read.

    Raises:
        ValueError: If nothing has been measured, or there are several objectives.
    """
    settings, found, fits = seen(study)
    made = incumbent(settings, found.history, fits)
    trial = study.trials[number := found.numbers[made.trial.number]]
    return Best(number, trial.params, made.trial.measured, made.mean, made.sd)


def outliers(study: Study) -> pd.DataFrame:
    """What each value is worth, the most suspicious first: a row a trial, indexed by its number.

    Columns: value, expected (by all the others), sd (of that, noise included), evidence (nats that it is wrong),
    probability_wrong, status (what is believed of it, in a word), flagged, remeasured ("confirmed", "refuted" or "not
    yet"), weight; see `robustbo.loop.judge.Outlier`.

    Args:
        study: With any sampler; it is only read.

    Raises:
        ValueError: If nothing has been measured, or there are several objectives.
    """
    settings, found, fits = seen(study)
    rows = reported(settings, found.history, fits)
    numbers = [found.numbers[o.trial.number] for o in rows]
    return _frame(numbers, [[getattr(o, column) for column in COLUMNS] for o in rows], COLUMNS)


def failures(study: Study) -> pd.DataFrame:
    """The trials that gave no value, and whether each looks like its point's doing or like a flake: indexed by number.

    Columns: reason, looks_like ("region" or "flake"), log_odds (of a flake, in nats), again; see
    `robustbo.loop.failures.Failure`. One whose point is not known is not among them.

    Raises:
        ValueError: If nothing has been measured, or there are several objectives.
    """
    settings, found, fits = seen(study)
    rows = failed(settings, found.history, fits)
    numbers = [found.numbers[f.trial.number] for f in rows]
    return _frame(numbers, [[f.trial.reason, f.looks_like, f.log_odds, f.again] for f in rows], FAILED)


def _frame(numbers: list[int], rows: list[list[Any]], columns: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, index=pd.Index(numbers, name="number", dtype="int64"), columns=[*columns])


def exclude(study: Study, number: int) -> None:
    """Leave a trial's value out of all that is learned; `include` takes that back.

    Raises:
        ValueError: If the study has no such trial, it has no value, or there are several objectives.
    """
    _measured(study, number)
    notes.say(study, index(number), is_excluded=True, is_vouched=False)


def include(study: Study, number: int) -> None:
    """Vouch for a trial's value, excluded or doubted: it is believed, whatever the model says.

    Raises:
        ValueError: If the study has no such trial, it has no value, or there are several objectives.
    """
    _measured(study, number)
    notes.say(study, index(number), is_excluded=False, is_vouched=True)


def amend(study: Study, number: int, value: float, *, sd: float | None = None) -> None:
    """Give a trial that has ended another value, which Optuna itself does not see: it never changes what it was told.

    Args:
        study: The study; the value is kept in its user attributes.
        number: Of a trial that has ended, in whatever way.
        value: The right one.
        sd: Standard deviation of its noise, where known.

    Raises:
        ValueError: If the study has no such trial or several objectives, or it has not ended; if the value is not
            finite or sd is negative.
    """
    trial = _trial(study, number)
    if not trial.state.is_finished():
        raise ValueError(f"trial {number} must have ended to be amended, it is {trial.state.name}")
    right, noise = real("value", value), noise_sd(sd)
    if not math.isfinite(right):
        raise ValueError(f"value must be finite, got {value!r}")
    notes.say(study, trial.number, value=right, sd=noise, is_vouched=False)


def next_repeat(study: Study) -> int | None:
    """Enqueue a trial again whose re-evaluation is worth more than a new point; None if there is none.

    A `RobustSampler` does that by itself; this is for a study whose points another sampler finds.

    Returns:
        The number of the trial that is to be measured again, by the next one that is asked for.

    Raises:
        ValueError: If nothing has been measured, or there are several objectives.
    """
    settings, found, fits = seen(study)
    repeats = step(settings, found.history, len(study.get_trials(deepcopy=False)), fits).repeats
    if repeats is None:
        return None
    first = study.trials[found.numbers[repeats]]
    study.enqueue_trial(first.params, user_attrs={notes.REPEATS: first.number})
    return first.number


def _check_single(study: Study) -> None:
    if len(study.directions) > 1:
        raise ValueError(f"the study must have one objective, it has {len(study.directions)}")


def _trial(study: Study, number: int) -> FrozenTrial:
    _check_single(study)
    trials = study.get_trials(deepcopy=False)
    if not 0 <= index(number) < len(trials):
        raise ValueError(f"number must be one of the {len(trials)} trials of the study, got {number!r}")
    return trials[index(number)]


def _measured(study: Study, number: int) -> None:
    trial = _trial(study, number)
    if trial.value is None and "value" not in notes.said_of(study).get(trial.number, {}):
        raise ValueError(f"trial {number} must have a value, it is {trial.state.name}")
