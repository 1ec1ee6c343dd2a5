"""Old studies as sources of a study of Optuna's."""

import copy
import math
import pickle
import re

import optuna
import pytest

import robustbo as rb
from robustbo.errors import NumericsWarning
from robustbo.optuna import OldStudy, RobustSampler, best, outliers, sources
from robustbo.optuna.study import study_view


def objective(trial):
    return (trial.suggest_float("x", -1, 1) - 0.3) ** 2 + 0.1 * trial.suggest_float("y", 0, 1)


def old_objective(trial):
    value = (trial.suggest_float("x", -1, 1) - 0.3) ** 2 + 5
    return 40.0 if trial.number == 7 else math.nan if trial.number == 9 else value


@pytest.fixture(scope="module")
def old():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(old_objective, n_trials=16)
    return study


@pytest.fixture(scope="module")
def learned(old):
    """A study of seven trials that learns from an old one of fifteen values, which had no y."""
    sampler = RobustSampler(seed=0, num_initial=6, sources={"last year": OldStudy(old, was={"y": 0.0})})
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=7)
    return study


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_a_sampler_that_fixes_parameters_is_looked_through(learned):
    study = copy.copy(learned)
    study.sampler = optuna.samplers.PartialFixedSampler({"x": 0.5}, learned.sampler)
    assert best(study) == best(learned)
    assert sources(study).equals(sources(learned))


def test_an_old_study_is_learned_from(learned):
    frame = sources(learned)
    (row,) = frame.to_dict("records")
    assert (row["source"], row["relation"], row["wrong"]) == ("last year", "offset", (7,))
    assert row["b"] == pytest.approx(5.0, abs=0.1)
    assert len(row["trials"]) == 15
    assert 9 not in row["trials"]
    assert re.match(r"last year reads [45][.].* higher, otherwise the same", str(frame))


def test_best_and_outliers_are_of_the_study_alone(learned):
    assert best(learned).number in range(7)
    assert sorted(outliers(learned).index) == [*range(7)]


def test_the_sampler_keeps_the_trials_that_there_were(learned, old):
    sampler = pickle.loads(pickle.dumps(learned.sampler))
    learned.sampler = sampler
    assert sources(learned)["relation"][0] == "offset"


def test_what_has_no_place_is_left_out_with_a_warning(old):
    study = optuna.create_study(sampler=RobustSampler(seed=0, sources={"last year": old.trials}))
    study.add_trials(
        [
            optuna.create_trial(
                params={"x": 0.1 * i, "y": 0.5},
                distributions={n: optuna.distributions.FloatDistribution(0, 1) for n in "xy"},
                value=1.0 * i,
            )
            for i in range(3)
        ]
    )
    with pytest.warns(NumericsWarning, match=r"16 of 16 trials of 'last year' .*OldStudy\(study, was={'y': ...}\)"):
        frame = sources(study)
    assert frame["relation"].tolist() == [""]


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"a": 3}, TypeError, "sources must be old studies"),
        ({"this study": []}, ValueError, "must have other names than 'this study'"),
        ({"a": rb.Source(target=True)}, ValueError, "the study itself is the target"),
    ],
)
def test_what_sources_must_be(given, error, match):
    with pytest.raises(error, match=match):
        RobustSampler(sources=given)
    with pytest.raises(ValueError, match="sources need the surrogate"):
        RobustSampler(sources={"a": []}, surrogate="standard")


def test_without_sources_there_is_nothing_to_say():
    study = optuna.create_study(sampler=RobustSampler(seed=0))
    study.add_trial(
        optuna.create_trial(
            params={"x": 0.1}, distributions={"x": optuna.distributions.FloatDistribution(0, 1)}, value=1.0
        )
    )
    with pytest.raises(ValueError, match=r"RobustSampler\(sources=...\)"):
        sources(study)


def test_what_trials_report_at_the_steps_of_levels_is_of_these_sources():
    sampler = RobustSampler(seed=0, sources=rb.fidelity_levels("epochs", [1, 3]))
    study = optuna.create_study(sampler=sampler)
    ended = [("COMPLETE", 0.5, {1: 1.0, 2: 0.9, 3: 0.5}), ("PRUNED", 2.0, {1: 2.0}), ("FAIL", None, {1: math.nan})]
    for number, (state, value, reports) in enumerate(ended):
        study.add_trial(
            optuna.create_trial(
                state=optuna.trial.TrialState[state],
                params={"x": 0.1 * number},
                distributions={"x": optuna.distributions.FloatDistribution(0, 1)},
                value=value,
                intermediate_values=reports,
            )
        )
    view, gathered = study_view(study)
    rows = [(t.params["x"], t.source, t.value, t.state, n) for t, n in zip(view.history, gathered.numbers, strict=True)]
    assert rows == [
        (0.0, None, 0.5, "told", 0),
        (0.1, None, 2.0, "excluded", 1),
        (0.2, None, None, "failed", 2),
        (0.0, "epochs=1", 1.0, "told", 0),
        (0.1, "epochs=1", 2.0, "told", 1),
    ]
    assert [trial.number for trial in view.of_target.having("told")] == [0]
    with pytest.raises(ValueError, match="must be a step that trials report at"):
        RobustSampler(sources=rb.fidelity_levels("epochs", [1.5, 3]))


def test_every_trial_is_asked_of_the_study_itself():
    """The objective is not told whom to ask: a point that is worth a report's while would be measured in full."""

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        trial.report((x - 0.3) ** 2 + 1, 1)
        return (x - 0.3) ** 2

    sampler = RobustSampler(seed=0, num_initial=3, sources=rb.fidelity_levels("epochs", [1, 3]))
    study = optuna.create_study(sampler=sampler)
    for _ in range(3):
        study.optimize(objective, n_trials=2)
        view, _ = study_view(study)
        assert dict(view.suggest(len(view.history)).source) == {"source": "epochs=3"}
    with pytest.raises(ValueError, match=r"must have ask=False, got 'simulator': Source\(cost=0.05\)"):
        RobustSampler(sources={"simulator": rb.Source(cost=0.05)})
