import math

import pytest

from robustbo.loop.observations.expectation import Expectation, surprise


def test_surprise_is_the_gain_of_a_variance_of_its_own():
    assert surprise(5.0, 1.0, 2.0) == pytest.approx((4 - 1 - math.log(4)) / 2)
    assert surprise(2.0, 1.0, 2.0) == 0


@pytest.mark.parametrize(("value", "sd"), [(1e300, 1e-300), (-1e300, 1.0), (1.0, 0.0), (2.0, 0.0)])
def test_surprise_is_finite_for_any_numbers(value, sd):
    assert math.isfinite(surprise(value, 1.0, sd))


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e300])
def test_the_objective_is_what_is_left_of_a_measurement_without_its_noise(unit):
    assert Expectation(0.0, 5 * unit, 3 * unit).latent_sd == pytest.approx(4 * unit)
    assert Expectation(0.0, 5 * unit, 6 * unit).latent_sd == 0
