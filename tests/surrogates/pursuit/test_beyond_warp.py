"""A value far beyond all others, where the noise is skewed: a warp that was learned from these does not excuse it."""

import numpy as np
import pytest

from robustbo.sklearn import RobustGPRegressor


def replicates(seed):
    """Twenty replicates at each of six points, in whole numbers, whose logarithm is normal."""
    rng, x = np.random.default_rng(seed), np.repeat(np.arange(6) / 5, 20)
    noise = 0.28 * rng.standard_normal(120) + 0.25 * np.repeat(rng.standard_normal(20), 6)
    return x[:, None], np.round(np.exp(3.3 + 0.15 * x + noise))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [1, 3])
def test_a_value_a_thousand_times_too_large_is_wrong_and_no_other(seed):
    X, y = replicates(seed)
    y[50] *= 1000
    regressor = RobustGPRegressor(random_state=0).fit(X, y)
    assert np.flatnonzero(regressor.outlier_mask_).tolist() == [50]
    assert regressor.probability_wrong_[50] > 0.95


def test_values_over_several_orders_of_magnitude_are_right():
    x = np.linspace(0, 1, 30)
    y = np.exp(12 * x + 0.05 * np.random.default_rng(0).standard_normal(30))  # from 1 to 160,000
    assert not RobustGPRegressor(random_state=0).fit(x[:, None], y).outlier_mask_.any()


@pytest.mark.parametrize("different", [[], [4], [4, 7]])
def test_of_values_that_are_equal_the_others_are_judged(different):
    y = np.full(30, 3.0)
    y[different] = 4000.0
    regressor = RobustGPRegressor(random_state=0).fit(np.linspace(0, 1, 30)[:, None], y)
    assert np.flatnonzero(regressor.outlier_mask_).tolist() == different
    np.testing.assert_allclose(regressor.predict(np.linspace(0, 1, 5)[:, None]), 3.0, atol=0.2)
