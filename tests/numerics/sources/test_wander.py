"""Errors that wander in the order of time, against dense matrices, and as the opponent of an error of everything."""

import numpy as np
import pytest

from robustbo.numerics.sources import wander
from robustbo.numerics.sources.evidence import VARIANCES, project_mean
from robustbo.numerics.sources.wander import LASTING, wander_factor

N = 24
RNG = np.random.default_rng(5)
SG = np.exp(-np.abs(np.subtract.outer(np.arange(N), np.arange(N))[::-1]) / 9.0)
SG = SG @ SG.T + 0.1 * np.eye(N)
Y = RNG.normal(size=N)
ROWS = RNG.permutation(N)
PRECISION = project_mean(np.linalg.inv(SG), Y)


def log_density(C, y):
    """That of contrasts, which have no mean."""
    Q = np.linalg.qr(np.column_stack([np.ones(N), np.eye(N)[:, 1:]]))[0][:, 1:]
    S = Q.T @ C @ Q
    return -0.5 * (np.linalg.slogdet(S)[1] + y @ Q @ np.linalg.solve(S, Q.T @ y))


def test_it_is_that_of_dense_matrices():
    lags = np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
    factors = []
    for share in LASTING:
        R = np.zeros((N, N))
        R[np.ix_(ROWS, ROWS)] = np.exp(-lags / (share * N))
        factors += [log_density(SG + w * R, Y) - log_density(SG, Y) for w in VARIANCES]
    expected = np.logaddexp.reduce(factors) - np.log(len(factors))
    assert wander_factor(PRECISION, ROWS) == pytest.approx(expected, abs=1e-8)


def test_of_many_rows_it_is_nearly_that_of_fewer_places(monkeypatch):
    n = 120
    y = np.cumsum(np.random.default_rng(1).normal(size=n)) / 3
    precision = project_mean(np.eye(n) / 0.1, y)
    exact = wander_factor(precision, np.arange(n))
    monkeypatch.setattr(wander, "MOST", n // 2)
    assert exact > 20
    assert wander_factor(precision, np.arange(n)) == pytest.approx(exact, rel=0.1)
