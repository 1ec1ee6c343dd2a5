import json
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest

from robustbo.searchspace.parameters import Choice, Float, Int
from robustbo.searchspace.pool import Pool
from robustbo.searchspace.space import Space
from robustbo.trials.initial import default_num_initial, effective_dimensions
from robustbo.trials.settings import Settings, options_text

SPACE = Space(x=Float(1e-3, 1.0, log=True), n=Int(1, 4), c=Choice("a", None, True))


@pytest.mark.parametrize(
    "settings",
    [
        Settings(SPACE),
        Settings(SPACE, "maximize", "student-t", options_text({"dof": 4.0, "a": [1, None]}), "qLogEI", 12, 2**70),
    ],
    ids=["default", "full"],
)
def test_settings_return_from_json(settings):
    back = Settings.from_dict(json.loads(json.dumps(settings.to_dict())))
    assert back == settings
    assert back.sign == settings.sign
    assert hash(back) == hash(settings)


def test_the_json_form_shows_the_options_as_values():
    assert Settings(SPACE, options='{"dof": 4}').to_dict()["surrogate_options"] == {"dof": 4}


def test_settings_are_frozen():
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'seed'"):
        Settings(SPACE).seed = 1


@pytest.mark.parametrize(("direction", "sign"), [("minimize", -1.0), ("maximize", 1.0)])
def test_the_sign_makes_larger_better(direction, sign):
    assert Settings(SPACE, direction).sign == sign


@pytest.mark.parametrize(
    ("argument", "value", "match"),
    [
        ("direction", "max", "direction must be one of .*, got 'max'"),
        ("direction", None, "direction must be one of .*, got None"),
        ("num_initial", 0, "num_initial must be a whole number of at least 1, got 0"),
        ("num_initial", True, "num_initial must be a whole number of at least 1, got True"),
        ("num_initial", 2.0, r"num_initial must be a whole number of at least 1, got 2\.0"),
        ("seed", -1, "seed must be a whole number of at least 0, got -1"),
        ("seed", False, "seed must be a whole number of at least 0, got False"),
        ("seed", None, "seed must be a whole number of at least 0, got None"),
    ],
)
def test_an_argument_that_breaks_a_rule_is_refused(argument, value, match):
    with pytest.raises(ValueError, match=match):
        Settings(SPACE, **{argument: value})


@pytest.mark.parametrize(("dimension", "number"), [(1, 5), (2, 6), (6, 14), (9, 20), (50, 20)])
def test_the_default_number_of_initial_points_grows_with_the_dimension_to_a_limit(dimension, number):
    assert default_num_initial(Space(**{f"x{i}": Float(0.0, 1.0) for i in range(dimension)})) == number


def test_dimensions_are_counted_as_far_as_they_can_be_chosen():
    x = {f"x{i}": Float(0.0, 1.0) for i in range(4)}
    assert effective_dimensions(Space(x | {"c": Float(1.0, 1.0)})) == 4
    assert effective_dimensions(Space(x, constraints=["x0 + x1 + x2 == 1", "x3 == x2", "x0 <= x1"])) == 2
    nested = {"a": Choice(1, 2, 3, 4), "b": Choice("u", "v", when={"a": [1, 2]}), "y": Float(0, 1, when={"b": "u"})}
    assert effective_dimensions(Space(nested)) == 1 + 0.5 + 0.25
    assert default_num_initial(Space(x, constraints=["x0 + x1 + x2 == 1"])) == 8


@pytest.mark.parametrize(("rows", "number"), [(4, 2), (20, 5), (40, 10), (300, 20)])
def test_of_a_pool_a_quarter_comes_first_at_most(rows, number):
    frame = pd.DataFrame(np.random.default_rng(0).random((rows, 12)), columns=[*"abcdefghijkl"])
    assert default_num_initial(Pool(frame)) == number


def test_options_become_canonical_text():
    assert options_text({"b": 1, "a": [True, None]}) == options_text({"a": [True, None], "b": 1})
    assert options_text(None) == options_text({}) == "{}"


@pytest.mark.parametrize("options", [{"a": print}, {"a": float("nan")}, {"a": {1}}, {"a": len}, 3], ids=repr)
def test_options_that_are_not_json_are_refused(options):
    with pytest.raises(TypeError, match="surrogate_options must be JSON values, got "):
        options_text(options)


class TestTheCommittee:
    def test_it_takes_over_beyond_so_many_values(self):
        settings = Settings(SPACE, options='{"num_outliers": 1}', committee_from=10)
        assert settings.of_size(10) is settings
        large = settings.of_size(11)
        assert (large.surrogate, large.surrogate_options, large.seed) == ("committee", {}, settings.seed)

    def test_never_unless_said(self):
        assert Settings(SPACE).of_size(10**6).surrogate == "relevance-pursuit"
        assert "committee_from" not in Settings(SPACE).to_dict()

    def test_a_journal_keeps_it(self):
        settings = Settings(SPACE, committee_from=10)
        assert Settings.from_dict(settings.to_dict()) == settings

    def test_a_number_that_cannot_be(self):
        with pytest.raises(ValueError, match="committee_from must be a whole number of at least 1"):
            Settings(SPACE, committee_from=0)
