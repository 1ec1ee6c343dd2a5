import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from robustbo.optuna.conditions import conditions, presence_indicators, search_space
from robustbo.optuna.history import space_of

UNIT = FloatDistribution(0, 1)
KIND = CategoricalDistribution(["svm", "tree", "none"])
LAYERS = IntDistribution(1, 4)


def trials(*all_params, **distributions):
    """Completed trials with these parameters."""
    return [
        optuna.create_trial(params=params, distributions={name: distributions[name] for name in params}, value=0.0)
        for params in all_params
    ]


def test_what_all_trials_have_is_asked_for_and_single_values_are_not():
    found = trials({"x": 0.1, "one": 1}, {"x": 0.2, "one": 1}, x=UNIT, one=IntDistribution(1, 1))
    assert search_space(found) == {"x": UNIT}


def test_of_a_range_that_changes_it_is_that_of_the_last_trials_or_the_union():
    wide = FloatDistribution(0, 2)
    found = [
        *trials({"x": 1.5, "y": 0.1}, x=wide, y=UNIT),
        *trials({"x": 0.1, "y": 0.1}, x=UNIT, y=UNIT),
    ]
    assert search_space(found) == {"x": wide, "y": UNIT}
    assert search_space([*found, *found[1:], *found[1:]]) == {"x": UNIT, "y": UNIT}


def test_a_parameter_depends_on_the_choice_whose_values_tell_where_it_is():
    found = trials(
        {"kind": "svm", "C": 0.1, "x": 0.3}, {"kind": "tree", "depth": 2, "x": 0.3}, {"kind": "none", "x": 0.3},
        kind=KIND, C=UNIT, depth=LAYERS, x=UNIT,
    )  # fmt: skip
    assert set(search_space(found)) == {"kind", "C", "depth", "x"}
    assert conditions(search_space(found), found) == {"C": {"kind": ["svm"]}, "depth": {"kind": ["tree"]}}


def test_layers_of_a_network_and_what_depends_on_what_depends():
    found = trials(
        {"kind": "none"}, *({"kind": "tree", "layers": n, **{f"w{i}": 0.5 for i in range(n)}} for n in (1, 2, 3)),
        kind=KIND, layers=LAYERS, w0=UNIT, w1=UNIT, w2=UNIT,
    )  # fmt: skip
    space = space_of(search_space(found), found)
    assert space.existing({"kind": 1, "layers": 2}) == {"kind", "layers", "w0", "w1"}
    assert space.existing({"kind": 2}) == {"kind"}


def test_a_guess_is_given_up_where_a_trial_refutes_it():
    found = trials({"kind": "svm", "C": 0.1}, {"kind": "tree"}, kind=KIND, C=UNIT)
    assert "C" in search_space(found)
    found += trials({"kind": "tree", "C": 0.1}, kind=KIND, C=UNIT)
    assert conditions(search_space(found), found) == {}
    assert presence_indicators(search_space(found), found) == {"C there": ["C"]}


def test_of_what_depends_on_a_real_number_a_point_says_whether_it_is_there():
    found = trials({"x": 0.1, "C": 0.1}, {"x": 0.9}, x=UNIT, C=UNIT)
    space = space_of(search_space(found), found)
    assert space.names == ["C there", "C", "x"]
    assert space.existing({"C there": False, "x": 0.1}) == {"C there", "x"}


def test_what_says_whether_a_parameter_is_there_has_a_name_of_its_own():
    found = trials({"x there": 0.1, "x": 0.1}, {"x there": 0.9}, **{"x there": UNIT, "x": UNIT})
    assert presence_indicators(search_space(found), found) == {"x there_": ["x"]}
    assert space_of(search_space(found), found).names == ["x there_", "x", "x there"]


@pytest.mark.parametrize("state", [optuna.trial.TrialState.FAIL, optuna.trial.TrialState.PRUNED])
def test_completed_trials_say_what_the_space_is_and_where_there_are_none_the_others(state):
    ended = optuna.create_trial(state=state, params={"y": 0.1}, distributions={"y": UNIT})
    assert search_space([*trials({"x": 0.1}, x=UNIT), ended]) == {"x": UNIT}
    assert search_space([ended]) == {"y": UNIT}


def test_a_space_of_nothing_that_we_have_is_none():
    found = trials({"n": 6}, n=IntDistribution(0, 3 * 2**60, step=3))  # numbers do not tell its values apart
    assert space_of(search_space(found), found) is None


def test_a_condition_at_values_that_the_range_has_no_more_is_none():
    wide, narrow = IntDistribution(1, 8), IntDistribution(1, 3)
    found = trials({"n": 1}, {"n": 5, "u": 0.5}, {"n": 2}, {"n": 6, "u": 0.2}, {"n": 8, "u": 0.9}, n=wide, u=UNIT)
    found += trials({"n": 1}, {"n": 2}, {"n": 3}, n=narrow)
    assert space_of({"n": narrow, "u": UNIT}, found).names == ["n"]
    found += trials({"n": 3, "u": 0.1}, n=narrow, u=UNIT)
    found = [trial for trial in found if trial.params != {"n": 3}]
    assert space_of({"n": narrow, "u": UNIT}, found).names == ["n", "u"]
