import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from robustbo.optuna.distributions import ours, parameter, theirs
from robustbo.searchspace.parameters import Choice, Float, Int

CASES = [
    (FloatDistribution(-1, 2), Float(-1.0, 2.0)),
    (FloatDistribution(1e-5, 1.0, log=True), Float(1e-5, 1.0, log=True)),
    (FloatDistribution(-10.2, 10.2, step=0.1), Float(-10.2, 10.2, step=0.1)),
    (FloatDistribution(0, 0.9, step=0.3), Float(0.0, 0.9, step=0.3)),
    (IntDistribution(1, 100, log=True), Int(1, 100, log=True)),
    (IntDistribution(3, 9, step=2), Int(3, 9, step=2)),
    (IntDistribution(-5, 5), Int(-5, 5)),
    (CategoricalDistribution([None, True, 1, "a", 0.5]), Choice(0, 1, 2, 3, 4)),
    (IntDistribution(0, 2**60), Float(0.0, 2.0**60)),
    (IntDistribution(2**60 + 1, 2**60 + 99999), Float(2.0**60, float(2**60 + 99999))),
    (IntDistribution(-(2**62), 5), Float(-(2.0**62), 5.0)),
    (IntDistribution(1, 2**62, log=True), Float(1.0, 2.0**62, log=True)),
    (IntDistribution(3, 3 + 7 * 2**47, step=7), Float(3.0, 3.0 + 7 * 2.0**47)),
]
WIDE = CASES[-5:]


@pytest.mark.parametrize(("distribution", "expected"), CASES)
def test_it_is_the_parameter_of_the_same_values(distribution, expected):
    assert parameter(distribution) == expected


@pytest.mark.parametrize("distribution", [d for d, _ in CASES])
@pytest.mark.parametrize("u", [0.0, 1e-12, 0.123456789, 1 / 3, 0.7, 1 - 1e-12, 1.0])
def test_a_value_of_ours_is_one_of_theirs_and_comes_back(distribution, u):
    value = parameter(distribution).from_unit(u)
    given = theirs(distribution, value)
    assert distribution._contains(distribution.to_internal_repr(given))
    assert type(ours(distribution, given)) is type(value)
    if (distribution, parameter(distribution)) in WIDE:
        assert theirs(distribution, ours(distribution, given)) == given
    elif not isinstance(distribution, CategoricalDistribution) or (given is not True and given != 1):
        assert ours(distribution, given) == value


def test_what_numbers_cannot_tell_apart_is_no_parameter_of_ours():
    assert parameter(FloatDistribution(0.0, 1.7e308)) is not None
    assert parameter(FloatDistribution(-1.7e308, 1.7e308)) is None
    assert parameter(IntDistribution(0, 3 * 2**60, step=3)) is None
    assert parameter(IntDistribution(1, 10**400)) is None


def test_a_value_beyond_the_range_is_refused():
    with pytest.raises(ValueError, match=r"must lie in FloatDistribution.*got 3\.0"):
        ours(FloatDistribution(0, 1), 3.0)
