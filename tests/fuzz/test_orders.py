"""The order of tells decides nothing; more histories: `ROBUSTBO_FUZZ=500 pytest tests/fuzz/test_orders.py`."""

import os

import numpy as np
import pytest

from tests.fuzz import orders

HISTORIES = int(os.environ.get("ROBUSTBO_FUZZ", "8"))


def check(history, ways, **options):
    first, *others = [orders.said(history, way, **options) for way in ways]
    for other in others:
        assert other.status == first.status
        assert other.wrong == pytest.approx(first.wrong, abs=1e-9)
        assert other.best == first.best
        assert other.asked == first.asked


@pytest.mark.parametrize("number", range(HISTORIES))
def test_what_is_believed_is_a_function_of_the_set_of_values(number):
    history = orders.measured(number)
    check(history, orders.orders(history, number, 3))
