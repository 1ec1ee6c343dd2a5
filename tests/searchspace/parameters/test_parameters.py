import json
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import MAX_LEVELS, Choice, Float, Int
from robustbo.searchspace.space import Space


def short(given):
    return repr(given)[:40]


exactly = settings(deadline=None, derandomize=True, max_examples=500)
units = st.floats(0.0, 1.0)


@st.composite
def linear_floats(draw):
    low = draw(st.just(0.0) | st.floats(-1e15, 1e15))
    high = low + 10.0 ** draw(st.floats(-15, 15) | st.floats(-300, 300))
    return Float(low, high if high > low else math.nextafter(low, math.inf))


@st.composite
def log_floats(draw):
    low = 10.0 ** draw(st.floats(-200, 200))
    high = low * 10.0 ** draw(st.floats(1e-12, 40))
    return Float(low, high if high > low else math.nextafter(low, math.inf), log=True)


@st.composite
def ints(draw):
    log = draw(st.booleans())
    low = draw(st.integers(1 if log else -(2**45), 2**45 - 1))
    return Int(low, min(low + draw(st.integers(1, 100) | st.integers(1, 2**46)), 2**45), log=log)


def assert_exact(parameter, value):
    assert parameter.from_unit(parameter.to_unit(value)) == value
    back = json.loads(json.dumps(value))
    assert back == value
    assert type(back) is type(value)
    assert parameter.validate("x", back) == value


@exactly
@given(linear_floats() | log_floats(), units)
def test_a_float_returns_exactly_from_the_unit_interval_and_from_json(parameter, u):
    parameter.check("x")
    value = parameter.from_unit(u)
    assert type(value) is float
    assert parameter.low <= value <= parameter.high
    assert_exact(parameter, value)


@exactly
@given(ints(), units)
def test_an_int_returns_exactly_from_the_unit_interval_and_from_json(parameter, u):
    parameter.check("x")
    value = parameter.from_unit(u)
    assert type(value) is int
    assert parameter.low <= value <= parameter.high
    assert_exact(parameter, value)


@exactly
@given(ints(), st.data())
def test_every_whole_number_has_a_cell_of_its_own(parameter, data):
    assert_exact(parameter, data.draw(st.integers(parameter.low, parameter.high)))


@exactly
@given(st.sampled_from([Choice(True, 1), Choice("a", None, 2.5, False, 0), Choice(*range(100))]), units)
def test_a_choice_returns_exactly_from_the_unit_interval_and_from_json(parameter, u):
    value = parameter.from_unit(u)
    assert_exact(parameter, value)
    assert type(parameter.from_unit(parameter.to_unit(value))) is type(value)


@exactly
@given(linear_floats() | log_floats() | ints())
def test_bounds_are_hit_exactly(parameter):
    assert (parameter.from_unit(0.0), parameter.from_unit(1.0)) == (parameter.low, parameter.high)
    assert_exact(parameter, parameter.from_unit(0.0))
    assert_exact(parameter, parameter.from_unit(1.0))


@pytest.mark.parametrize("u", [-0.1, 1.1])
def test_a_coordinate_outside_gives_the_nearest_bound(u):
    assert Float(2.0, 3.0).from_unit(u) == (2.0 if u < 0 else 3.0)
    assert Int(2, 5, log=True).from_unit(u) == (2 if u < 0 else 5)
    assert Choice("a", "b").from_unit(u) == ("a" if u < 0 else "b")


@pytest.mark.parametrize("parameter", [Float(-1.0, 0.1 + 0.2), Float(1e-5, 0.1 + 0.2, log=True)], ids=str)
def test_a_value_next_to_the_upper_bound_returns_exactly(parameter):
    assert_exact(parameter, parameter.from_unit(1 - 1e-14))


@pytest.mark.parametrize(
    "parameter", [Int(-3, 4), Int(1, MAX_LEVELS, log=True), Int(7, 8), Choice(True, 1, 0, False, None, "1")], ids=str
)
def test_every_level_round_trips(parameter):
    values = [parameter.from_unit(u) for u in parameter.levels]
    expected = parameter.values if isinstance(parameter, Choice) else range(parameter.low, parameter.high + 1)
    assert list(map(repr, values)) == list(map(repr, expected))
    assert [parameter.to_unit(value) for value in values] == parameter.levels


def test_only_few_values_are_levels():
    assert len(Int(1, MAX_LEVELS).levels) == MAX_LEVELS
    assert Int(0, MAX_LEVELS).levels is None
    assert Float(0.0, 1.0).levels is None


def test_the_middle_of_a_log_scale_is_the_geometric_mean():
    assert Float(1e-4, 1e2, log=True).from_unit(0.5) == pytest.approx(0.1, rel=1e-10)
    assert Int(1, 10_000, log=True).from_unit(0.5) == pytest.approx(math.sqrt(0.5 * 10_000.5), abs=0.5)


def test_true_and_one_are_different_choices():
    parameter = Choice(True, 1)
    assert parameter.validate("x", True) is True
    assert type(parameter.validate("x", 1)) is int
    assert parameter.to_unit(True) != parameter.to_unit(1)


@pytest.mark.parametrize(
    ("kind", "arguments", "match"),
    [
        (Float, (2, 1), "Float: low must not be above high, got low=2.*high=1"),
        (partial(Float, log=True), (0.0, 1.0), r"Float: a log scale needs low > 0, got low=0\.0"),
        (partial(Float, log=True), (-1.0, 1.0), r"Float: a log scale needs low > 0, got low=-1\.0"),
        (Float, (math.nan, 1.0), r"Float\.low: must be a finite number, got nan"),
        (Float, (0.0, math.inf), r"Float\.high: must be a finite number, got inf"),
        (Float, (False, 1.0), r"Float\.low: must be a finite number, got False"),
        (Float, ("0", 1.0), r"Float\.low: must be a finite number, got '0'"),
        (Float, (-1e308, 1e308), r"Float: high - low must be finite, got low=-1e\+308"),
        (partial(Float, log=True), (1e-200, 1e200), r"Float: .*finite.*low=1e-200"),
        (Int, (3, 2), "Int: low must not be above high, got low=3, high=2"),
        (partial(Int, log=True), (0, 3), "Int: a log scale needs low >= 1, got low=0"),
        (Int, (0.5, 3), r"Int\.low: must be a whole number, got 0\.5"),
        (Int, (0, True), r"Int\.high: must be a finite number, got True"),
        (Int, (0, 2**45 + 1), r"Int: bounds must lie within 2\*\*45 .*high=35184372088833"),
        (Choice, (["a", "b"],), r"Choice: values are listed one by one, as Choice\(1, 2\), not as"),
        (Choice, (), "Choice: there must be at least one value, got none"),
        (Choice, ("a", "b", "a"), r"Choice: the values must differ, got \['a', 'b', 'a'\]"),
        (Choice, (1, 1.0), r"Choice: the values must differ, got \[1, 1\.0\]"),
        (Choice, ("a", math.nan), "Choice: must be a finite number, got nan"),
        (Choice, ("a", (1, 2)), r"Choice: values are .*, got \(1, 2\)"),
    ],
    ids=str,
)
def test_a_definition_that_breaks_a_rule_is_refused_when_it_is_made(kind, arguments, match):
    with pytest.raises(SpaceError, match=match):
        kind(*arguments)


@pytest.mark.parametrize(
    ("parameter", "value", "match"),
    [
        (Float(0.0, 1.0), 1.5, r"x: must lie in \[0\.0, 1\.0\], got 1\.5"),
        (Float(0.0, 1.0), math.nan, "x: must be a finite number, got nan"),
        (Float(0.0, 1.0), True, "x: must be a finite number, got True"),
        (Float(0.0, 1.0), np.True_, r"x: must be a finite number, got np\.True_"),
        (Float(0.0, 1.0), "0.5", r"x: must be a finite number, got '0\.5'"),
        (Float(0.0, 1.0), None, "x: must be a finite number, got None"),
        (Float(0.0, 1.0), 0.5j, "x: must be a finite number, got 0.5j"),
        (Float(0.0, 1.0), 10**400, "x: must .*, got 1000"),
        (Int(0, 3), 4, r"x: must lie in \[0, 3\], got 4"),
        (Int(0, 3), 1.5, r"x: must be a whole number, got 1\.5"),
        (Int(0, 3), True, "x: must be a finite number, got True"),
        (Int(0, 3), math.nan, "x: must be a finite number, got nan"),
        (Choice("a", "b"), "c", r"x: must be one of \['a', 'b'\], got 'c'"),
        (Choice(1, 2), True, r"x: must be one of \[1, 2\], got True"),
        (Choice(True, False), 1, r"x: must be one of \[True, False\], got 1"),
        (Choice(1, 2), [1], r"x: must be one of \[1, 2\], got \[1\]"),
        (Choice(1, 2), np.array([1, 2]), r"x: must be one of \[1, 2\], got array"),
    ],
    ids=short,
)
def test_a_value_that_breaks_a_rule_is_refused(parameter, value, match):
    with pytest.raises(SpaceError, match=match):
        parameter.validate("x", value)


@pytest.mark.parametrize(
    ("parameter", "value", "plain"),
    [
        (Float(0.0, 1.0), np.float64(0.5), 0.5),
        (Float(0.0, 1.0), np.float32(0.5), 0.5),
        (Float(0.0, 1.0), np.int64(1), 1.0),
        (Int(0, 3), np.int32(2), 2),
        (Int(0, 3), np.float64(2.0), 2),
        (Choice(1, 2), np.int64(2), 2),
        (Choice("a", True), np.str_("a"), "a"),
        (Choice("a", True), np.True_, True),
    ],
    ids=str,
)
def test_numpy_scalars_become_plain_values(parameter, value, plain):
    found = parameter.validate("x", value)
    assert found == plain
    assert type(found) is type(plain)


@pytest.mark.parametrize(
    "parameter",
    [
        Float(np.float64(0.0), np.float64(1e-300)),
        Float(np.float32(0.1), np.float32(0.9)),
        Float(np.int64(1), np.int64(8), log=True),
        Int(np.int64(1), np.int64(8)),
        Int(1.0, 8.0),
    ],
    ids=str,
)
def test_bounds_may_be_any_numbers(parameter):
    space = Space(x=parameter)
    assert Space.from_dict(json.loads(json.dumps(space.to_dict()))) == space
    (_, checked), *_ = space.parameters
    for u in (0.0, 0.37, 1.0, *(checked.levels or ())):
        assert_exact(checked, checked.from_unit(u))


def test_the_values_of_a_float_in_whole_steps_are_floats():
    whole = Float(0, 3, step=1)
    assert [type(whole.nth(index)) for index in range(4)] == [float] * 4
    assert type(whole.from_unit(0.4)) is type(whole.validate("x", 2)) is float


@pytest.mark.parametrize(
    ("parameter", "value", "said"),
    [
        (Choice(*(f"solvent {i}" for i in range(1500))), "solvnt 700", r"\.\.\.\] \(1500 values\), .*'solvent 7"),
        (Choice(*range(0, 3000, 2)), 701, r"\.\.\.\] \(1500 values\), got 701; the nearest is 700"),
    ],
    ids=["words", "numbers"],
)
def test_of_many_values_a_message_shows_the_first_the_number_and_the_nearest(parameter, value, said):
    with pytest.raises(SpaceError, match=said) as caught:
        parameter.validate("x", value)
    assert len(str(caught.value)) < 300
    assert len(repr(parameter)) < 300
    assert repr(parameter).endswith("... 1500 values)")
