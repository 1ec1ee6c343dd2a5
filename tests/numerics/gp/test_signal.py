"""The evidence of a smooth function against a constant: by numerical integration, in any units, of noise none."""

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.linalg import helmert

from robustbo.numerics.gp import signal
from robustbo.numerics.gp.kernels import matern52


def integrated(K, y):
    """log p(y | K) but for a constant: contrasts are normal, whose variance is integrated out."""
    H = helmert(len(y))
    C, z = H @ K @ H.T, H @ y
    log_det, q, m = np.linalg.slogdet(C)[1], z @ np.linalg.solve(C, z), len(z)

    def density(log_variance):
        return math.exp(-0.5 * (m * log_variance + log_det + q * math.exp(-log_variance)))

    return math.log(integrate.quad(density, -30, 30, limit=500)[0])


def test_it_is_the_ratio_of_integrated_likelihoods():
    rng = np.random.default_rng(0)
    X, y = rng.random((6, 2)), rng.normal(size=6)
    differences = np.square(X[:, None] - X[None])
    parts = [differences.sum(-1) / (length**2 * 2) for length in signal.LENGTHS]
    alone = [differences[..., j] / length**2 for j in range(2) for length in signal.ALONE]
    null = integrated(np.eye(6), y)

    def mean(kernels):
        R = [matern52(u2.copy(), 0.0)[0] for u2 in kernels]
        ratios = [math.exp(integrated((1 - f) * K + f * np.eye(6), y) - null) for K in R for f in signal.SHARES]
        return np.mean(ratios)

    assert signal.log_evidence(X, y) == pytest.approx(math.log((mean(parts) + mean(alone)) / 2), abs=1e-6)


def test_units_order_and_offset_change_nothing():
    rng = np.random.default_rng(1)
    X, y = rng.random((12, 3)), rng.normal(size=12)
    order = rng.permutation(12)
    expected = signal.log_evidence(X, y)
    assert signal.log_evidence(X, 1e-9 * y + 5e-7) == pytest.approx(expected, abs=1e-5)
    assert signal.log_evidence(X[order], 1e200 * y[order]) == pytest.approx(expected, abs=1e-9)


def test_a_smooth_function_has_it_and_noise_has_not():
    rng = np.random.default_rng(2)
    X = rng.random((40, 4))
    assert signal.log_evidence(X, X[:, 0]) > 30
    assert signal.log_evidence(X, X.sum(-1) + 0.3 * rng.normal(size=40)) > 3
    assert np.mean([signal.log_evidence(X, rng.normal(size=40)) < 0 for _ in range(30)]) > 0.8


def test_equal_values_have_none():
    assert signal.log_evidence(np.random.default_rng(3).random((5, 2)), np.full(5, 3.0)) == -math.inf
