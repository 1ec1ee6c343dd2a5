import logging
import pickle
import threading

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution
from optuna.trial import TrialState

import robustbo as rb
from robustbo.errors import NumericsWarning
from robustbo.optuna import SD, SOURCE, RobustSampler, best, failures, notes, outliers
from robustbo.optuna.study import study_view

SPACE = {"x": FloatDistribution(-1, 1), "y": FloatDistribution(-1, 1)}


def bowl(trial):
    x, y = trial.suggest_float("x", -1, 1), trial.suggest_float("y", -1, 1)
    return (x - 0.3) ** 2 + (y + 0.2) ** 2


def wrong_once(trial):
    value = bowl(trial)
    return -1000.0 if trial.number == 7 else value


def study_of(**options):
    given = {"seed": 0, "num_initial": 4, "surrogate": "standard"}  # which all values are right by, and is quick
    return optuna.create_study(sampler=RobustSampler(**given | options))


def history(study):
    return study_view(study).gathered.history


@pytest.mark.slow
def test_a_wrong_value_neither_ends_the_search_nor_is_the_best():
    study = study_of(surrogate="relevance-pursuit")
    study.optimize(wrong_once, n_trials=20)
    assert study.best_trial.number == 7
    found = best(study)
    assert found.value == study.trials[found.number].value < 1e-3
    assert outliers(study)["flagged"].pipe(lambda flags: [*flags[flags].index])[0] == 7


@pytest.mark.slow
def test_a_doubtful_value_is_measured_again():
    study = study_of(surrogate="relevance-pursuit")
    study.optimize(wrong_once, n_trials=20)
    repeats = {t.number: notes.read(t)["repeats"] for t in study.trials if "repeats" in notes.read(t)}
    assert 7 in repeats.values()
    assert all(study.trials[again].params == study.trials[first].params for again, first in repeats.items())


@pytest.mark.slow
def test_the_same_seed_gives_the_same_points_and_another_does_not():
    def points(seed):
        study = study_of(seed=seed)
        study.optimize(bowl, n_trials=8)
        return [t.params for t in study.trials]

    assert points(1) == points(1) != points(2)


def test_a_study_that_is_loaded_again_goes_on_with_the_same_points(tmp_path):
    def study(name, sampler=None):
        storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(tmp_path / name)))
        return optuna.create_study(storage=storage, study_name="s", sampler=sampler, load_if_exists=True)

    whole = study("whole", RobustSampler(seed=5, num_initial=4))
    whole.optimize(bowl, n_trials=7)
    for count in (3, 2, 2):  # by three samplers
        study("parts", RobustSampler(seed=5, num_initial=4)).optimize(bowl, n_trials=count)
    assert [t.params for t in study("parts").trials] == [t.params for t in whole.trials]


def test_a_seed_that_nobody_gave_is_kept_in_the_study():
    study = study_of(seed=None, surrogate="standard")
    study.optimize(bowl, n_trials=3)
    kept = notes.seed_of(study)
    study.sampler = RobustSampler(num_initial=4)
    study.optimize(bowl, n_trials=3)
    assert notes.seed_of(study) == kept
    assert study_of(seed=None).sampler.settings(study, study_view(study).view.settings.space).seed == kept


def test_points_lie_within_bounds_to_the_last_digit_so_that_none_is_drawn_at_random():
    sampler = RobustSampler(seed=0, num_initial=3, surrogate="standard")
    study = optuna.create_study(sampler=sampler, direction="maximize")
    low, high = 0.1 + 0.2, 1 / 3 + 5

    def edge(trial):
        return sum(trial.suggest_float(name, low, high, log=name == "b") for name in "ab")

    study.optimize(edge, n_trials=10)
    for trial in study.trials[1:]:
        assert notes.read(trial)["params"] == trial.params
    assert any(trial.params["a"] == high for trial in study.trials)


def test_pending_trials_are_kept_away_from():
    study = study_of(surrogate="standard")
    study.optimize(bowl, n_trials=5)
    asked = [study.ask(SPACE) for _ in range(4)]
    assert len({tuple(trial.params.items()) for trial in asked}) == 4
    assert len(history(study).having("pending")) == 4


def test_a_point_that_the_objective_has_not_asked_for_yet_is_known_to_others():
    study = study_of(surrogate="standard")
    study.optimize(bowl, n_trials=5)
    trial = study.ask()
    trial.suggest_float("x", -1, 1)
    (pending,) = history(study).having("pending")
    assert set(pending.params) == {"x", "y"}


def test_long_decisions_are_kept_in_pieces(monkeypatch):
    monkeypatch.setattr(notes, "LONGEST", 7)
    study = study_of()
    study.optimize(bowl, n_trials=5)
    (last,) = study.trials[-1:]
    assert notes.read(last)["params"] == last.params
    assert {len(piece) for key, piece in last.system_attrs.items() if key.startswith(notes.NOTE)} >= {7}
    del last.system_attrs[f"{notes.NOTE}1"]  # somebody is writing
    assert notes.read(last) == {}


@pytest.mark.slow
def test_failed_trials_are_learned_from():
    study = study_of(num_initial=8)

    def dies(trial):
        value = bowl(trial)
        if trial.params["x"] > 0.6:
            raise MemoryError
        return value

    for x in (0.7, 0.8, 0.95):
        study.enqueue_trial({"x": x, "y": 0.9 - x})
    study.optimize(dies, n_trials=24, catch=MemoryError)
    found = failures(study)
    assert (found["looks_like"] == "region").mean() > 0.8
    assert [t.state for t in study.trials[-6:]].count(TrialState.FAIL) <= 2


@pytest.mark.slow
def test_a_trial_that_breaks_a_constraint_is_never_the_best():
    study = study_of(num_initial=6, seed=1)

    def constrained(trial):
        value = bowl(trial)
        trial.set_constraint("left", trial.params["x"] - 0.1)  # must be at most 0
        return value

    study.optimize(constrained, n_trials=24)
    assert study.trials[best(study).number].params["x"] <= 0.1
    failed = history(study).having("failed")
    assert failed
    assert {(t.reason, t.retry) for t in failed} == {("breaks the constraint left", False)}
    assert sum(t.params["x"] > 0.1 for t in study.trials[-8:]) <= 6  # all 8 where nothing is learned; 4 to 6 by seed


def test_states_as_we_see_them():
    study = study_of()
    study.optimize(bowl, n_trials=2)

    def pruned(trial, reports):
        bowl(trial)
        if reports:
            trial.report(0.5, 0)
        raise optuna.TrialPruned

    study.optimize(lambda trial: pruned(trial, True), n_trials=1)
    study.optimize(lambda trial: pruned(trial, False), n_trials=1)
    study.optimize(lambda trial: bowl(trial) * float("inf"), n_trials=1)
    study.enqueue_trial({"x": 0.5, "y": 0.5})
    assert [t.state for t in history(study)] == ["told", "told", "told", "failed", "failed", "pending"]
    assert history(study)[2].value == 0.5
    study.sampler = RobustSampler(seed=0, consider_pruned_trials=False)
    assert [t.state for t in history(study)][2] == "excluded"


def test_noise_that_is_told():
    study = study_of()

    def noisy(trial):
        trial.set_user_attr(SD, 0.1)
        return bowl(trial)

    study.optimize(noisy, n_trials=2)
    assert [t.sd for t in history(study)] == [0.1, 0.1]
    study.sampler = RobustSampler(seed=0, deterministic_objective=True)
    study.optimize(bowl, n_trials=1)
    assert [t.sd for t in history(study)] == [0.1, 0.1, 0.0]


@pytest.mark.parametrize("sd", ["a", [1], float("nan"), -1, True, float("inf")])
def test_noise_that_cannot_be_is_passed_over_and_ends_nothing(sd):
    study = study_of()

    def noisy(trial):
        trial.set_user_attr(SD, sd)
        return bowl(trial)

    said = r"trial \d: its attribute 'robustbo:sd' is ignored: sd must"
    with pytest.warns(NumericsWarning, match=said):
        study.optimize(noisy, n_trials=2)
    with pytest.warns(NumericsWarning, match=said):
        found = history(study)
    assert [t.sd for t in found] == [None, None]


@pytest.mark.parametrize(
    ("source", "labels"),
    [("R3", {"source": "R3"}), ({"reactor": "R3", "plate": 7}, {"reactor": "R3", "plate": "7"})],
)
def test_what_measured_a_trial_is_an_attribute_of_the_user(source, labels):
    study = study_of()

    def measured(trial):
        trial.set_user_attr(SOURCE, source)
        return bowl(trial)

    study.optimize(measured, n_trials=2)
    study.optimize(bowl, n_trials=1)
    assert [t.sources for t in history(study)] == [labels, labels, {}]


def test_a_source_that_cannot_be_is_passed_over_and_ends_nothing():
    study = study_of()

    def measured(trial):
        trial.set_user_attr(SOURCE, 1.5)
        return bowl(trial)

    said = r"trial \d: its attribute 'robustbo:source' is ignored: the label of source"
    with pytest.warns(NumericsWarning, match=said):
        study.optimize(measured, n_trials=2)
    with pytest.warns(NumericsWarning, match=said):
        trials = history(study)
    assert [t.sources for t in trials] == [{}, {}]


@pytest.mark.slow
def test_the_rest_is_chosen_given_what_is_enqueued():
    study = study_of()
    study.optimize(bowl, n_trials=10)
    study.enqueue_trial({"x": 0.25})
    study.optimize(bowl, n_trials=1)
    last = study.trials[-1]
    assert last.params["x"] == 0.25
    assert abs(last.params["y"] + 0.2) < 0.3  # where y is best
    assert notes.read(last)["fixed"] == {"x": 0.25}


def test_an_enqueued_value_beyond_the_range_of_today_ends_nothing():
    study = study_of()
    study.optimize(bowl, n_trials=5)
    study.enqueue_trial({"x": 7.0})
    with pytest.warns(UserWarning, match="out of range"):
        study.optimize(bowl, n_trials=2)
    gathered = history(study)
    assert len(gathered) == 7
    assert gathered[5].params["x"] == 7.0  # which is where it was measured


@pytest.mark.slow
def test_conditional_parameters_are_searched_together_with_the_choice():
    def conditional(trial):
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            return 0.2 + (trial.suggest_float("u", 0, 1) - 0.3) ** 2
        return sum((trial.suggest_float(f"w{i}", 0, 1) - 0.6) ** 2 for i in range(2))

    study = study_of(num_initial=8)
    study.optimize(conditional, n_trials=26)
    assert best(study).params["kind"] == "b"
    assert best(study).value < 0.01


@pytest.mark.slow
def test_a_range_that_is_never_twice_the_same_is_modelled_as_a_whole():
    study = study_of(surrogate="relevance-pursuit")

    def ranged(trial):
        trial.suggest_float("r", 0, 1 + trial.number)
        return wrong_once(trial)

    study.optimize(ranged, n_trials=16)
    assert set(study_view(study).view.settings.space.names) == {"x", "y", "r"}
    assert any(notes.read(t).get("repeats") == 7 for t in study.trials)


def test_what_is_repeated_is_found_by_its_number_where_some_trials_are_seen_only(monkeypatch):
    """As within a bracket of Hyperband's."""
    study = study_of()
    study.optimize(bowl, n_trials=6)
    number = study.ask().number
    study._storage.set_trial_system_attr(study.trials[number]._trial_id, f"{notes.NOTE}0", '1:{"repeats": 5}')
    trial, some = study.trials[number], study.trials[4:]
    monkeypatch.setattr(study, "get_trials", lambda **_: some)
    assert study.sampler.sample_independent(study, trial, "x", SPACE["x"]) == some[1].params["x"]


def test_a_range_that_changes_is_asked_in_and_a_value_beyond_it_is_moved_to_its_end(caplog):
    study = study_of()

    def ranged(trial):
        high = 0.01 if trial.number == 7 else 1 + trial.number
        return trial.suggest_float("r", 0, high) + bowl(trial)

    with caplog.at_level(logging.WARNING, "robustbo"):
        study.optimize(ranged, n_trials=8)
    assert not caplog.records
    decided = notes.read(study.trials[7])["params"]["r"]
    assert study.trials[7].params["r"] == min(decided, 0.01)


def test_values_with_and_without_a_parameter_that_comes_and_goes_do_not_look_wrong():
    study = study_of(surrogate="relevance-pursuit", num_initial=12)

    def coming_and_going(trial):
        value = (trial.suggest_float("x", -5, 5) - 1) ** 2
        return value + 5 + 3 * trial.suggest_float("z", 0, 1) if trial.number % 3 == 1 else value

    study.optimize(coming_and_going, n_trials=14)
    assert study_view(study).view.settings.space.names == ["z there", "x", "z"]
    assert not outliers(study)["flagged"].any()


def test_more_trials_at_once_than_the_space_has_points():
    study = study_of()
    two = {"a": CategoricalDistribution(["p", "q"])}
    study.tell(study.ask(two), 1.0)
    assert {study.ask(two).params["a"] for _ in range(5)} <= {"p", "q"}


@pytest.mark.slow
def test_threads_share_a_study():
    study = study_of()
    study.optimize(bowl, n_trials=16, n_jobs=4)
    assert len(study.trials) == 16
    assert len({tuple(t.params.items()) for t in study.trials if "repeats" not in notes.read(t)}) >= 14
    assert threading.active_count() < 12


def test_the_later_of_two_processes_decides_again_where_the_other_was_first(monkeypatch):
    """The other one, an earlier trial, is decided on between what is read for a trial and what is written of it."""
    study = study_of(surrogate="standard")
    study.optimize(bowl, n_trials=5)
    early = study.ask()
    write, others = notes.write, RobustSampler(seed=0, num_initial=4)

    def interrupted(given, trial, made, repeats):
        if trial.number > early.number and not notes.read(study.trials[early.number]):
            others.sample_relative(study, study.trials[early.number], SPACE)
        write(given, trial, made, repeats)

    monkeypatch.setattr(notes, "write", interrupted)
    late = study.ask(SPACE)
    first, second = notes.read(study.trials[early.number])["params"], notes.read(study.trials[late.number])["params"]
    assert first != second == late.params


def test_it_can_be_pickled_in_the_middle():
    study = study_of()
    study.optimize(bowl, n_trials=5)
    sampler = pickle.loads(pickle.dumps(study.sampler))
    expected = study.ask(SPACE).params
    study.sampler = sampler
    study.tell(5, state=TrialState.FAIL)
    assert set(study.ask(SPACE).params) == set(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"surrogate": "nonsense"}, "surrogate"),
        ({"surrogate_options": {"nonsense": 1}}, "nonsense"),
        ({"replicate": "always"}, "replicate must be one of"),
        ({"seed": -1}, "seed must be"),
        ({"num_initial": 0}, "num_initial must be"),
        ({"deterministic_objective": "yes"}, "deterministic_objective must be"),
        ({"failures": "nonsense"}, "failures must be one of"),
    ],
)
def test_bad_arguments_are_refused_at_once(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        RobustSampler(**options)


def test_a_categorical_of_very_many_values_is_decided_on_by_the_first_surrogate(caplog):
    study = study_of(deterministic_objective=True)
    names = [f"m{k}" for k in range(1500)]
    for k in range(6):
        distributions = {"x": FloatDistribution(-1, 1), "kind": CategoricalDistribution(names)}
        params = {"x": k / 5 - 0.5, "kind": names[k % 2]}
        study.add_trial(optuna.trial.create_trial(params=params, distributions=distributions, value=float(k % 2)))
    with caplog.at_level(logging.WARNING, "robustbo"):
        trial = study.ask({"x": FloatDistribution(-1, 1), "kind": CategoricalDistribution(names)})
    assert trial.params["kind"] in names
    assert not [record for record in caplog.records if "could not be used" in record.message]


@pytest.mark.slow
def test_an_integer_of_too_many_values_is_searched():
    study, target = study_of(), 2**59 + 12345
    study.optimize(lambda trial: abs(trial.suggest_int("n", 0, 2**60) - target) / 2**60, n_trials=14)
    assert best(study).value < 0.01
    assert all(notes.read(trial) for trial in study.trials[1:])


def test_values_that_numbers_do_not_tell_apart_are_drawn_at_random_and_it_is_said(caplog):
    study = study_of()
    with caplog.at_level(logging.WARNING, "robustbo"):
        study.optimize(lambda trial: bowl(trial) + trial.suggest_int("n", 0, 3 * 2**60, step=3) * 0, n_trials=3)
    (record,) = caplog.records
    assert (
        "'n' is drawn at random: floating-point numbers do not tell the values of IntDistribution"
        in record.getMessage()
    )


def on_a_curve(n=14):
    """Values on a curve, but one that is 0.3 off."""
    for i in range(n):
        x = -1 + 2 * i / (n - 1)
        yield optuna.trial.create_trial(
            params={"x": x}, distributions={"x": FloatDistribution(-1, 1)}, value=x * x + 0.3 * (i == 9)
        )


def test_what_is_off_by_a_negligible_error_is_not_called_wrong():
    flagged = {}
    for error in (0.0, 0.4):
        study = study_of(negligible_error=error, surrogate="relevance-pursuit")
        study.add_trials(on_a_curve())
        frame = outliers(study)
        flagged[error] = frame.index[frame["status"] != "inlier"].tolist()
    assert flagged == {0.0: [9], 0.4: []}


def test_each_objective_has_a_negligible_error_of_its_own():
    sampler = RobustSampler(seed=0, negligible_error=[0.0, 0.3])
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=sampler)
    settings = sampler.settings(study, rb.Space(x=rb.Float(-1.0, 1.0)))
    assert [of.quantity.negligible_error for of in settings.outcomes] == [0.0, 0.3]


def test_a_negligible_error_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="at least 0"):
        study_of(negligible_error=-1.0)
    study = study_of(negligible_error=[0.1, 0.1])
    with pytest.raises(ValueError, match="each of 1 objective"):
        study.optimize(bowl, n_trials=2)
