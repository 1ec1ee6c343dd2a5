"""Variances of levels' errors: zero at the target, rising, with derivatives; the matrix is a sum of steps."""

import numpy as np
import pytest

from robustbo.numerics.transfer.levels import Levels

U = np.array([0.4, 1.6, 0.4, 0.9])


def test_errors_are_nothing_at_the_target_and_rise_to_one_at_the_farthest_level():
    h, _ = Levels(U, 1.6).heights(2.0, np.array([0.0, 0.4, 0.9, 1.6]))
    assert h[0] == 0.0
    assert h[-1] == 1.0
    assert (np.diff(h) > 0).all()


@pytest.mark.parametrize("gamma", [0.1, 2.0, 15.0])
def test_slopes_are_those_of_differences(gamma):
    levels = Levels(U, 1.6)
    _, slopes = levels.heights(gamma, U)
    high, low = (levels.heights(gamma * np.exp(step), U)[0] for step in (1e-6, -1e-6))
    assert slopes == pytest.approx((high - low) / 2e-6, rel=1e-6, abs=1e-9)


def test_the_matrix_is_a_sum_of_steps():
    levels = Levels(U, 1.6)
    h, _ = levels.heights(2.0, levels.distances)
    total = sum(step * np.outer(rows, rows) for step, rows in levels.steps(h))
    assert levels.matrix(h) == pytest.approx(total)
    assert np.linalg.eigvalsh(levels.matrix(h)).min() > -1e-12
