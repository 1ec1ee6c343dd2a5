"""A report does not contradict itself, and the same study in other units has the same one."""

from functools import cache

import numpy as np
import pytest

from tests.belief.studies import line, noisy, probabilities, reports, study


def check_consistency(report):
    off = abs(report.value - report.expected) / report.sd
    assert report.probability_wrong <= 0.5 or off > 1, str(report)
    assert report.probability_wrong <= 0.5 or report.evidence > 0, str(report)
    assert report.evidence > 1 or off < 3, str(report)
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


@pytest.mark.parametrize(("kind", "seed"), [("gross", 0), ("step", 1), ("heavy", 3), ("steep", 0)])
def test_expectation_evidence_and_probability_agree(kind, seed):
    for report in reports(study(line(high=8.0), *series(kind, seed))):
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


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("surrogate", ["relevance-pursuit", "student-t"])
def test_the_units_decide_nothing(factor, surrogate):
    other, plain = (probabilities_in_units(surrogate, units) for units in (factor, 1.0))
    np.testing.assert_allclose(other, plain, atol=1e-6)


@pytest.fixture(scope="module")
def in_units(told_as_asked):
    return cache(lambda factor: told_as_asked(6.95, expected=5.0, expected_sd=0.3, factor=factor))


@pytest.mark.parametrize("factor", FACTORS)
def test_the_units_do_not_decide_on_quarantine(factor, in_units):
    plain, other = in_units(1.0), in_units(factor)
    assert [report.status for report in plain] == [report.status for report in other]
    np.testing.assert_allclose(
        [report.probability_wrong for report in other], [report.probability_wrong for report in plain], atol=1e-6
    )
