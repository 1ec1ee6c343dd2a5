"""The order of tells decides nothing; more histories: `ROBUSTBO_FUZZ=500 pytest tests/fuzz/test_orders.py`."""

import os

import numpy as np
import pytest

from tests.fuzz import orders

HISTORIES = int(os.environ.get("ROBUSTBO_FUZZ", "8"))

FLIPS = np.array([  # x0 to x3, and the value: once the order in which they were told decided which was best
    [0.717, 0.281, 0.083, 0.97, 0.2754],
    [0.564, 0.644, 0.577, 0.475, 0.893],
    [0.122, 0.314, 0.736, 0.907, 0.6487],
    [0.889, 0.948, 0.025, 0.738, 0.254],
    [0.673, 0.625, 0.638, 0.126, -0.3739],
    [0.626, 0.787, 0.007, 0.921, 0.536],
    [0.131, 0.376, 0.551, 0.608, -1.0625],
    [0.549, 0.388, 0.88, 0.397, -0.7171],
    [0.874, 0.33, 0.626, 0.85, 0.7736],
    [0.12, 0.171, 0.728, 0.126, 0.3223],
    [0.017, 0.191, 0.395, 0.703, 0.6004],
    [0.7, 0.214, 0.225, 0.052, -0.2546],
    [0.023, 0.135, 0.752, 0.34, 0.5417],
    [0.348, 0.345, 0.241, 0.941, -0.3558],
    [0.941, 0.932, 0.72, 0.652, -0.0678],
    [0.574, 0.409, 0.697, 0.532, 0.4788],
    [0.753, 0.734, 0.618, 0.487, -2.7327],
    [0.726, 0.754, 0.71, 0.155, -0.3207],
    [0.252, 0.672, 0.685, 0.592, 1.1909],
])  # fmt: skip


def check(history, ways, **options):
    first, *others = [orders.said(history, way, **options) for way in ways]
    for other in others:
        assert other.status == first.status
        assert other.wrong == pytest.approx(first.wrong, abs=1e-9)
        assert other.best == pytest.approx(first.best, rel=1e-9, abs=1e-9)
        assert other.asked == first.asked


@pytest.mark.few(1)
@pytest.mark.filterwarnings("ignore::robustbo.errors.NumericsWarning")  # as of a heap of values at a limit
@pytest.mark.parametrize("number", range(HISTORIES))
def test_what_is_believed_is_a_function_of_the_set_of_values(number):
    history = orders.measured(number)
    check(history, orders.orders(history, number, 3))


@pytest.mark.slow
def test_values_that_swap_or_come_last_change_neither_the_best_nor_a_verdict():
    history = orders.Measured(FLIPS[:, :4], FLIPS[:, 4], None, "minimize")
    check(history, orders.orders(history, 0, 4), is_asking=True)


@pytest.mark.parametrize("surrogate", ["student-t", "standard"])
def test_nor_does_it_with_another_surrogate(surrogate):
    history = orders.Measured(FLIPS[:, :4], FLIPS[:, 4], None, "minimize")
    check(history, orders.orders(history, 0, 3), surrogate=surrogate)
