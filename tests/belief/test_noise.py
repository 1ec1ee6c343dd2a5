"""Noise as instruments have it: a last digit, a noisy stretch, a share of the value."""

import numpy as np
import pytest

import robustbo as rb
from tests.belief.studies import FAILS_TODAY, flagged, line, noisy, probabilities, study

HOURS = np.arange(60) / 4


def slow(rng):
    """Steps of the last digit about a slow wave of three of them."""
    return 3 * np.sin(HOURS / 6) + 0.2 * rng.standard_normal(60)


def flicker(rng):
    """The last digit, up once in seven times."""
    return rng.random(60) < 0.15


@pytest.mark.few(1)
@pytest.mark.parametrize(("resolution", "level", "steps"), [(0.01, 8.4, flicker), (0.1, 12.0, slow), (5.0, 400, slow)])
def test_a_last_digit_that_flickers_is_no_error(resolution, level, steps):
    values = level + resolution * np.round(steps(np.random.default_rng(0)))
    assert len(flagged(study(line("hours", 0, 15), HOURS, values))) <= 1  # in fifty


def test_a_gross_value_among_rounded_ones_is_still_flagged():
    values = np.round(8.4 + 0.012 * np.sin(HOURS / 3), 2)
    values[31] = 3.1
    assert 31 in flagged(study(line("hours", 0, 15), HOURS, values))


def near_a_curve(off):
    """Values that lie on a curve to 0.01, but for two that are off by so much."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 8, 30))
    values = 7 + np.sin(x) + noisy(30, 0.01)
    values[[12, 20]] += off, -off
    return x, values


@pytest.mark.few(1)
@pytest.mark.parametrize("sd", [None, 0.01])
def test_what_is_off_by_less_than_is_negligible_is_no_error(sd):
    x, values = near_a_curve(0.4)
    outcome = rb.Outcome("pH", negligible_error=0.4)
    assert flagged(study(line(high=8.0), x, values, sd)) == [12, 20]
    opt = study(line(high=8.0), x, values, sd, outcome=outcome)
    assert not flagged(opt)
    assert probabilities(opt).max() < 0.05
    values[20] -= 12.0
    assert flagged(study(line(high=8.0), x, values, sd, outcome=outcome)) == [20]


def test_of_several_outcomes_each_has_its_own():
    x, values = near_a_curve(0.4)
    quantities = [rb.Outcome("pH", negligible_error=0.4), rb.Outcome("cost")]
    opt = rb.Optimizer(line(high=8.0), objectives=dict.fromkeys(("pH", "cost"), "maximize"), outcome=quantities, seed=0)
    for at, value in zip(x.tolist(), values.tolist(), strict=True):
        opt.tell({"x": at}, {"pH": value, "cost": value})
    assert {(o.trial.number, o.outcome) for o in opt.outliers() if o.flagged} == {(12, "cost"), (20, "cost")}


@FAILS_TODAY
def test_a_noisy_stretch_among_quiet_ones_is_no_series_of_errors():
    values = 55 + 3 * np.sin(HOURS / 4) + noisy(60, 0.04)
    values[24:38] += noisy(14, 1.2, 7)
    opt = study(line("hours", 0, 15), HOURS, values)
    assert len(flagged(opt)) <= 3
    assert probabilities(opt).max() < 0.99


@pytest.mark.few(1)
@pytest.mark.parametrize("level", [lambda x: 2 + x, lambda x: 40 * np.sin(x / 15)], ids=["a line", "a wave"])
def test_noise_in_proportion_to_the_value_is_no_error(level):
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 100, 60))
    opt = study(line(high=100.0), x, level(x) * (1 + 0.2 * rng.standard_normal(60)))
    assert len(flagged(opt)) <= 1
    assert probabilities(opt).max() < 0.99
