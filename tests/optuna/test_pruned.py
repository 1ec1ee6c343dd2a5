"""What stands in for the value of a pruned trial."""

import math

import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState

from robustbo.optuna import RobustSampler, best, exclude, include, outliers
from robustbo.optuna.pruned import LEAST, stand_ins
from robustbo.optuna.study import study_view

X = {"x": FloatDistribution(-1, 1)}


def trial_of(x, reports, value=None, state=None):
    state = state or (TrialState.PRUNED if value is None else TrialState.COMPLETE)
    last = {"value": reports[max(reports)]} if value is None and reports else {"value": value}
    return optuna.create_trial(state=state, params={"x": x}, distributions=X, intermediate_values=reports, **last)


def study_of(*trials):
    study = optuna.create_study(sampler=RobustSampler(seed=0))
    study.add_trials(trials)
    return study


def complete(x):
    """Its loss falls by 4 from the first step, and by 1 from the second."""
    return trial_of(x, {1: x**2 + 4, 2: x**2 + 1, 3: x**2}, x**2)


def test_a_report_is_corrected_by_the_typical_change_from_its_step_on():
    known = [complete(x) for x in (-0.9, -0.2, 0.3)]
    study = study_of(*known, trial_of(0.8, {1: 4.64}), trial_of(0.7, {1: 4.49, 2: 1.49}))
    assert stand_ins(study.trials, {}) == pytest.approx({3: 0.64, 4: 0.49})


def test_one_wrong_value_does_not_move_the_typical_change():
    wrong = trial_of(0.1, {1: 4.01, 2: 1.01, 3: 0.01}, -1000.0)
    study = study_of(complete(-0.9), complete(0.3), complete(0.4), wrong, trial_of(0.8, {1: 4.64}))
    assert stand_ins(study.trials, {})[4] == pytest.approx(0.64)


def test_few_completed_trials_do_not_tell_how_values_change():
    study = study_of(*map(complete, [0.1 * i for i in range(LEAST - 1)]), trial_of(0.8, {1: 4.64}))
    assert stand_ins(study.trials, {}) == {LEAST - 1: 4.64}


def test_what_is_no_report_stands_in_for_nothing():
    study = study_of(*map(complete, (0.1, 0.2, 0.3)), trial_of(0.5, {1: math.inf}), trial_of(0.6, {}))
    assert stand_ins(study.trials, {}) == {}
    assert [t.state for t in study_view(study).gathered.history] == ["told"] * 3 + ["failed"] * 2


def test_a_pruned_trial_is_learned_from_and_never_the_best():
    study = study_of(*map(complete, (-0.9, -0.5, 0.3, 0.6, 0.9)), trial_of(0.01, {1: 4.0001}))
    history = study_view(study).gathered.history
    assert history[5].value == pytest.approx(1e-4)  # so it would be the best
    assert best(study).number == 2
    assert 5 not in outliers(study).index


def test_a_pruned_trial_that_the_user_vouches_for_has_its_report_as_value():
    study = study_of(*map(complete, (-0.9, -0.5, 0.3, 0.6)), trial_of(0.8, {1: -7.0}))
    include(study, 4)
    assert study_view(study).gathered.history[4].value == -7.0
    assert best(study).number == 4
    exclude(study, 4)
    assert best(study).number == 2


def test_with_stand_ins_no_value_is_exact():
    study = study_of(*map(complete, (-0.9, -0.5, 0.3)), trial_of(0.8, {1: 4.64}))
    study.sampler = RobustSampler(seed=0, deterministic_objective=True)
    assert {t.sd for t in study_view(study).gathered.history} == {None}
    study.sampler = RobustSampler(seed=0, deterministic_objective=True, consider_pruned_trials=False)
    assert {t.sd for t in study_view(study).gathered.history.having("told")} == {0.0}
