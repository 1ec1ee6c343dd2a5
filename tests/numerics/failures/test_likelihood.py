import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from robustbo.numerics.failures.likelihood import E0, Outcomes, by_log_e1, curvature_slope, terms

E1, STEP = 0.07, 1e-5
DRAW = np.random.default_rng(0)
H = 3 * DRAW.normal(size=40)
IS_OK = DRAW.random(40) < 0.5
OUTCOMES = Outcomes(IS_OK, ~IS_OK & (DRAW.random(40) < 0.3))


def at(h, e1=E1):
    return terms(h, OUTCOMES.s, OUTCOMES.log_b(e1), math.log1p(-E0 - e1))


def slope(up, down):
    return (up - down) / (2 * STEP)


def test_the_probabilities_of_a_value_and_of_a_failure_add_up_to_one():
    either = Outcomes(np.array([True, False]), np.array([False, False]))
    for h in (-9.0, -0.5, 0.0, 2.0, 9.0):
        found = terms(np.full(2, h), either.s, either.log_b(E1), math.log1p(-E0 - E1))
        assert np.exp(found.log_p).sum() == pytest.approx(1, rel=1e-14)


def test_gradients_curvatures_and_their_slopes_are_those_of_the_density():
    found, up, down = at(H), at(H + STEP), at(H - STEP)
    assert_allclose(found.g, slope(up.log_p, down.log_p), rtol=1e-6, atol=1e-9)
    assert_allclose(found.W, -slope(up.g, down.g), rtol=1e-6, atol=1e-9)
    assert_allclose(curvature_slope(found, OUTCOMES.s), slope(up.W, down.W), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["log_p", "g", "W"])
def test_slopes_in_the_rate_of_flakes(name):
    up, down = at(H, E1 * math.exp(STEP)), at(H, E1 * math.exp(-STEP))
    found = by_log_e1(at(H), OUTCOMES, E1)
    assert_allclose(getattr(found, name), slope(getattr(up, name), getattr(down, name)), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("h", [-40.0, -8.0, 8.0, 40.0])
def test_it_is_exact_far_in_the_tail(h):
    sure = Outcomes(np.array([False]), np.array([True]))
    found = terms(np.array([h]), sure.s, sure.log_b(E1), math.log1p(-E0 - E1))
    with mpmath.workdps(60):
        exact = mpmath.log((1 - mpmath.mpf(E0) - mpmath.mpf(E1)) * mpmath.ncdf(-mpmath.mpf(h)))
    assert found.log_p[0] == pytest.approx(float(exact), rel=1e-13)
    assert np.isfinite([found.g, found.W]).all()


def test_a_flake_is_put_down_to_the_rate_where_the_latent_value_is_high():
    assert at(np.full(40, 6.0)).W[~IS_OK & ~OUTCOMES.is_sure].max() < 0
    assert at(np.full(40, 6.0)).W[OUTCOMES.is_sure].min() > 0  # not one that is known to lie in its point
