"""The splits that two data sets bring along; see SOURCES.md."""

import numpy as np
import pytest

from robustbo_problems.datasets import table
from robustbo_problems.regression import split, task


@pytest.mark.usefixtures("real_data")
class TestSplitsOfTheirOwn:
    def test_neals_own_draw_is_halved_as_it_stands(self):
        X, y = table("neal")
        given = split("neal-draw", None, seed=5)
        np.testing.assert_array_equal(given.y, y[:100])
        np.testing.assert_array_equal(given.X_test, X[100:])
        assert len(task("neal-draw", n=60).y) == 60

    def test_the_dow_jones_is_trained_on_every_second_minute(self):
        given = split("djia", None, seed=5)
        assert (len(given.y), len(given.y_test)) == (405, 404)
        assert set(given.X[:, 0] % 2) == {1.0}
        assert set(given.X_test[:, 0] % 2) == {0.0}
        assert (np.diff(given.X[:, 0]) == 2).all()
        assert [given.y[312], given.y[313]] == [14565.9, 14664.2]  # the paper's outlying points
        assert float(np.median(given.y)) == 14582.8
