"""Groups of rows that err together."""

import numpy as np
import pytest

from robustbo.sklearn.groups import labels_of
from robustbo.sklearn.regressor import RobustGPRegressor

X = np.random.default_rng(0).random((36, 2))
Y = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 + 0.02 * np.random.default_rng(1).normal(size=36)
BATCH = np.random.default_rng(2).permutation(np.arange(36) % 4)
IS_OFF = BATCH == 2


@pytest.fixture(scope="module")
def regressor():
    return RobustGPRegressor().fit(X, Y + 0.5 * IS_OFF, groups=[f"b{number}" for number in BATCH])


def test_a_group_that_is_off_is_named(regressor):
    table = regressor.group_errors_
    worst = table.iloc[0]
    assert (worst["group"], worst["kind"]) == ("b2", "offset")
    assert worst["error"] == pytest.approx(0.5, abs=4 * worst["sd"])
    assert worst["probability"] > 0.9 > 0.5 > table["probability"].iloc[1]
    assert {*table["group"].dropna()} == {"b0", "b1", "b2", "b3"}


def test_the_function_is_predicted_without_it_and_what_is_expected_has_it(regressor):
    assert np.abs(regressor.predict(X) - Y).max() < 0.15
    assert np.abs(regressor.expected_ - (Y + 0.5 * IS_OFF)).max() < 0.25
    assert not regressor.outlier_mask_.any()


def test_rows_of_no_group_have_no_label():
    labels = labels_of(["b", None, 3, float("nan")], 4)
    assert labels.levels == (("3", "b"),)
    assert labels.codes[:, 0].tolist() == [1, -1, 0, -1]


def test_groups_must_be_one_a_row_and_of_a_method_that_takes_them():
    with pytest.raises(ValueError, match="a label for each of 36 rows, got 2"):
        RobustGPRegressor().fit(X, Y, groups=["a", "b"])
    with pytest.raises(ValueError, match="'relevance-pursuit' only, got 'standard'"):
        RobustGPRegressor("standard").fit(X, Y, groups=BATCH)


def test_of_many_rows_a_source_that_is_broken_and_one_that_is_off_are_found():
    """Beyond the number of rows up to which hyperparameters are climbed to beside a source."""
    rng = np.random.default_rng(0)
    X, groups = rng.uniform(size=(300, 2)), np.arange(300) % 4
    clean = np.sin(5 * X[:, 0]) * X[:, 1] + 0.05 * rng.standard_normal(300)
    for kind, error in (("broken", 0.5 * rng.standard_normal(300)), ("offset", 0.3)):
        found = RobustGPRegressor().fit(X, clean + error * (groups == 1), groups=groups).group_errors_.iloc[0]
        assert (str(found["group"]), found["kind"]) == ("1", kind)
        assert found["probability"] > 0.99
