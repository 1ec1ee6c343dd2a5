"""Which of the values at one point are wrong: against quadrature, and against all sets of them."""

import itertools
import math

import pytest
from scipy.integrate import dblquad, quad
from scipy.stats import cauchy, multivariate_normal, t

from robustbo.numerics.improvement import wrong
from robustbo.numerics.improvement.wrong import DOF, NOISE, WIDTH, log_density, log_together, probability_wrong

ABOUT = {"center": 0.0, "scale": 1.0, "rate": 0.1}


def by_all_sets(y, mu, sd):
    """The same, without leaving any set out."""
    total, right = 0.0, [0.0] * len(y)
    for chosen in itertools.product((False, True), repeat=len(y)):
        of = [v for v, is_in in zip(y, chosen, strict=True) if is_in]
        weight = math.exp(log_together(of, mu, sd)) if of else 1.0
        for v, is_in in zip(y, chosen, strict=True):
            weight *= 0.9 if is_in else 0.1 * cauchy.pdf(v, 0.0, WIDTH)
        total += weight
        right = [r + weight * is_in for r, is_in in zip(right, chosen, strict=True)]
    return [1 - r / total for r in right]


def test_densities_are_those_of_scipy():
    assert math.exp(log_density(3.0, 1.0, 2.0)) == pytest.approx(cauchy.pdf(3.0, 1.0, 2.0 * WIDTH))
    assert math.exp(log_together([3.0], 1.0, 2.0)) == pytest.approx(t.pdf(3.0, DOF, 1.0, 2.0))


def test_densities_of_right_values_integrate_to_one():
    assert quad(lambda a: math.exp(log_together([a], 0.3, 0.5)), -math.inf, math.inf)[0] == pytest.approx(1.0)
    found = dblquad(lambda a, b: math.exp(log_together([a, b], 0.3, 0.5)), -60, 60, lambda b: b - 4, lambda b: b + 4)
    assert found[0] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("y", [[0.4], [0.4, -0.2], [0.4, -0.2, 0.1]])
def test_with_many_degrees_of_freedom_right_values_share_a_normal_objective(monkeypatch, y):
    monkeypatch.setattr(wrong, "DOF", 1e7)
    sd, k = 0.5, len(y)
    C = [[sd**2 * ((1 - NOISE) + NOISE * (i == j)) for j in range(k)] for i in range(k)]
    assert log_together(y, 0.3, sd) == pytest.approx(multivariate_normal.logpdf(y, [0.3] * k, C), abs=1e-5)


@pytest.mark.parametrize("y", [[0.05], [1.0], [0.0, 1.0], [1.0, 1.02], [-1.0, 1.0], [0.0, 0.1, 3.0], [2.0, -3.0, 2.01]])
def test_it_is_bayes_rule_over_all_sets_but_those_with_a_wrong_value_in_between(y):
    assert probability_wrong(y, 0.0, 0.1, **ABOUT) == pytest.approx(by_all_sets(y, 0.0, 0.1), abs=2e-3)


def test_order_and_units_do_not_matter():
    y = [1.0, 0.1, 1.05]
    found = probability_wrong(y, 0.0, 0.1, **ABOUT)
    assert probability_wrong(y[::-1], 0.0, 0.1, **ABOUT)[::-1] == pytest.approx(found)
    for scale, shift in ((1e-9, 0.0), (-4.0, 16.0), (1e12, 0.0)):
        turned = [scale * v + shift for v in y]
        about = {"center": shift, "scale": abs(scale), "rate": 0.1}
        assert probability_wrong(turned, shift, 0.1 * abs(scale), **about) == pytest.approx(found)


def test_an_expected_value_is_right_and_what_is_far_off_is_wrong():
    alone = [probability_wrong([v], 0.0, 0.1, **ABOUT)[0] for v in (0.0, 0.3, 0.5, 1.0, 3.0)]
    assert alone == sorted(alone)
    assert alone[0] < 0.02 < 0.2 < alone[2] < 0.5 < alone[3] < 0.9 < alone[4]


def test_values_that_agree_clear_each_other_unless_they_are_gross_and_few():
    assert max(probability_wrong([1.0, 1.02], 0.0, 0.1, **ABOUT)) < 0.1
    assert min(probability_wrong([30.0, 30.02], 0.0, 0.1, **ABOUT)) > 0.5
    assert max(probability_wrong([30.0, 30.02, 30.01], 0.0, 0.1, **ABOUT)) < 0.1


def test_a_credible_value_refutes_another_and_two_incredible_ones_leave_it_open():
    first, second = probability_wrong([1.0, 0.1], 0.0, 0.1, **ABOUT)
    assert first > 0.99
    assert second < 0.05
    first, second = probability_wrong([0.7, -0.7], 0.0, 0.1, **ABOUT)
    assert first == pytest.approx(second)
    assert 0.5 < first < 0.8


@pytest.mark.parametrize("y", [[1e300], [-1e300, 1e300], [1e300, 1e300], [0.0] * 40])
@pytest.mark.parametrize("sd", [1e-300, 0.0, 1.0, 1e150])
def test_it_is_a_probability_for_any_numbers(y, sd):
    assert all(0 <= w <= 1 for w in probability_wrong(y, 0.0, sd, **ABOUT))
