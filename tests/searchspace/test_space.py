import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Float, Int
from robustbo.searchspace.space import Space

SPACE = Space(lr=Float(1e-6, 1.0, log=True), x=Float(-5.0, 10.0), n=Int(1, 512, log=True), act=Choice("relu", True, 1))
POINT = {"lr": 0.01, "x": 0.5, "n": 64, "act": True}


def test_a_space_keeps_the_order_of_its_parameters():
    assert SPACE.names == ["lr", "x", "n", "act"]
    assert len(SPACE) == 4
    assert list(SPACE.validate(dict(reversed(POINT.items())))) == SPACE.names


def test_a_space_returns_from_its_dict_and_from_json():
    back = Space.from_dict(json.loads(json.dumps(SPACE.to_dict())))
    assert back == SPACE
    assert back.to_dict() == SPACE.to_dict()
    assert repr(back) == repr(SPACE)
    assert hash(back) == hash(SPACE)


def test_the_dict_form_is_plain():
    assert Space(x=Float(0.0, 1.0), a=Choice("b", "c")).to_dict() == {
        "x": {"kind": "float", "low": 0.0, "high": 1.0, "log": False},
        "a": {"kind": "choice", "values": ["b", "c"]},
    }


@pytest.mark.parametrize("name", ["learning rate", "", "self", "cls", "kind", "größe"])
def test_any_string_names_a_parameter(name):
    space = Space.from_dict({name: Float(0.0, 1.0)})
    assert space.names == [name]
    assert space.from_unit([0.5]) == {name: 0.5}


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4))
def test_a_point_returns_exactly_from_the_unit_cube_and_from_json(u):
    point = SPACE.from_unit(u)
    assert repr(SPACE.from_unit(SPACE.to_unit(point))) == repr(point)
    assert repr(SPACE.validate(json.loads(json.dumps(point)))) == repr(point)


def test_corners_of_the_cube_are_the_bounds():
    assert list(SPACE.from_unit([0.0] * 4).values()) == [1e-6, -5.0, 1, "relu"]
    assert list(SPACE.from_unit(np.ones(4)).values()) == [1.0, 10.0, 512, 1]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"nope": 3}, r"nope: no such parameter; the space has \['lr', 'x', 'n', 'act'\]; got 3"),
        ({"x": 11.0}, r"x: must lie in \[-5\.0, 10\.0\], got 11\.0"),
        ({"x": float("nan")}, "x: must be a finite number, got nan"),
        ({"x": "1"}, "x: must be a finite number, got '1'"),
        ({"n": False}, "n: must be a finite number, got False"),
        ({"act": 2}, "act: must be one of .*, got 2"),
    ],
)
def test_a_point_that_breaks_a_rule_is_refused(change, match):
    with pytest.raises(SpaceError, match=match):
        SPACE.validate(POINT | change)


@pytest.mark.parametrize("name", SPACE.names)
def test_a_missing_parameter_is_named(name):
    with pytest.raises(SpaceError, match=f"^{name}: every parameter must have a value, and one is missing in {{"):
        SPACE.validate({key: value for key, value in POINT.items() if key != name})


def test_an_empty_space_is_refused():
    with pytest.raises(SpaceError, match="a space needs at least one parameter"):
        Space()
    with pytest.raises(SpaceError, match="a space needs at least one parameter"):
        Space.from_dict({})


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ((0, 1), r"x: must be like .*'kind': 'float'.*, got \(0, 1\)"),
        ({"kind": "real", "low": 0, "high": 1}, "x: kind must be one of .*, got 'real'"),
        ({"low": 0, "high": 1}, "x: must have a kind, one of .*, got .*'low': 0"),
        ({"kind": "float", "low": 0}, "x: high must be given, such as .*, got .*'low': 0"),
        ({"kind": "int", "low": 0, "high": 1, "stride": 2}, "x: an int has .*, got 'stride'"),
        ({"kind": "choice"}, "x: values must be given, such as .*, got .*'choice'"),
        ({"kind": "choice", "values": ["a", "b"], "log": True}, "x: a choice has .*, got 'log'"),
        ({"kind": "float", "low": 1, "high": 0}, "x: low must not be above high"),
    ],
)
def test_a_dict_that_is_no_parameter_is_refused(given, match):
    with pytest.raises(SpaceError, match=match):
        Space.from_dict({"x": given})


def test_a_space_error_is_a_value_error():
    with pytest.raises(ValueError, match="Float: low must not be above high"):
        Float(1.0, 0.0)


def test_sobol_points_depend_on_seed_and_index_alone():
    points = [SPACE.sobol(3, index) for index in range(8)]
    assert [SPACE.sobol(3, index) for index in reversed(range(8))] == points[::-1]
    assert all(SPACE.validate(point) == point for point in points)
    assert len({point["x"] for point in points}) == 8
    assert SPACE.sobol(4, 0) != points[0]


@pytest.mark.parametrize("seed", [0, 1, 2**62])
def test_the_first_64_sobol_points_stratify(seed):
    line = Space(x=Float(0.0, 64.0))
    assert sorted(int(line.sobol(seed, index)["x"]) for index in range(64)) == list(range(64))


def test_a_space_has_no_more_parameters_than_sobol_points():
    with pytest.raises(SpaceError, match="a space has at most 21201 parameters, as Sobol points have, got 21202"):
        Space(**{f"x{i}": Float(0, 1) for i in range(21202)})
