import math

import mpmath
import numpy as np
import pytest

from robustbo.numerics.failures.likelihood import BETA, E0, Outcomes, log_outcome

E1 = 0.07


def log_p(h, outcomes):
    return log_outcome(BETA * outcomes.s * h, outcomes.log_b(E1), outcomes.log_c(E1))


@pytest.mark.parametrize("h", [-9.0, -0.02, 0.0, 0.01, 9.0])
def test_the_probabilities_of_a_value_and_of_a_failure_add_up_to_one(h):
    either = Outcomes(np.array([True, False]), np.array([False, False]))
    assert np.exp(log_p(np.full(2, h), either)).sum() == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize("h", [-1.0, -0.2, 0.2, 1.0])
def test_it_is_exact_far_in_the_tail(h):
    sure = Outcomes(np.array([False]), np.array([True]))
    with mpmath.workdps(400):
        exact = mpmath.log((1 - mpmath.mpf(E0) - mpmath.mpf(E1)) * mpmath.ncdf(-mpmath.mpf(BETA * h)))
    assert log_p(np.array([h]), sure)[0] == pytest.approx(float(exact), rel=1e-13)


def test_where_a_trial_is_viable_it_fails_by_flakes_alone_and_where_not_it_fails():
    failed = Outcomes(np.array([False, False]), np.array([False, False]))
    assert np.exp(log_p(np.array([2.0, -2.0]), failed)) == pytest.approx([E1, 1 - E0])


def test_what_somebody_says_lies_in_its_point_is_no_flake():
    sure = Outcomes(np.array([False]), np.array([True]))
    assert log_p(np.array([2.0]), sure)[0] < -2000
    assert sure.may_flake.tolist() == [0.0]
    assert math.isinf(sure.log_b(E1)[0])
