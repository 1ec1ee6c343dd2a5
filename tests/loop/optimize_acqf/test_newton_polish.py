import numpy as np
import pytest

from robustbo.loop.optimize_acqf.newton_polish import polish

PEAK = np.array([0.3, 0.7, 0.5])


def bell(x):
    """Gradients of -cosh-like hills: not quadratic, so that one step is not enough."""
    z = (x - PEAK) * np.array([3.0, 10.0, 1.0])
    return -np.sinh(z) * np.array([3.0, 10.0, 1.0])


def test_it_reaches_the_maximum_from_nearby_whatever_the_last_digits():
    ends = [polish(bell, PEAK + off, [0, 1, 2]) for off in (1e-4, -3e-4, np.array([2e-3, -1e-3, 5e-4]))]
    assert np.abs(np.array(ends) - PEAK).max() < 1e-8


def test_it_moves_along_the_given_columns_alone():
    start = PEAK + 1e-3
    end = polish(bell, start, [0, 2])
    assert end[1] == start[1]
    assert np.abs(end - PEAK)[[0, 2]].max() < 1e-8


def test_what_stands_at_a_bound_and_would_leave_stays():
    peak = np.array([1.2, 0.4])

    def gradients(x):
        return -2.0 * (x - peak)

    end = polish(gradients, np.array([1.0, 0.401]), [0, 1])
    assert end[0] == 1.0
    assert end[1] == pytest.approx(0.4, abs=1e-9)


@pytest.mark.parametrize(
    "gradients",
    [
        lambda x: 2.0 * (x - PEAK),  # a valley
        lambda x: np.full_like(x, 1.0),  # a slope
        lambda x: np.full_like(x, np.nan),
        lambda x: -2.0 * (x - 0.9),  # a hill that is far
    ],
)
def test_a_place_with_no_maximum_near_it_stays(gradients):
    start = np.array([0.5, 0.5, 0.4])
    assert (polish(gradients, start, [0, 1, 2]) == start).all()
