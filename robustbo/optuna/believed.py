"""The belief of today in each value of a study, and the best of those believed so far."""

import math
from dataclasses import dataclass
from typing import Literal

from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from robustbo.loop.belief.judge import Outlier
from robustbo.optuna.study import check_single, study_view
from robustbo.trials.history import Trial
from robustbo.view.view import View

Fate = Literal["believed", "wrong", "excluded", "infeasible", "not judged"]


@dataclass(frozen=True)
class Valued:
    """A trial that has a value, and what is believed of that.

    Attributes:
        number: Of the trial.
        value: As it was measured, or amended.
        fate: "believed"; "wrong" where it looks so; "excluded" by the user; "infeasible" where it breaks a constraint;
            "not judged" where the trial is no point of the space, or there is none (no parameter that all trials have).
        word: The surrogate's on it; None where it was not asked.
    """

    number: int
    value: float
    fate: Fate
    word: Outlier | None = None


@dataclass(frozen=True)
class Believed:
    """A study's values by number of trial, and the best so far.

    Attributes:
        values: Of all trials that have one.
        best: By each of them: the best posterior mean at a point measured until then, as it is believed today; NaN
            before there is one. It ends at the mean of `robustbo.optuna.best`, or near it: that also counts the value
            that was measured at a point.
    """

    values: tuple[Valued, ...]
    best: tuple[float, ...]


def beliefs_of(study: Study) -> Believed:
    """Beliefs in the values of a study, by the surrogate of its sampler.

    Raises:
        ValueError: If it has several objectives.
        FitError: If no surrogate can be fitted.
    """
    check_single(study)
    try:
        view, gathered = study_view(study)
    except ValueError:  # no parameter that all trials have, and nothing to judge by
        plain = [v for trial in study.get_trials(deepcopy=False) if (v := _plain(trial, None)) is not None]
        return Believed(tuple(plain), (math.nan,) * len(plain))
    words, means = _judge(view)
    numbers = gathered.by_number
    values, best = list[Valued](), list[float]()
    so_far, sign = math.nan, view.settings.sign
    for trial in study.get_trials(deepcopy=False):
        ours = numbers.get(trial.number)
        if ours is not None and ours.number in words:
            word, mean = words[ours.number], means[ours.number]
            values.append(Valued(trial.number, word.value, "wrong" if word.flagged else "believed", word))
            if not word.flagged and not sign * mean <= sign * so_far:
                so_far = mean
        elif (other := _plain(trial, ours)) is not None:
            values.append(other)
        else:
            continue
        best.append(so_far)
    return Believed(tuple(values), tuple(best))


def _plain(trial: FrozenTrial, ours: Trial | None) -> Valued | None:
    """A value that no surrogate was asked about."""
    if trial.state != TrialState.COMPLETE or not math.isfinite(trial.value):
        return None
    if ours is not None and ours.state == "excluded":
        return Valued(trial.number, ours.measured, "excluded")
    is_broken = any(not value <= 0 for value in trial.constraints.values())
    return Valued(trial.number, trial.value, "infeasible" if is_broken else "not judged")


def _judge(view: View) -> tuple[dict[int, Outlier], dict[int, float]]:
    """The surrogate's word on each told trial, and the posterior mean at its point."""
    words = {outlier.trial.number: outlier for outlier in view.outliers()}
    means = view.predict([outlier.trial.params for outlier in words.values()])["mean"] if words else ()
    return words, dict(zip(words, means, strict=True))
