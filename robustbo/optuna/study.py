"""The best, outliers and failures of an Optuna study by our surrogates, and the user's word on its trials."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from robustbo.optuna import notes
from robustbo.optuna.conditions import search_space
from robustbo.optuna.content import noise_sds
from robustbo.optuna.history import GatheredTrials, space_of
from robustbo.optuna.sampler import RobustSampler
from robustbo.searchspace.space import Space
from robustbo.trials.former_names import former_name
from robustbo.validation import index, noise_sd, real
from robustbo.view.frame import FAILURE, failure_frame, outlier_frame
from robustbo.view.view import View


class Best(NamedTuple):
    """The best trial, and the surrogate's prediction of the objective there.

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


class StudyView(NamedTuple):
    """A study as our decisions see it: a view of its trials, and Optuna's number of each."""

    view: View
    gathered: GatheredTrials


def study_view(study: Study) -> StudyView:
    """A study as its sampler sees it, or as a `RobustSampler` would.

    Raises:
        ValueError: If no trial of it has ended that has parameters of a range, or it has more than four objectives.
    """
    sampler = robust_sampler(study) or RobustSampler(seed=0)
    trials = study.get_trials(deepcopy=False)
    if (space := _space(trials)) is None:
        text = f"a completed trial with a parameter to choose, it has {len(trials)} trials"
        raise ValueError(f"the study must have {text}; tell it one first")
    searched = search_space(trials)
    gathered = sampler.gather(study, space, searched, trials)
    return StudyView(sampler.view(study, gathered), gathered)


def robust_sampler(study: Study) -> RobustSampler | None:
    """The `RobustSampler` of a study, also inside Optuna's `PartialFixedSampler`; None where it has none."""
    sampler: Any = study.sampler
    while not isinstance(sampler, RobustSampler) and sampler is not None:
        sampler = getattr(sampler, "_base_sampler", None)
    return sampler


def _space(trials: Sequence[FrozenTrial]) -> Space | None:
    searched = search_space(trials)
    return space_of(searched, trials) if searched else None


def best(study: Study) -> Best:
    """The best trial by the surrogate, never one whose every value looks wrong; ``study.best_trial`` has the best
    value.

    The surrogate is that of the study's sampler, or relevance pursuit for other samplers. A trial that failed, was
    pruned, is excluded or breaks a constraint is never the best.

    Args:
        study: With any sampler; it is only read.

    Raises:
        ValueError: If nothing has been measured, or there are several objectives.
    """
    check_single(study)
    view, gathered = study_view(study)
    incumbent = view.best()
    trial = study.trials[number := gathered.numbers[incumbent.trial.number]]
    return Best(number, trial.params, incumbent.trial.measured, incumbent.mean, incumbent.sd)


def outliers(study: Study) -> pd.DataFrame:
    """Evidence on each value, the most suspicious first: a row a trial, indexed by its number.

    Columns: value, expected (by all the others), sd (of that, noise included), evidence (nats that it is wrong),
    probability_wrong, status (what is believed of it, in a word), flagged, remeasured ("confirmed", "refuted" or "not
    yet"), weight; see `robustbo.loop.belief.judge.Outlier`. Of several objectives there is a row a value, and a column
    more at the beginning: objective, by its number, or its name where the study has metric names. What
    pruned trials have reported is not among them.

    Args:
        study: With any sampler; it is only read.

    Raises:
        ValueError: If nothing has been measured.
    """
    view, gathered = study_view(study)
    frame = _by_number(outlier_frame(view.outliers()), gathered)
    if objectives := view.settings.objectives:
        shown = dict(zip((name for name, _ in objectives), study.metric_names or range(len(objectives)), strict=True))
        frame.insert(0, "objective", [shown[str(outlier.outcome)] for outlier in view.outliers()])
    return frame


def failures(study: Study) -> pd.DataFrame:
    """The trials without a value, by number, and whether the point or a flake probably caused each failure.

    Columns: reason, looks_like ("region" or "flake"), log_odds (of a flake, in nats), again; see
    `robustbo.loop.feasibility.report.Failure`. While no trial has a value nothing can be said of any: looks_like is
    None, log_odds NaN; so it is of one whose point is not known.

    Args:
        study: With any sampler; it is only read.

    Raises:
        ValueError: If the study has more than four objectives.
    """
    trials = study.get_trials(deepcopy=False)
    lost = [trial.number for trial in trials if _is_lost(study, trial)]
    frame = pd.DataFrame([["failed", None, math.nan, None]] * len(lost), pd.Index(lost, dtype="int64"), [*FAILURE])
    frame = frame.astype({"log_odds": "float64"})  # where there is no row, too
    if _space(trials) is not None:
        view, gathered = study_view(study)
        judged = _by_number(failure_frame(view.failures(is_judged=view.history.trials.num("told") > 0)), gathered)
        frame = pd.concat([frame.drop(judged.index, errors="ignore"), judged])
    return frame.sort_index().rename_axis("number")


def _is_lost(study: Study, trial: FrozenTrial) -> bool:
    return trial.state == TrialState.FAIL and "value" not in notes.user_notes(study).get(trial.number, {})


def _by_number(frame: pd.DataFrame, gathered: GatheredTrials) -> pd.DataFrame:
    """A frame by trial with Optuna's numbers of the trials in place of ours."""
    return frame.set_axis(pd.Index([gathered.numbers[i] for i in frame.index], name="number", dtype="int64"))


def exclude(study: Study, number: int) -> None:
    """Exclude a trial's value from the fit; `include` takes that back.

    Raises:
        ValueError: If the study has no such trial, or it has no value.
    """
    _check_measured(study, number)
    notes.say(study, index(number), is_excluded=True, is_vouched=False)


def include(study: Study, number: int) -> None:
    """Vouch for a trial's value, excluded or doubted: the surrogate believes it from now on.

    Raises:
        ValueError: If the study has no such trial, or it has no value.
    """
    _check_measured(study, number)
    notes.say(study, index(number), is_excluded=False, is_vouched=True)


def amend(
    study: Study,
    number: int,
    value: float | Sequence[float],
    *,
    sd: float | Sequence[float | None] | None = None,
) -> None:
    """Correct the value of an ended trial for robustbo; Optuna itself never changes a value and does not see it.

    Args:
        study: The study; the value is kept in its user attributes.
        number: Number of a trial that has ended, in whatever way.
        value: The right value; with several objectives a list of all.
        sd: Standard deviation of its noise, where known; of several objectives a list.

    Raises:
        ValueError, TypeError: If the study has no such trial, or it has not ended; if a value is not finite, sd is
            negative, or there are not as many as the study has objectives.
    """
    trial, count = _trial(study, number), len(study.directions)
    if not trial.state.is_finished():
        raise ValueError(f"trial {number} must have ended before you amend it, and is {trial.state.name}")
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    if len(values) != count:
        raise ValueError(f"value must have as many numbers as the study has objectives, {count}, got {value!r}")
    right = [real("value", number_told) for number_told in values]
    if not all(map(math.isfinite, right)):
        raise ValueError(f"value must be finite, got {value!r}")
    if count == 1:
        noise = noise_sd(sd[0] if isinstance(sd, Sequence) and len(sd) == 1 else sd)
        notes.say(study, trial.number, value=right[0], sd=noise, is_vouched=False)
    else:
        several = None if sd is None else noise_sds(sd, count)
        notes.say(study, trial.number, value=right, sd=several, is_vouched=False)


def next_replicate(study: Study) -> int | None:
    """Enqueue the trial whose replicate is worth more than a new point; None if there is none.

    A `RobustSampler` replicates by itself; this function is for a study with another sampler.

    Returns:
        The number of the trial that is to be replicated, by the next one that is asked for.

    Raises:
        ValueError: If nothing has been measured.
    """
    view, gathered = study_view(study)
    repeats = view.suggest(len(study.get_trials(deepcopy=False))).repeats
    if repeats is None:
        return None
    first = study.trials[gathered.numbers[repeats]]
    study.enqueue_trial(first.params, user_attrs={notes.REPEATS: first.number})
    return first.number


next_repeat = former_name("next_repeat", next_replicate)


def check_single(study: Study) -> None:
    """Raise a ValueError where a study has several objectives."""
    if len(study.directions) > 1:
        raise ValueError(f"the study must have one objective, and has {len(study.directions)}; `front` is for several")


def _trial(study: Study, number: int) -> FrozenTrial:
    trials = study.get_trials(deepcopy=False)
    if not 0 <= index(number) < len(trials):
        raise ValueError(f"number must be one of the {len(trials)} trials of the study, got {number!r}")
    return trials[index(number)]


def _check_measured(study: Study, number: int) -> None:
    trial = _trial(study, number)
    if trial.values is None and "value" not in notes.user_notes(study).get(trial.number, {}):
        raise ValueError(f"trial {number} must have a value, it is {trial.state.name}")
