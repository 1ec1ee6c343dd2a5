"""A report does not contradict itself, and the same study in other units has the same one."""

import math
from functools import cache

import numpy as np
import pytest

import robustbo as rb
from tests.belief.studies import line, noisy, probabilities, reports, study


def check_consistency(report):
    off = abs(report.value - report.expected) / report.sd
    assert report.probability_wrong <= 0.5 or off > 2, str(report)
    assert report.probability_wrong <= 0.5 or report.evidence > 2, str(report)
    assert report.evidence > 1 or off < 3.2, str(report)
    assert report.evidence <= off**2 / 2 - math.log(max(off, 1)) - 0.5 + 1e-6 or off <= 1, str(report)
    assert report.evidence == 0 or off > 1, str(report)
    assert report.flagged == (report.probability_wrong > 0.5), str(report)


def series(kind, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 8, 24)
    y = 3 + np.sin(x) + 0.1 * rng.standard_normal(24)
    if kind == "gross":
        y[rng.choice(24, 4, replace=False)] += 1e4 * rng.standard_cauchy(4)
    elif kind == "step":
        y[x > 5] += 6
    elif kind == "heavy":
        y += 0.3 * rng.standard_t(1.5, 24)
    else:
        y = np.exp(2 * y)
    return x, y


@pytest.mark.few(2)
@pytest.mark.parametrize(("kind", "seed"), [("gross", 0), ("step", 1), ("heavy", 3), ("steep", 0)])
def test_expectation_evidence_and_probability_agree(kind, seed):
    for report in reports(study(line(high=8.0), *series(kind, seed))):
        check_consistency(report)


def random_study(seed):
    """A study of any size, noise and kind of error, all units being drawn too."""
    rng = np.random.default_rng(seed)
    n, noise, step = rng.choice([6, 9, 14, 20, 30]), rng.choice([0.02, 0.1, 0.5]), rng.choice([0.0, 3.0])
    x = rng.uniform(0, 8, n)
    x = np.repeat(x[: n // 2], 2) if rng.random() < 0.3 else x
    n = len(x)
    y = np.sin(rng.uniform(0.3, 2) * x) + noise * rng.standard_t(rng.choice([1.5, 3, 50]), n) + step * (x > 5)
    y += (rng.random(n) < rng.choice([0, 0.1, 0.3])) * rng.choice([1, 10, 1e5]) * rng.standard_cauchy(n)
    y = np.exp(y) if rng.random() < 0.2 and np.abs(y).max() < 5 else y
    return study(line(high=8.0), x, 10 ** rng.uniform(-4, 4) * (y + rng.uniform(-9, 9)), seed=seed)


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(60))
def test_no_line_contradicts_itself(seed):
    for report in reports(random_study(seed)):
        check_consistency(report)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(2))
def test_in_a_loop_no_line_contradicts_itself(seed):
    rng, opt = np.random.default_rng(seed), rb.Optimizer(line(high=8.0), direction="maximize", seed=seed, num_initial=8)
    for _ in range(12):
        trial = opt.ask()
        value = np.sin(trial.params["x"]) + 0.1 * rng.standard_normal()
        opt.tell(trial, value + (rng.random() < 0.3) * rng.normal(0, 5))
    for report in reports(opt):
        if report.status in ("inlier", "flagged"):  # others are judged with what is beside them
            check_consistency(report)


def test_a_value_of_which_the_asking_model_knew_nothing_is_no_error(told_as_asked):
    for report in told_as_asked(4.7, expected=-7.3e5, expected_sd=1.1e6):
        check_consistency(report)


FACTORS = (1.5, 1.25, 0.1, 1e5)


@cache
def probabilities_in_units(surrogate, factor):
    x = np.linspace(0, 1, 20)
    values = np.sin(5 * x) + noisy(20, 0.1, 3)
    values[[3, 12]] += 0.55, -0.9  # one in doubt, and one that hardly is
    return probabilities(study(line(), x, factor * values + 7.0 * factor, surrogate=surrogate))


@pytest.mark.few(2)  # tests/loop/belief/test_judge.py has more of them
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("surrogate", ["relevance-pursuit", "student-t"])
def test_the_units_decide_nothing(factor, surrogate):
    other, plain = (probabilities_in_units(surrogate, units) for units in (factor, 1.0))
    np.testing.assert_allclose(other, plain, atol=1e-6)


@pytest.fixture(scope="module")
def in_units(told_as_asked):
    return cache(lambda factor: told_as_asked(6.95, expected=5.0, expected_sd=0.3, factor=factor))


@pytest.mark.few(2)
@pytest.mark.parametrize("factor", FACTORS)
def test_the_units_do_not_decide_on_quarantine(factor, in_units):
    plain, other = in_units(1.0), in_units(factor)
    assert [report.status for report in plain] == [report.status for report in other]
    np.testing.assert_allclose(
        [report.probability_wrong for report in other], [report.probability_wrong for report in plain], atol=1e-6
    )
