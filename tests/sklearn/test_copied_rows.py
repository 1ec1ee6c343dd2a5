"""Rows that stand in a table twice are one measurement each; replicates that differ stay what they are."""

import warnings

import numpy as np
import pandas as pd
import pytest

from robustbo.errors import SpaceWarning
from robustbo.sklearn import RobustGPRegressor


def table(n=40, seed=2):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    y = np.round(np.sin(5 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(n), 1)
    y[7] += 4.0
    return X, y


def twice(rows, count=6):
    return pd.concat([rows, rows.iloc[:count]]) if hasattr(rows, "iloc") else np.concatenate([rows, rows[:count]])


def fitted(X, y, **options):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        regressor = RobustGPRegressor().fit(X, y, **options)
    return regressor, [str(warning.message) for warning in said if warning.category is SpaceWarning]


@pytest.mark.parametrize("as_frame", [False, True])
def test_copies_change_no_verdict_and_share_that_of_their_row(as_frame):
    X, y = table()
    X = pd.DataFrame({"a": X[:, 0], "b": pd.cut(X[:, 1], 3).astype(str)}) if as_frame else X
    once, nothing = fitted(X, y)
    both, said = fitted(twice(X, 9), twice(y, 9))
    assert not nothing
    assert "9 of 49 rows are the same as an earlier row" in said[0]
    np.testing.assert_array_equal(both.probability_wrong_[:40], once.probability_wrong_)
    np.testing.assert_array_equal(both.probability_wrong_[40:], once.probability_wrong_[:9])
    assert both.outlier_mask_.nonzero()[0].tolist() == [7, 47]
    np.testing.assert_array_equal(both.predict(X), once.predict(X))


def test_weights_and_groups_are_those_of_the_rows():
    X, y = table()
    weight, group = np.linspace(1.0, 2.0, 40), np.repeat(["a", "b"], 20)
    once, _ = fitted(X, y, sample_weight=weight, groups=group)
    both, said = fitted(twice(X), twice(y), sample_weight=twice(weight), groups=twice(group))
    assert said
    np.testing.assert_allclose(both.probability_wrong_[:40], once.probability_wrong_)


def test_rows_of_other_groups_are_no_copies():
    X, y = table()
    both, said = fitted(twice(X), twice(y), groups=np.repeat(["a", "b"], [40, 6]))
    assert not said
    assert len(both.model_.train_targets) == 46


def test_replicates_of_which_some_agree_by_chance_are_none():
    rng = np.random.default_rng(0)
    X = np.repeat(np.linspace(0, 1, 6), 6)[:, None]
    y = np.round(np.sin(4 * X[:, 0]) + 0.2 * rng.standard_normal(36), 1)
    assert pd.DataFrame({"x": X[:, 0], "y": y}).duplicated().sum() > 3
    regressor, said = fitted(X, y)
    assert not said
    assert len(regressor.model_.train_targets) == 36
