import math

import pytest

from robustbo.loop.evidence import CLEAR, CREDIBLE, agree, half_way, probability_wrong, refuted, refutes, surprise


class TestSurprise:
    def test_it_is_the_gain_of_a_variance_of_its_own(self):
        assert surprise(5.0, 1.0, 2.0) == pytest.approx((4 - 1 - math.log(4)) / 2)
        assert surprise(2.0, 1.0, 2.0) == 0

    @pytest.mark.parametrize(("value", "sd"), [(1e300, 1e-300), (-1e300, 1.0), (1.0, 0.0), (2.0, 0.0)])
    def test_it_is_finite_for_any_numbers(self, value, sd):
        assert math.isfinite(surprise(value, 1.0, sd))


def test_values_at_just_the_tolerance_agree_but_one_there_does_not_confirm_a_flagged_one():
    assert agree(1.0, 3.0, within=2.0)
    assert not agree(1.0, 3.1, within=2.0)
    assert half_way(0.0, 4.0, -6.0) == 3.0
    assert refutes([2.0], value=4.0, expected=0.0)
    assert not refutes([1.0, 2.1], value=4.0, expected=0.0)


def test_a_credible_value_refutes_what_is_beyond_belief_beside_it():
    assert refuted([1.0, -9.0, 1.5], (1.0, 1.0)) == [False, True, False]
    assert refuted([-9.0, 11.0], (1.0, 1.0)) == [False, False]
    assert refuted([1.0, -9.0], None) == [False, False]
    assert refuted([], (1.0, 1.0)) == []
    near = next(d / 100 for d in range(1000) if surprise(d / 100, 0.0, 1.0) > max(CREDIBLE, CLEAR))
    assert refuted([0.0, near, near - 0.01], (0.0, 1.0)) == [False, True, False]


def test_a_value_is_as_likely_wrong_as_the_worst_that_is_said_of_it():
    assert probability_wrong(2.0, 1.0, None) == probability_wrong(2.0, 1.0, (1.0, 1.0))
    assert probability_wrong(2.0, 9.0, (1.0, 1.0)) == probability_wrong(surprise(9.0, 1.0, 1.0), 9.0, None)
    assert 0 < probability_wrong(0.0, 1.0, None) < probability_wrong(9.0, 1.0, None) < 1
