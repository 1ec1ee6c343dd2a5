"""Errors on one side of a small table are errors: no bend of the outcomes may swallow them."""

import numpy as np
import pytest

import robustbo as rb
from tests.belief.studies import flagged, line, noisy, study


@pytest.mark.few(1)
@pytest.mark.parametrize(("n", "wrong", "factor"), [(22, range(13, 18), 10.0), (28, range(15, 20), 25.4)])
def test_a_stretch_that_was_told_in_another_unit_is_flagged(n, wrong, factor):
    years = 1950.0 + np.arange(n)
    values = 0.4 * np.exp(0.06 * np.arange(n)) + noisy(n, 0.02)
    values[list(wrong)] *= factor
    names = set(flagged(study(line("year", 1950, 1950 + n), years, values)))
    assert len(names & set(wrong)) >= len(wrong) - 1
    assert len(names - set(wrong)) <= 1


def test_an_error_at_the_edge_of_a_line_is_flagged_and_not_best():
    verdicts = []
    for seed in range(3):
        x = np.linspace(0, 200, 14)
        values = 12 + 0.05 * x + noisy(14, 0.4, seed)
        values[-1] += 9 * 0.4
        opt = study(line(high=200.0), x, values)
        verdicts.append((13 in flagged(opt), opt.best().params["x"] != 200.0))
    assert sum(is_flagged for is_flagged, _ in verdicts) >= 2
    assert sum(is_other for _, is_other in verdicts) >= 2


def test_one_high_value_of_a_plane_is_flagged():
    rng = np.random.default_rng(2)
    points = rng.random((30, 3))
    values = 200 + points @ [60.0, 30.0, 20.0] + 4 * rng.standard_normal(30)
    values[9] = 640.0
    assert flagged(study(rb.Space(**{name: rb.Float(0, 1) for name in "abc"}), points, values)) == [9]
