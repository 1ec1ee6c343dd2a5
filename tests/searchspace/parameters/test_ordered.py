"""Steps, orders and single values: which are values, where they lie, and what is refused."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robustbo as rb
from robustbo.errors import SpaceError
from robustbo.searchspace.parameters.reading import read_parameter

exactly = settings(deadline=None, derandomize=True, max_examples=300)


@st.composite
def stepped(draw):
    low = draw(st.integers(-1000, 1000)) * draw(st.sampled_from([1.0, 0.1, 1e-5, 0.3]))
    step = draw(st.sampled_from([0.1, 0.25, 1 / 3, 1e-3, 7.0, 1e-7, 1e5]))
    return rb.Float(low, low + step * draw(st.integers(1, 2000)), step=step)


@st.composite
def stepped_ints(draw):
    step, log = draw(st.integers(1, 50)), draw(st.booleans())
    low = draw(st.integers(1 if log else -500, 500))
    return rb.Int(low, low + step * draw(st.integers(0, 300)), log=log, step=step)


@st.composite
def ordinals(draw):
    log = draw(st.booleans())
    numbers = st.floats(1e-6 if log else -1e6, 1e6, allow_subnormal=False)
    return rb.Ordinal(*sorted(draw(st.lists(numbers, min_size=1, max_size=12, unique=True))), log=log)


@exactly
@given(stepped() | stepped_ints() | ordinals(), st.floats(0.0, 1.0))
def test_a_value_returns_exactly_from_the_unit_interval_and_from_json(parameter, u):
    value = parameter.from_unit(u)
    assert parameter.from_unit(parameter.to_unit(value)) == value
    back = json.loads(json.dumps(value))
    assert repr(parameter.validate("x", back)) == repr(value)
    assert parameter.from_unit(0.0) == parameter.nth(0)
    assert parameter.from_unit(1.0) == parameter.nth(parameter.count - 1)


@exactly
@given(stepped() | stepped_ints() | ordinals(), st.data())
def test_every_value_has_a_cell_of_its_own_and_they_rise(parameter, data):
    index = data.draw(st.integers(0, parameter.count - 1))
    assert parameter.from_unit(parameter.to_unit(parameter.nth(index))) == parameter.nth(index)
    assert 0 < parameter.to_unit(parameter.nth(index)) < 1
    if index:
        assert parameter.nth(index) > parameter.nth(index - 1)
        assert parameter.to_unit(parameter.nth(index)) > parameter.to_unit(parameter.nth(index - 1))


@exactly
@given(stepped() | stepped_ints() | ordinals())
def test_it_returns_from_its_dict_and_from_json(parameter):
    assert read_parameter("x", json.loads(json.dumps(parameter.to_dict()))) == parameter
    assert parameter.count == 1 or len(parameter.levels or [0, 1]) > 1


@exactly
@given(st.integers(0, 10**6))
def test_a_decimal_step_gives_decimals(index):
    parameter = rb.Float(0, 10**5, step=0.1)
    assert repr(parameter.nth(index)) == repr(index / 10)
    assert parameter.validate("x", 0.1 * index) == index / 10


@pytest.mark.parametrize("index", [1, 2, 12345678901, 34999999999998])
def test_the_values_of_very_many_steps_are_its_values(index):
    parameter = rb.Float(0, 3.5, step=1e-13)
    assert parameter.validate("x", parameter.nth(index)) == parameter.nth(index)


def test_the_cells_of_steps_are_equal_and_those_of_an_ordinal_too():
    for parameter in (rb.Float(0, 1, step=0.25), rb.Int(0, 40, step=10), rb.Ordinal(1, 2, 50, 60, 1000)):
        assert parameter.levels == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])


def test_a_log_ordinal_is_spaced_by_its_logarithms():
    assert rb.Ordinal(1, 10, 1000, log=True).places == pytest.approx([0, 1 / 3, 1])


@pytest.mark.parametrize("one", [rb.Float(2, 2), rb.Float(2, 2, step=1), rb.Int(3, 3), rb.Choice("a"), rb.Ordinal(5)])
def test_a_single_value(one):
    assert one.count == 1
    assert {one.from_unit(u) for u in (0.0, 0.3, 1.0)} == {one.nth(0)}
    assert one.to_unit(one.nth(0)) == 0.5
    with pytest.raises(SpaceError, match="x: must"):
        one.validate("x", 4)


def test_a_space_of_single_values_alone_is_refused():
    with pytest.raises(SpaceError, match="a space needs a parameter with more than one value"):
        rb.Space(x=rb.Float(1, 1), c=rb.Choice("a"))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: rb.Float(0, 1, step=0.3),
            r"high must be a whole number of steps .* take high=0\.9, 1\.2|0\.9 or 1\.2",
        ),
        (lambda: rb.Float(0, 1, step=0), "step must be positive"),
        (lambda: rb.Float(0, 1, step=-0.1), "step must be positive"),
        (lambda: rb.Float(0, 1, step="a"), r"Float\.step: must be a finite number, got 'a'"),
        (lambda: rb.Float(0, 1, step=1e-20), r"at least 2\*\*-45 of the range"),
        (lambda: rb.Float(1, 16, log=True, step=1), "so not on a log scale, .* list an Ordinal"),
        (lambda: rb.Int(0, 10, step=3), "high must be a whole number of steps .* take high=9 or 12"),
        (lambda: rb.Float(0, 1, step=2), r"take high=2\.0$"),
        (lambda: rb.Int(0, 10, step=20), "take high=20$"),
        (lambda: rb.Int(0, 10, step=0), "step must be at least 1, got 0"),
        (lambda: rb.Int(0, 10, step=2.5), r"Int\.step: must be a whole number, got 2\.5"),
        (lambda: rb.Ordinal(), "at least one value, got none"),
        (lambda: rb.Ordinal(2, 1), r"the numbers of an ordinal must rise, got \[2, 1\]"),
        (lambda: rb.Ordinal(1, 1), r"the numbers of an ordinal must rise, got \[1, 1\]"),
        (lambda: rb.Ordinal("a", "a"), "the values must differ"),
        (lambda: rb.Ordinal("a", 1), "numbers or words alone"),
        (lambda: rb.Ordinal(False, True), "numbers or words alone"),
        (lambda: rb.Ordinal("a", "b", log=True), "a log scale needs numbers"),
        (lambda: rb.Ordinal(0, 1, log=True), "a log scale needs numbers > 0"),
        (lambda: rb.Ordinal(1, float("inf")), "must be a finite number, got inf"),
        (lambda: rb.Float(0, 1, when={}), r"Float\.when: must be like {'booster': \['dart'\]}, got {}"),
        (lambda: rb.Float(0, 1, when={"k": []}), "must have at least one value for which the parameter exists"),
        (lambda: rb.Float(0, 1, when="k"), r"Float\.when: must be like"),
        (lambda: rb.Float(0, 1, when={"k": object()}), "values are str, int, float, bool or None"),
    ],
)
def test_a_definition_that_breaks_a_rule_is_refused(make, match):
    with pytest.raises(SpaceError, match=match):
        make()


@pytest.mark.parametrize(
    ("parameter", "value", "match"),
    [
        (rb.Float(0, 1, step=0.25), 0.3, r"x: must lie on a step of 0\.25 from 0, got 0\.3"),
        (rb.Float(0, 1, step=0.25), 1.25, r"x: must lie in \[0, 1\]"),
        (rb.Int(1, 9, step=4), 3, "x: must lie on a step of 4 from 1, got 3"),
        (rb.Ordinal(1, 2.5), 2, r"x: must be one of \[1, 2\.5\], got 2"),
        (rb.Ordinal("low", "high"), "hihg", "did you mean|high"),
    ],
)
def test_a_value_that_breaks_a_rule_is_refused(parameter, value, match):
    with pytest.raises(SpaceError, match=match):
        parameter.validate("x", value)


def test_old_parameters_are_kept_as_before():
    assert rb.Float(0, 1).to_dict() == {"kind": "float", "low": 0, "high": 1, "log": False}
    assert rb.Int(1, 4, log=True).to_dict() == {"kind": "int", "low": 1, "high": 4, "log": True}
    assert rb.Choice("a", "b").to_dict() == {"kind": "choice", "values": ["a", "b"]}
    when = rb.Float(0, 1, step=0.5, when={"k": "a"}).to_dict()
    assert when == {"kind": "float", "low": 0, "high": 1, "log": False, "step": 0.5, "when": {"k": ["a"]}}
