"""The trials of a study of several objectives that no other beats, by what is believed of their values."""

from typing import Any, NamedTuple

from optuna.study import Study

from robustbo.optuna.study import study_view


class FrontTrial(NamedTuple):
    """A trial of the Pareto front: by the surrogates, no other trial beats it in all objectives.

    Attributes:
        number: Of the trial.
        params: All its parameters.
        values: As they were measured, or amended, in the order of the study's directions; NaN where one is not finite.
        means: Posterior mean of each objective at this point.
        sds: Its standard deviation.
        probability: That no other point measured beats it.
    """

    number: int
    params: dict[str, Any]
    values: tuple[float, ...]
    means: tuple[float, ...]
    sds: tuple[float, ...]
    probability: float


def front(study: Study) -> list[FrontTrial]:
    """The trials that no other beats, the best in the first objective first; ``study.best_trials`` goes by the values.

    A trial of which some objective's value looks wrong is not among them, nor one that has failed, is excluded or
    breaks a constraint.

    Args:
        study: Of several objectives, with any sampler; it is only read.

    Raises:
        ValueError: If it has one objective, or nothing has been measured.
        FitError: If no surrogate can be fitted.
    """
    if len(study.directions) == 1:
        raise ValueError("the study must have several objectives, and has one; `best` returns its best trial")
    view, gathered = study_view(study)
    names, trials = [name for name, _ in view.settings.objectives], list[FrontTrial]()
    for point in view.front():
        number = gathered.numbers[point.trial.number]
        values, means, sds = (
            tuple(of.get(name, float("nan")) for name in names) for of in (point.trial.values, point.means, point.sds)
        )
        trials.append(FrontTrial(number, study.trials[number].params, values, means, sds, point.probability))
    return trials
