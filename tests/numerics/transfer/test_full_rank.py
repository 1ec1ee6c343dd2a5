"""The gain of an error atom of full rank, against dense densities in 50 digits and the formula of rank one."""

import mpmath as mp
import numpy as np
import pytest

from robustbo.numerics.sources.evidence import VARIANCES as OF_RANK_ONE
from robustbo.numerics.sources.evidence import _heights
from robustbo.numerics.transfer.full_rank import spectrum

RNG = np.random.default_rng(4)
N = 9
X = RNG.random((N, 2))
SQUARES = np.square(X[:, None] - X[None]).sum(-1)
SG, K_D = np.exp(-3 * SQUARES) + 0.05 * np.eye(N), np.exp(-SQUARES)
K_D[:4], K_D[:, :4] = 0.0, 0.0  # the rows of one source
R = RNG.normal(size=N)


def log_density(covariance):
    with mp.workdps(50):
        S, r = mp.matrix(covariance.tolist()), mp.matrix(R.tolist())
        return -0.5 * ((r.T * S**-1 * r)[0] + mp.log(mp.det(S)))


def test_gains_are_differences_of_log_densities():
    of_atom = spectrum(SG, K_D, R)
    for omega2 in (0.01, 0.3, 4.0):
        gain = log_density(SG + omega2 * K_D) - log_density(SG)
        assert of_atom.gain(np.array([omega2]))[0] == pytest.approx(float(gain), rel=1e-9)


def test_of_rank_one_it_is_the_formula_of_rank_one():
    a = (np.arange(N) > 4).astype(float)
    P = np.linalg.inv(SG)
    t, s = a @ P @ R, a @ P @ a
    expected = _heights(np.array([t]), np.array([s]))[0]
    assert spectrum(SG, np.outer(a, a), R).gain(OF_RANK_ONE) == pytest.approx(expected, rel=1e-8)


def test_the_best_variance_is_a_maximum_and_no_bias_gains_nothing():
    omega2, gain = spectrum(SG, K_D, 3 * R).best()
    assert gain == pytest.approx(spectrum(SG, K_D, 3 * R).gain(np.array([omega2]))[0])
    assert spectrum(SG, K_D, 0 * R).best()[1] <= 0
