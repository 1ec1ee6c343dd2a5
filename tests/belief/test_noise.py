"""Noise as instruments have it: a last digit, a noisy stretch, a share of the value."""

import numpy as np
import pytest

from tests.belief.studies import FAILS_TODAY, flagged, line, noisy, probabilities, study

HOURS = np.arange(60) / 4


@FAILS_TODAY
@pytest.mark.parametrize(("resolution", "level"), [(0.01, 8.4), (0.1, 12.0), (5.0, 400.0)])
def test_a_last_digit_that_flickers_is_no_error(resolution, level):
    smooth = level + resolution * (1.2 * np.sin(HOURS / 3) + 0.3 * np.random.default_rng(4).standard_normal(60))
    values = np.round(smooth / resolution) * resolution
    assert len(flagged(study(line("hours", 0, 15), HOURS, values))) <= 1  # in fifty


def test_a_gross_value_among_rounded_ones_is_still_flagged():
    values = np.round(8.4 + 0.012 * np.sin(HOURS / 3), 2)
    values[31] = 3.1
    assert 31 in flagged(study(line("hours", 0, 15), HOURS, values))


@FAILS_TODAY
def test_a_noisy_stretch_among_quiet_ones_is_no_series_of_errors():
    values = 55 + 3 * np.sin(HOURS / 4) + noisy(60, 0.04)
    values[24:38] += noisy(14, 1.2, 7)
    opt = study(line("hours", 0, 15), HOURS, values)
    assert len(flagged(opt)) <= 3
    assert probabilities(opt).max() < 0.99


@FAILS_TODAY
def test_noise_in_proportion_to_the_value_is_no_error():
    x = np.random.default_rng(11).uniform(0, 5, 40)
    for seed in range(3):
        values = 2 * np.exp(x) * (1 + noisy(40, 0.12, seed))
        assert len(flagged(study(line(high=5.0), x, values))) <= 1
