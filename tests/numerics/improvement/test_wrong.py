"""Which of the values at one point are wrong: against quadrature, and against all sets of them."""

import itertools
import math

import pytest
from scipy.integrate import dblquad, quad
from scipy.stats import cauchy, multivariate_normal, t

from robustbo.numerics.gp.wrong_density import DOF, NEEDLE, RATE, WIDTH, log_wrong_density, needle_probability
from robustbo.numerics.improvement import wrong
from robustbo.numerics.improvement.wrong import agreement, judge_point, log_student_t

ABOUT = {"center": 0.0, "scale": 1.0, "rate": RATE}
TAU = SIGMA = 0.07


def probability_wrong(y, mu=0.0, tau=TAU, noise=SIGMA, **about):
    return judge_point(y, mu, tau, [noise] * len(y), **(ABOUT | about)).wrong


def wide_density(y, scale=1.0):
    """The density of wrong values, which is near a Cauchy density, and has all orders of magnitude beyond."""
    a = WIDTH * scale
    h = 0.5 * math.log1p((y / a) ** 2)
    return math.exp(-h) / (1 + h) ** 2 / (3.0379 * a)


def by_all_sets(y, mu, tau, sigma):
    """The same, without leaving any set out."""
    needle = NEEDLE * RATE / (1 - RATE)
    total, right = 0.0, [0.0] * len(y)
    for chosen in itertools.product((False, True), repeat=len(y)):
        places = [i for i, is_in in enumerate(chosen) if is_in]
        density = 1.0
        if places:
            together = agreement([y[i] for i in places], [sigma[i] for i in places])
            as_predicted = t.pdf(together.mean, DOF, mu, math.hypot(tau, together.sd))
            surprising = wide_density(together.mean)
            density = math.exp(together.log_density) * ((1 - needle) * as_predicted + needle * surprising)
        for v, is_in in zip(y, chosen, strict=True):
            density *= 1 - RATE if is_in else RATE * wide_density(v)
        total += density
        right = [r + density * is_in for r, is_in in zip(right, chosen, strict=True)]
    return [1 - r / total for r in right]


def test_densities_are_those_of_scipy():
    assert math.exp(log_wrong_density(3.0 - 1.0, 2.0)) == pytest.approx(wide_density(2.0, 2.0))
    for y in (0.0, 3.0, 10.0, 100.0):
        assert abs(math.log(wide_density(y) / cauchy.pdf(y, 0.0, WIDTH))) < 0.4
    half = quad(lambda x: wide_density(WIDTH * math.sinh(x)) * WIDTH * math.cosh(x), 0, 300, limit=500)[0]
    assert 2 * half + 2 / (1 + 300 - math.log(2)) / 3.0379 == pytest.approx(1.0, abs=1e-4)  # and the tail beyond
    assert math.exp(log_student_t(2.0, 2.0)) == pytest.approx(t.pdf(2.0, DOF, 0.0, 2.0))


def test_the_density_of_right_values_integrates_to_one():
    def density(a, b):
        together = agreement([a, b], [0.2, 0.4])
        return math.exp(together.log_density + log_student_t(together.mean - 0.3, math.hypot(0.3, together.sd)))

    found = dblquad(density, -60, 60, lambda b: b - 20, lambda b: b + 20, epsabs=1e-4)
    assert found[0] == pytest.approx(1.0, abs=3e-3)
    assert quad(lambda a: math.exp(agreement([a], [0.2]).log_density), 0, 1)[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("y", "sigma"), [([0.4], [0.5]), ([0.4, -0.2], [0.5, 0.1]), ([0.4, -0.2, 0.1], [0.2, 0.4, 0.3])]
)
def test_with_many_degrees_of_freedom_right_values_share_a_normal_objective(monkeypatch, y, sigma):
    monkeypatch.setattr(wrong, "DOF", 1e7)
    tau, k = 0.6, len(y)
    C = [[tau**2 + sigma[i] ** 2 * (i == j) for j in range(k)] for i in range(k)]
    together = agreement(y, sigma, noise_dof=1e7)
    log_density = together.log_density + log_student_t(together.mean - 0.3, math.hypot(tau, together.sd))
    assert log_density == pytest.approx(multivariate_normal.logpdf(y, [0.3] * k, C), abs=1e-5)


@pytest.mark.parametrize(
    "y",
    [[0.05], [1.0], [30.0], [0.0, 1.0], [1.0, 1.02], [9.0, 9.01], [-1.0, 1.0], [0.0, 0.1, 3.0], [2.0, -3.0, 2.01]],
)
def test_it_is_bayes_rule_over_all_sets_but_those_with_a_wrong_value_in_between(y):
    sigma = [0.07 + 0.02 * i for i in range(len(y))]
    assert judge_point(y, 0.0, TAU, sigma, **ABOUT).wrong == pytest.approx(by_all_sets(y, 0.0, TAU, sigma), abs=2e-3)


def test_order_and_units_do_not_matter():
    y = [1.0, 0.1, 1.05]
    found = probability_wrong(y)
    assert probability_wrong(y[::-1])[::-1] == pytest.approx(found)
    for scale, shift in ((1e-9, 0.0), (-4.0, 16.0), (1e12, 0.0), (1.5, -3.0)):
        turned, size = [scale * v + shift for v in y], abs(scale)
        about = {"center": shift, "scale": size}
        assert probability_wrong(turned, shift, TAU * size, SIGMA * size, **about) == pytest.approx(found)


def test_an_expected_value_is_right_and_what_is_far_off_is_probably_wrong():
    alone = [probability_wrong([v])[0] for v in (0.0, 0.3, 0.5, 1.0, 3.0, 30.0, 1e6)]
    assert alone == sorted(alone)
    assert alone[0] < 0.02 < alone[2] < 0.5 < alone[4]
    assert alone[5] > 0.9


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.1, 0.4])
def test_no_single_value_is_certainly_wrong_since_the_objective_may_be_surprising(rate):
    (gross,), (absurd,) = probability_wrong([50.0], rate=rate), probability_wrong([1e9], rate=rate)
    assert gross < 1 / (1 + 0.9 * NEEDLE) < 0.9999 < absurd  # of an absurd magnitude are errors alone
    assert needle_probability(rate) == pytest.approx(NEEDLE * rate / (1 - rate))


def test_the_rate_is_the_prior():
    assert probability_wrong([0.5], rate=1e-6)[0] < 1e-5
    assert [probability_wrong([0.5], rate=rate)[0] for rate in (0.01, 0.1, 0.3)] == sorted(
        probability_wrong([0.5], rate=rate)[0] for rate in (0.01, 0.1, 0.3)
    )


def test_two_values_that_agree_on_the_scale_of_the_noise_clear_each_other_however_gross():
    assert all(max(probability_wrong([far, far + 1.5 * SIGMA])) < 0.15 for far in (2.0, 9.0, 30.0, 1e4))
    assert all(min(probability_wrong([far, far + 20 * SIGMA])) > 0.5 for far in (2.0, 9.0, 30.0))


def test_four_values_two_or_three_noise_sds_apart_agree():
    belief = judge_point([76.4, 75.4, 74.9, 74.3], 0.0, 0.3, [0.7] * 4, **ABOUT)
    assert max(belief.wrong) < 0.01
    assert belief.surprising > 0.9


def test_two_that_disagree_far_are_not_both_believed():
    for far in (2.0, 9.0, 100.0):
        assert sum(probability_wrong([-far, far])) > 1.0
        assert sum(probability_wrong([far, 3 * far])) > 1.0


def test_a_credible_value_refutes_another():
    first, second = probability_wrong([1.0, 0.1])
    assert first > 0.98
    assert second < 0.05


def test_a_value_whose_own_noise_is_great_says_little_and_is_excused():
    sure, unsure = judge_point([2.0], 0.0, TAU, [SIGMA], **ABOUT), judge_point([2.0], 0.0, TAU, [5.0], **ABOUT)
    assert unsure.wrong[0] < 0.15 < 0.9 < sure.wrong[0]
    of_two = judge_point([2.0, 0.05], 0.0, TAU, [5.0, SIGMA], **ABOUT)
    assert max(of_two.wrong) < 0.15


@pytest.mark.parametrize("tau", [0.0, 0.1, 1.0, 10.0, 1e3])
@pytest.mark.parametrize("off", [-1.0, -0.5, 0.0, 0.7, 1.0])
@pytest.mark.parametrize("mu", [0.0, 3.0, -50.0])
def test_a_value_within_one_standard_deviation_is_not_probably_wrong(tau, off, mu):
    assert probability_wrong([mu + off * math.hypot(tau, SIGMA)], mu, tau)[0] < 0.5


@pytest.mark.parametrize("y", [[1e300], [-1e300, 1e300], [1e300, 1e300], [0.0] * 40])
@pytest.mark.parametrize("sd", [1e-300, 0.0, 1.0, 1e150])
def test_it_is_a_probability_for_any_numbers(y, sd):
    belief = judge_point(y, 0.0, sd, [sd] * len(y), **ABOUT)
    assert all(0 <= w <= 1 for w in (*belief.wrong, belief.surprising))
