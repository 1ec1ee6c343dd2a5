"""A report does not contradict itself, and the same study in other units has the same one."""

import numpy as np
import pytest

from tests.belief.studies import FAILS_TODAY, line, noisy, probabilities, reports, study


def check_consistency(report):
    off = abs(report.value - report.expected) / report.sd
    assert report.probability_wrong <= 0.5 or off > 1, str(report)
    assert report.probability_wrong <= 0.5 or report.evidence > 0, str(report)
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


@FAILS_TODAY
@pytest.mark.parametrize("kind", ["gross", "step", "heavy", "steep"])
def test_within_one_sd_of_what_is_expected_is_never_wrong(kind):
    for seed in range(2):
        for report in reports(study(line(high=8.0), *series(kind, seed))):
            check_consistency(report)


@pytest.mark.parametrize("value", [4.7, 8.3])
@FAILS_TODAY
def test_a_value_about_which_the_asking_model_knew_nothing_is_not_quarantined(value, told_as_asked):
    opt_reports = told_as_asked(value, expected=-7.3e5, expected_sd=1.1e6)
    for report in opt_reports:
        check_consistency(report)


@FAILS_TODAY
@pytest.mark.parametrize("factor", [1.5, 1.25, 0.1, 1e5])
@pytest.mark.parametrize("surrogate", ["relevance-pursuit", "student-t"])
def test_the_units_decide_nothing(factor, surrogate):
    x = np.linspace(0, 1, 20)
    values = np.sin(5 * x) + noisy(20, 0.1, 3)
    values[[3, 12]] += 0.55, -0.9  # one in doubt, and one that hardly is
    plain, other = (
        probabilities(study(line(), x, y, surrogate=surrogate)) for y in (values, factor * values + 7.0 * factor)
    )
    np.testing.assert_allclose(other, plain, atol=1e-6)


@FAILS_TODAY
@pytest.mark.parametrize("factor", [1.5, 1.25, 0.1, 1e5])
def test_the_units_do_not_decide_on_quarantine(factor, told_as_asked):
    for off in (4.5, 5.5, 6.5):
        plain = told_as_asked(5.0 + 0.3 * off, expected=5.0, expected_sd=0.3)
        other = told_as_asked(5.0 + 0.3 * off, expected=5.0, expected_sd=0.3, factor=factor)
        assert [report.status for report in plain] == [report.status for report in other]
        p, q = ([report.probability_wrong for report in of] for of in (plain, other))
        np.testing.assert_allclose(p, q, atol=1e-6)
