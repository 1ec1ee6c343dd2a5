"""A cell far from all others of its column does not set the column's scale."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from robustbo.errors import SpaceWarning
from robustbo.sklearn import RobustGPRegressor
from robustbo.sklearn.scaling import Scaling


def table(n=40, seed=1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"temperature": rng.uniform(280, 320, n), "ratio": rng.random(n)})
    y = np.sin((X["temperature"] - 280) / 8) + X["ratio"] + 0.02 * rng.standard_normal(n)
    return X, y.to_numpy()


def fitted(X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpaceWarning)
        return RobustGPRegressor(random_state=0).fit(X, y, **options)


def test_columns_lie_between_0_and_1():
    rows = np.random.default_rng(0).lognormal(sigma=1.0, size=(200, 3)) * [1e-200, 1.0, 1e300]
    scaled = Scaling(rows, "abc")(rows)
    assert (scaled.min(0).tolist(), scaled.max(0).tolist()) == ([0.0] * 3, [1.0] * 3)
    np.testing.assert_allclose(scaled, (rows - rows.min(0)) / np.ptp(rows, 0), rtol=1e-12)


def test_a_constant_column_is_0():
    rows = np.full((30, 2), 0.1)
    assert np.array_equal(Scaling(rows, "ab")(rows), np.zeros((30, 2)))
    assert Scaling(np.empty((30, 0)), "")(np.empty((5, 0))).shape == (5, 0)


@pytest.mark.parametrize("far", [-999.0, 3e5, -1e30])
def test_a_value_far_from_all_others_does_not_set_the_scale(far):
    rows = np.linspace(280, 320, 40)[:, None]
    alone = Scaling(rows, ["t"])
    rows = np.vstack([rows, [[far]]])
    with pytest.warns(SpaceWarning, match=r"column 't' of X: 1 value lies far .* \(.*; the others from 280 to 320\)"):
        scaling = Scaling(rows, ["t"])
    np.testing.assert_allclose(scaling(rows), alone(rows), rtol=1e-12)
    assert abs(scaling(rows)[-1, 0]) > 10


@pytest.mark.parametrize(
    "column",
    [
        [1.0, 10.0, 100.0, 1000.0, 1e4, 1e6],  # few rows: a design
        [*np.linspace(0, 1, 37), 50.0, 60.0, 70.0],  # 3 of 40: more than one in 20
        [*np.linspace(0, 1, 39), 9.0],  # not so far
        [*np.zeros(39), 9.0],  # where all others are the same, nothing says what is far
    ],
)
def test_other_columns_have_their_whole_range(column, recwarn):
    rows = np.array(column)[:, None]
    assert np.ptp(Scaling(rows, "x")(rows)) == 1.0
    assert not recwarn.list


def test_predictions_are_those_without_the_row():
    X, y = table()
    X.loc[7, "temperature"] = -999.0
    without = fitted(X.drop(index=7), np.delete(y, 7))
    new, _ = table(seed=2)
    np.testing.assert_allclose(fitted(X, y).predict(new), without.predict(new), atol=0.1 * y.std())


def test_the_warning_names_the_column_and_what_is_far():
    X, y = table()
    X.loc[[7, 20], "ratio"] = 1e6, -1e6
    with pytest.warns(SpaceWarning, match=r"column 'ratio' of X: 2 values lie far .*\(1e\+06, -1e\+06; "):
        RobustGPRegressor().fit(X, y)
    with pytest.warns(SpaceWarning, match=r"column 1 of X: "):
        RobustGPRegressor().fit(X.to_numpy(), y)


def test_a_fit_with_such_a_value_is_kept_in_a_file():
    X, y = table()
    X.loc[7, "temperature"] *= 1000
    regressor = fitted(X.assign(kind="a"), y)
    again = pickle.loads(pickle.dumps(regressor))
    np.testing.assert_array_equal(again.predict(X.assign(kind="a")), regressor.predict(X.assign(kind="a")))
