import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from robustbo.numerics.failures.likelihood import BETA, E0, Outcomes, log_outcome

E1 = 0.07


def of(is_ok, is_sure=False, k=1.0):
    """What became of the trials at two places, or at as many as are said."""
    K, k, sure = np.broadcast_arrays(*map(np.atleast_1d, (np.multiply(is_ok, 1.0), k, is_sure)))
    return Outcomes(K, np.array(k), np.array(sure))


def log_p(h, outcomes, e1=E1):
    return log_outcome(BETA * outcomes.s * h, outcomes.log_b(e1), outcomes.log_c(e1))


@pytest.mark.parametrize("h", [-9.0, -0.02, 0.0, 0.01, 9.0])
def test_the_probabilities_of_a_value_and_of_a_failure_add_up_to_one(h):
    either = of([True, False], k=[0.0, 1.0])
    assert np.exp(log_p(np.full(2, h), either)).sum() == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize("h", [-1.0, -0.2, 0.2, 1.0])
def test_it_is_exact_far_in_the_tail(h):
    sure = of([False], True)
    with mpmath.workdps(400):
        exact = mpmath.log((1 - mpmath.mpf(E0)) * mpmath.ncdf(-mpmath.mpf(BETA * h)))
    assert log_p(np.array([h]), sure)[0] == pytest.approx(float(exact), rel=1e-13)


def test_where_a_trial_is_viable_it_fails_by_flakes_alone_and_where_not_it_fails():
    failed = of([False, False])
    assert np.exp(log_p(np.array([2.0, -2.0]), failed)) == pytest.approx([E1, 1 - E0])


def test_what_somebody_says_lies_in_its_point_is_no_flake():
    sure = of([False], True)
    assert log_p(np.array([2.0]), sure)[0] < -2000
    assert math.isinf(sure.log_b(E1)[0])


def test_two_failures_at_one_place_are_two_flakes_or_none():
    assert np.exp(log_p(np.array([2.0, -2.0]), of([False, False], k=2.0))) == pytest.approx([E1**2, 1 - E0])


def test_slopes_in_the_rate_of_flakes():
    outcomes = of([True, True, False, False, False], [False, False, False, False, True], [0.0, 2.0, 1.0, 3.0, 1.0])
    h, step = np.array([0.01, -0.02, 0.015, 0.03, 0.01]), 1e-5

    def whole(e1):
        return log_p(h, outcomes, e1) + np.where(outcomes.is_ok, outcomes.k * math.log(e1), 0)

    numeric = (whole(E1 * math.exp(step)) - whole(E1 * math.exp(-step))) / (2 * step)
    found = outcomes.scores(BETA * outcomes.s * h, log_p(h, outcomes), E1)
    assert_allclose(found[:4], numeric[:4], rtol=1e-6)
    assert found[4] == 0.0
    assert outcomes.flakes(E1) == pytest.approx(2 * math.log(E1))
