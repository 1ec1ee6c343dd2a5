"""Beliefs are one account: a value's own noise, the study's own rate, any units, and no fall as an error grows."""

import dataclasses
import itertools
import math
import pickle

import numpy as np
import pytest

import robustbo as rb
from robustbo.loop.belief.judge import judge
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate import fit

SPACE = rb.Space(x=rb.Float(0, 1))


def objective(x):
    return math.sin(6 * x) + x


def optimizer(surrogate, **options):
    return rb.Optimizer(SPACE, direction="maximize", seed=1, surrogate=surrogate, **options)


def tell(opt, trial, value, noise, size):
    opt.tell(trial, size * value, **({} if noise is None else {"sd": size * noise}))


@pytest.fixture(scope="module")
def asked():
    """An optimizer, pickled, that has been told 14 values with their noise, if that is known, and asked for one more.

    It is made once for a surrogate, and serves for any value of the last trial.
    """
    made = {}

    def of(surrogate, own, size, rate):
        key = surrogate, own, size, rate
        if key not in made:
            options = {} if rate is None else {"surrogate_options": {"outlier_rate": rate}}
            rng, opt = np.random.default_rng(0), optimizer(surrogate, num_initial=12, **options)
            for _ in range(14):
                trial = opt.ask()
                tell(opt, trial, objective(trial.params["x"]) + 0.05 * rng.standard_normal(), own, size)
            assert opt.ask().origin == "model"
            made[key] = pickle.dumps(opt)
        return pickle.loads(made[key])

    return of


@pytest.fixture
def report_on_last(asked):
    """The report on a value that is ``off`` too low, after 14 that are right."""

    def report(surrogate, off, sd=0.05, own=0.05, size=1.0, rate=None):
        opt = asked(surrogate, own, size, rate)
        trial = opt.history[14]
        tell(opt, trial, objective(trial.params["x"]) - off, None if own is None else sd, size)
        return next(report for report in opt.outliers() if report.trial.number == trial.number)

    return report


@pytest.mark.few(3)
@pytest.mark.parametrize("surrogate", ["relevance-pursuit", "student-t", "conjugate", "trimmed", "committee"])
def test_a_value_told_with_a_great_noise_of_its_own_is_excused(report_on_last, surrogate):
    sure, unsure = report_on_last(surrogate, 2.0), report_on_last(surrogate, 2.0, sd=5.0)
    assert (sure.status, unsure.status) == ("quarantined", "inlier")
    assert unsure.probability_wrong < 0.15 < 0.9 < sure.probability_wrong


@pytest.mark.few(2)
@pytest.mark.parametrize("size", [1.0, 3e5])
@pytest.mark.parametrize(("surrogate", "own"), [("relevance-pursuit", 0.05), ("student-t", None)])
def test_the_probability_does_not_fall_as_the_error_grows(report_on_last, surrogate, own, size):
    reports = [report_on_last(surrogate, 0.06 * k, own=own, size=size) for k in (3, 5, 6, 10, 50)]
    p = [report.probability_wrong for report in reports]
    assert all(after >= before - 1e-9 for before, after in itertools.pairwise(p))
    assert reports[-1].status == "quarantined"
    assert p[0] < 0.5 < 0.9 < p[-1]


def test_what_the_user_says_of_the_rate_reaches_the_quarantine(report_on_last):
    rare, usual = (report_on_last("relevance-pursuit", 0.9, rate=rate) for rate in (1e-6, 0.1))
    assert (rare.status, usual.status) == ("inlier", "quarantined")
    assert rare.probability_wrong < 0.5 < usual.probability_wrong


def test_values_in_quarantine_that_confirm_each_other_are_not_flagged():
    rng, opt = np.random.default_rng(0), optimizer("relevance-pursuit")
    for x in np.linspace(0, 1, 16).tolist():
        opt.tell({"x": x}, objective(x) + 0.05 * rng.standard_normal())
    without = fit.fit(opt.settings, opt.history)
    for value in (-1.0, -1.02):
        opt.tell({"x": 0.33}, value)
    fitted = dataclasses.replace(without, quarantined=(16, 17))
    reports = [r for r in judge(observations(opt.settings, opt.history), fitted) if r.trial.number > 15]
    assert [(r.status, r.flagged, r.probability_wrong < 0.1) for r in reports] == [("confirmed", False, True)] * 2


def beliefs(surrogate, direction, a=1.0, b=0.0):
    rng, opt = np.random.default_rng(3), rb.Optimizer(SPACE, direction=direction, seed=1, surrogate=surrogate)
    for i in range(14):
        params = {"x": float(rng.random())}
        value = objective(params["x"]) + 0.05 * rng.standard_normal() - {7: 0.3, 11: -3.0}.get(i, 0.0)
        opt.tell(params, a * value + b)
    return {report.trial.number: (report.probability_wrong, report.status) for report in opt.outliers()}


@pytest.mark.few(3)
@pytest.mark.parametrize("surrogate", ["relevance-pursuit", "student-t", "conjugate"])
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_units_do_not_matter(surrogate, direction):
    plain = beliefs(surrogate, direction)
    assert len({status for _, status in plain.values()}) > 1
    for a, b in ((1.25, 3.0), (0.1, -1e3), (1e5, 0.0), (1e-7, 0.0)):
        other = beliefs(surrogate, direction, a, b)
        assert {n: status for n, (_, status) in other.items()} == {n: status for n, (_, status) in plain.items()}
        assert all(other[n][0] == pytest.approx(p, abs=1e-6) for n, (p, _) in plain.items())


@pytest.mark.parametrize("surrogate", ["relevance-pursuit", "student-t"])
def test_a_value_within_one_standard_deviation_is_not_probably_wrong(surrogate):
    rng, opt = np.random.default_rng(5), optimizer(surrogate, num_initial=8)
    for i in range(16):
        x = float(rng.random())
        opt.tell({"x": x}, math.exp(6 * x) * (40.0 if i == 9 else 1.0))  # skewed, so that outcomes are warped
    near = [r for r in opt.outliers() if abs(r.value - r.expected) <= r.sd]
    assert near
    assert all(r.probability_wrong <= 0.5 and r.evidence == 0 for r in near)
