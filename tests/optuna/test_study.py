import math

import optuna
import pytest

from robustbo.optuna import (
    RobustSampler,
    amend,
    best,
    exclude,
    failures,
    include,
    next_repeat,
    next_replicate,
    outliers,
)
from robustbo.optuna.study import study_view

X = optuna.distributions.FloatDistribution(-1, 1)


@pytest.fixture
def study():
    """Twelve trials on a parabola by Optuna's own random sampler; one is wrong, one has failed."""
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))

    def parabola(trial):
        x = trial.suggest_float("x", -1, 1)
        if trial.number == 8:
            raise RuntimeError
        return -50.0 if trial.number == 5 else x**2

    study.optimize(parabola, n_trials=12, catch=RuntimeError)
    return study


def test_the_best_is_not_the_wrong_one(study):
    assert study.best_trial.number == 5
    found = best(study)
    right = min((t for t in study.trials if t.value is not None and t.number != 5), key=lambda t: t.value)
    assert (found.number, found.params, found.value) == (right.number, right.params, right.value)
    assert abs(found.mean - found.value) < 4 * found.sd < 0.1


def test_the_report_of_values(study):
    report = outliers(study)
    assert report.index.name == "number"
    assert report.index[0] == 5
    assert report.loc[5, "flagged"]
    assert report.loc[5, "evidence"] > 5
    assert report["flagged"].sum() == 1
    assert 8 not in report.index
    assert len(report) == 11


def test_the_report_of_failures(study):
    assert failures(study)["reason"].to_dict() == {8: "failed"}


def test_the_report_of_failures_has_numbers_where_no_trial_has_the_state_of_one():
    study = optuna.create_study(sampler=RobustSampler(seed=0))

    def pruned(trial):
        x = trial.suggest_float("x", -1, 1)
        if trial.number == 2:
            raise optuna.TrialPruned
        return x**2

    study.optimize(pruned, n_trials=6)
    report = failures(study)
    assert report.index.tolist() == [2]
    assert report["log_odds"].dtype == "float64"


def test_an_excluded_value_is_the_best_of_nothing_and_comes_back(study):
    first = best(study).number
    exclude(study, first)
    assert best(study).number != first
    assert first not in outliers(study).index
    include(study, first)
    assert best(study).number == first


def test_a_word_for_a_value_is_none_for_another(study):
    include(study, 5)
    assert outliers(study).loc[5, "status"] == "vouched for"
    amend(study, 5, -60.0)
    assert outliers(study).loc[5, "status"] == "flagged"
    include(study, 5)
    assert outliers(study).loc[5, "status"] == "vouched for"


def test_an_amended_value_counts_in_place_of_the_wrong_one(study):
    amend(study, 5, study.trials[5].params["x"] ** 2)
    assert not outliers(study).loc[5, "flagged"]
    assert study.trials[5].value == -50.0  # what Optuna was told stays
    amend(study, 8, -2.0)  # of a failed one
    assert failures(study).empty
    exclude(study, 8)
    assert {t.state for t in study_view(study).gathered.history} == {"told", "excluded"}


def test_the_users_word_is_kept_with_the_study(tmp_path):
    storage = optuna.storages.RDBStorage(f"sqlite:///{tmp_path}/study.db")
    one = optuna.create_study(storage=storage, study_name="s")
    one.add_trials(optuna.create_trial(params={"x": x}, distributions={"x": X}, value=x) for x in (0.1, 0.2, 0.3))
    exclude(one, 0)
    amend(one, 1, 7.0)
    amend(one, 1, 8.0, sd=0.5)
    again = optuna.load_study(storage=f"sqlite:///{tmp_path}/study.db", study_name="s")
    assert [(t.state, t.value) for t in study_view(again).gathered.history] == [
        ("excluded", 0.1),
        ("told", 8.0),
        ("told", 0.3),
    ]


def test_a_doubtful_value_of_another_sampler_is_enqueued_again():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=3))

    def wave(trial):
        x, y = (trial.suggest_float(name, -1, 1) for name in "xy")
        return -2.0 if trial.number == 5 else math.sin(4 * x) * y

    study.optimize(wave, n_trials=10)
    doubtful = next_replicate(study)
    assert doubtful is not None
    assert next_replicate(study) is None  # while that one waits
    study.optimize(wave, n_trials=1)
    assert study.trials[-1].params == study.trials[doubtful].params
    assert outliers(study).loc[doubtful, "remeasured"] in ("refuted", "confirmed")


def test_the_words_of_the_sampler_are_those_of_the_study(study):
    study.sampler = RobustSampler(surrogate="standard", seed=0)
    assert study_view(study).view.settings.surrogate == "standard"
    assert not outliers(study)["flagged"].any()


@pytest.mark.parametrize("word", [best, outliers, next_replicate])
def test_what_has_nothing_measured_says_so(word):
    with pytest.raises(ValueError, match="must have a completed trial"):
        word(optuna.create_study())


def test_the_former_name_of_a_replicate_is_read_with_a_warning():
    with (
        pytest.warns(DeprecationWarning, match="next_repeat is called next_replicate now"),
        pytest.raises(ValueError, match="completed"),
    ):
        next_repeat(optuna.create_study())


def test_failures_are_told_where_all_trials_failed():
    study = optuna.create_study(sampler=RobustSampler(seed=0))
    assert failures(study).empty

    def dies(trial):
        if trial.number > 0:  # the point of the first is not known
            trial.suggest_float("x", 0, 1)
        raise RuntimeError

    study.optimize(dies, n_trials=4, catch=RuntimeError)
    found = failures(study)
    assert found.index.tolist() == [0, 1, 2, 3]
    assert (found["reason"] == "failed").all()
    assert found["log_odds"].isna().all()  # of which nothing can be said yet
    assert found["looks_like"].isna().all()
    with pytest.raises(ValueError, match="at least one told value"):
        best(study)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: exclude(s, 12), "must be one of the 12 trials"),
        (lambda s: exclude(s, 8), "trial 8 must have a value, it is FAIL"),
        (lambda s: include(s, -1), "must be one of the 12 trials"),
        (lambda s: amend(s, 0, math.nan), "value must be"),
        (lambda s: amend(s, 0, 1.0, sd=-1), "sd"),
        (lambda s: amend(s, s.ask().number, 1.0), "trial 12 must have ended before you amend it, and is RUNNING"),
    ],
)
def test_what_cannot_be_said_is_refused(study, call, message):
    with pytest.raises(ValueError, match=message):
        call(study)
    assert not study.user_attrs
