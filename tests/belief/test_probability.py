"""The probability follows from all that is known: the value's own noise, the user's rate, the size of the error."""

import json
import pickle

import numpy as np
import pytest

from robustbo.numerics.belief import probability
from tests.belief.studies import line, noisy, probabilities, study

ROBUST = ("relevance-pursuit", "student-t", "conjugate", "trimmed")


@pytest.mark.parametrize("surrogate", ROBUST)
def test_a_values_own_noise_reaches_the_quarantine(surrogate, told_as_asked):
    said = {"expected": 5.0, "expected_sd": 0.08, "known": 0.05, "surrogate": surrogate}
    report = told_as_asked(7.0, sd=5.0, **said)[-1]
    assert report.probability_wrong < 0.25
    assert not report.flagged
    assert report.evidence < 2  # nats: it is less than half of its own standard deviations off


def test_the_users_rate_reaches_it(told_as_asked):
    p = [
        told_as_asked(5.7, expected=5.0, expected_sd=0.08, options=json.dumps({"outlier_rate": rate}))[-1]
        for rate in (1e-6, 0.05, 0.4)
    ]
    assert p[0].probability_wrong < p[1].probability_wrong < p[2].probability_wrong
    assert p[0].probability_wrong < 0.05
    assert not p[0].flagged


def test_it_rises_with_the_error_of_a_value_that_was_asked_for():
    seed, rising = 0, []
    x = np.random.default_rng(seed).uniform(0, 30, 14)
    values = 80 + 9 * np.cos(x / 6) + noisy(14, 0.8, seed)
    asked = study(line(high=30.0), x, values, direction="minimize", seed=seed)
    trial, asked = asked.ask(), pickle.dumps(asked)
    for off in (2, 5, 6, 14):
        opt = pickle.loads(asked)
        opt.tell(trial, trial.expected + off * trial.expected_sd)
        rising.append(probabilities(opt)[-1])
    assert np.diff(rising).min() > -0.02, rising


def test_it_rises_with_the_error_of_a_value_told_before():
    x, rising = np.linspace(0, 1, 18), []
    for off in (0, 3, 5, 8, 30):
        values = 3 * x + noisy(18, 0.1, 2)
        values[8] += 0.1 * off
        rising.append(probabilities(study(line(), x, values))[8])
    assert np.diff(rising).min() > -0.02, rising
    assert rising[0] < 0.1
    assert rising[-1] > 0.8


@pytest.mark.parametrize("gap", [0.012, 0.03])
def test_of_two_neighbours_that_contradict_one_another_alike_neither_is_certain(gap, monkeypatch):
    monkeypatch.setattr(probability, "STEPS", 10_000)  # of as few as usual, alike ones may be 0.12 apart
    left = np.linspace(0, 0.22, 5)
    x = np.concatenate([left, [0.5 - gap, 0.5 + gap], 1 - left[::-1]])
    noise = noisy(5, 0.03)
    side = np.sin(2.5 * (left - 0.5)) + noise
    values = np.concatenate([side, [0.3, -0.3], -side[::-1]])  # turned about the middle, it is the same study
    p = probabilities(study(line(), x, values))[5:7]
    assert abs(p[0] - p[1]) < 0.1
    assert p.max() < 0.8  # with normal noise alone 0.50 and 0.59; heavy tails call both noisy
