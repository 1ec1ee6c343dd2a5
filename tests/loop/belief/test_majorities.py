"""Values that agree with each other at a point: others at that point and around it may say that they are wrong."""

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.loop.belief.surprising import _lack_of_fit
from robustbo.loop.observations.expectation import Expectation

SPACE = rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1))

PAIRS = {"far apart": (0.3, 1.8), "alike": (0.3, 0.35)}


def objective(x, y):
    return 1.5 + 20 * ((x - 0.6) ** 2 + 1.3 * (y - 0.4) ** 2)


def table(values, noise=0.1, n=24, seed=0):
    """Values at other points, and some at one point, at which the objective is 8.46."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, 2))
    rows = [(x, y, objective(x, y) + rng.normal(0, noise)) for x, y in X]
    return pd.DataFrame([*rows, *((0.1, 0.8, value) for value in values)], columns=["x", "y", "value"])


def belief(frame, **options):
    opt = rb.Optimizer(SPACE, direction="minimize", seed=0, prior_data=frame, **options)
    return opt, {report.trial.number: report for report in opt.outliers()}


@pytest.mark.parametrize("wrong", [(0.3, 0.5), (0.31, 0.99)])
def test_two_errors_of_one_kind_do_not_outvote_the_right_value_and_all_points_around(wrong):
    frame = table([*wrong, objective(0.1, 0.8) + 0.03])
    opt, reports = belief(frame)
    assert reports[24].status == reports[25].status == "refuted"
    assert reports[26].status == "confirmed"
    assert opt.predict({"x": 0.1, "y": 0.8}).mean == pytest.approx(objective(0.1, 0.8), abs=0.6)


def test_two_that_agree_where_nothing_is_known_outvote_a_third():
    frame = table([1.51, 1.52, 30.0], n=3)
    assert belief(frame)[1][5].flagged
    assert not belief(frame)[1][3].flagged


def test_two_that_agree_are_believed_against_the_points_around():
    _, reports = belief(table([3.0, 3.05]))
    assert {reports[24].status, reports[25].status} == {"confirmed"}


def test_values_that_contradict_their_told_noise_show_no_lack_of_fit():
    expectation = Expectation(1.8, 0.1, 0.1)
    pairs = {name: [rb.Trial(i, {}, value=v, sd=0.1) for i, v in enumerate(pair)] for name, pair in PAIRS.items()}
    noise = {name: _lack_of_fit(trials, expectation, None, 0.0) for name, trials in pairs.items()}
    assert noise["far apart"] is None
    assert noise["alike"] == 0.1


def test_a_word_for_one_value_makes_no_other_right():
    wrong = table([0.3, objective(0.1, 0.8)])
    frame = pd.concat([wrong, pd.DataFrame({"x": [0.9, 0.9], "y": [0.1, 0.1], "value": [60.0, objective(0.9, 0.1)]})])
    opt, reports = belief(frame)
    assert reports[24].flagged
    assert reports[26].flagged
    opt.include(24)
    after = {report.trial.number: report for report in opt.outliers()}
    assert after[26].probability_wrong > 0.5


@pytest.mark.parametrize(("common", "rare", "is_wrong"), [(8.4, 8.41, False), (5.0, 1e6, True), (0.0, 1e6, True)])
def test_a_last_digit_that_flickers_once_is_no_error_and_a_gross_value_among_equals_is(common, rare, is_wrong):
    frame = pd.DataFrame({"x": np.linspace(0, 1, 15), "y": 0.5, "value": [common] * 7 + [rare] + [common] * 7})
    _, reports = belief(frame)
    assert reports[7].flagged == is_wrong
    assert not any(report.flagged for number, report in reports.items() if number != 7)


def test_values_that_differ_by_rounding_alone_are_equal():
    rounded = 29 / 30 + np.array([0, 1, 0, -1, 0, 1, 0, 0, 2, 0, 0, 1, 0, 0]) * 2**-53
    frame = pd.DataFrame({"x": np.linspace(0, 1, 14), "y": 0.5, "value": rounded})
    frame.loc[4, "value"], frame.loc[9, "value"], frame.loc[11, "value"] = 0.98, 0.96, 96.7
    _, reports = belief(frame)
    assert reports[11].flagged
    assert not any(report.flagged for number, report in reports.items() if number not in (4, 9, 11))
