"""A study of several objectives."""

import math

import optuna
import pytest

from robustbo.errors import NumericsWarning
from robustbo.optuna import (
    SD,
    RobustSampler,
    amend,
    best,
    exclude,
    failures,
    front,
    include,
    next_replicate,
    notes,
    outliers,
    visualization,
)
from robustbo.optuna.study import study_view


def both(trial):
    """Beaten by nothing where y is 0, whatever x is."""
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    return x + y, x - y**2


def wrong_once(trial):
    values = both(trial)
    if trial.number == 4:
        raise RuntimeError
    return (-50.0, values[1]) if trial.number == 7 else values


def optimized(num_initial, n_trials):
    sampler = RobustSampler(seed=0, num_initial=num_initial)
    found = optuna.create_study(directions=["minimize", "maximize"], sampler=sampler)
    found.optimize(wrong_once, n_trials=n_trials, catch=RuntimeError)
    return found


@pytest.fixture(scope="module")
def study():
    return optimized(12, 13)


@pytest.mark.slow
def test_the_front_has_no_wrong_value_and_is_found():
    study = optimized(6, 16)
    assert 7 in {trial.number for trial in study.best_trials}
    found = front(study)
    assert 7 not in {point.number for point in found}
    assert [each.values for each in found] == [tuple(study.trials[each.number].values) for each in found]
    assert [each.means[0] for each in found] == sorted(each.means[0] for each in found)
    assert sum(each.params["y"] < 0.02 for each in found) >= 3
    assert notes.read(study.trials[15])["origin"] == "model"


def test_each_value_is_judged_by_its_own_objective(study):
    found = outliers(study)
    assert found.columns[0] == "objective"
    first = found.iloc[0]
    assert (found.index[0], first["objective"], first["value"], bool(first["flagged"])) == (7, 0, -50.0, True)
    assert len(found) == 2 * 12
    assert failures(study).index.tolist() == [4]


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_metric_names_are_those_of_the_report(study):
    named = optuna.create_study(directions=study.directions)
    named.set_metric_names(["loss", "speed"])
    named.add_trials(study.trials)
    assert {*outliers(named)["objective"]} == {"loss", "speed"}


def test_verdicts_are_on_all_values_of_a_trial(study):
    other = optuna.create_study(directions=study.directions)
    other.add_trials(study.trials)
    exclude(other, 7)
    assert 7 not in outliers(other).index
    include(other, 7)
    assert outliers(other).loc[7, "status"].tolist() == ["vouched for"] * 2
    x, y = study.trials[7].params["x"], study.trials[7].params["y"]
    amend(other, 7, [x + y, x - y**2])
    assert not outliers(other).loc[7, "flagged"].any()
    for value in (1.0, [1.0], [1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match="as many numbers as the study has objectives, 2"):
            amend(other, 7, value)
    with pytest.raises(ValueError, match="must be a list of 2 standard deviations"):
        amend(other, 7, [1.0, 2.0], sd=0.1)


def test_what_is_for_one_objective_says_so(study):
    with pytest.raises(ValueError, match="must have one objective, and has 2; `front` is for several"):
        best(study)
    with pytest.raises(ValueError, match="must have one objective, and has 2"):
        visualization.plot_outliers(study)
    with pytest.raises(ValueError, match="must have several objectives, and has one"):
        front(optuna.create_study())
    assert next_replicate(study) in (None, *range(13))


def test_values_that_are_not_finite_noise_that_is_told_and_names_that_parameters_have():
    study = optuna.create_study(directions=["minimize"] * 2, sampler=RobustSampler(seed=0))

    def told(trial):
        x = trial.suggest_float("values_0", 0, 1)
        trial.set_user_attr(SD, [0.1, None] if trial.number else 0.1)
        return [(x, 1 - x), (math.inf, x), (math.inf, -math.inf)][trial.number]

    said = "must be a list of 2 standard deviations"
    with pytest.warns(NumericsWarning, match=said):
        study.optimize(told, n_trials=3)
    with pytest.warns(NumericsWarning, match=said):
        view = study_view(study).view
    history = view.history
    assert [t.state for t in history] == ["told", "told", "failed"]
    assert [name for name, _ in view.settings.objectives] == ["values_0_", "values_1_"]
    assert history[1].outcomes["values_0_"].is_lost
    assert history[1].values == {"values_1_": history[1].params["values_0"]}


def test_more_objectives_than_we_have_are_refused():
    study = optuna.create_study(directions=["minimize"] * 5, sampler=RobustSampler(seed=0))
    with pytest.raises(ValueError, match="at most 4 objectives"):
        study.optimize(lambda trial: [trial.suggest_float("x", 0, 1)] * 5, n_trials=2)
