"""The knowledge gradient in closed form, against quadrature and dense posteriors."""

import numpy as np
import pytest
from scipy.stats import norm

from robustbo.numerics.transfer.knowledge_gradient import knowledge_gradient, movements, upper_envelope

RNG = np.random.default_rng(6)


@pytest.mark.parametrize("m", [1, 2, 7, 30])
def test_it_is_the_integral_of_the_highest_line(m):
    mu, sigma = RNG.normal(size=m), RNG.normal(size=m)
    top = mu.max()
    z = np.linspace(-9, 9, 200001)
    expected = np.trapezoid(((mu[:, None] + sigma[:, None] * z).max(0) - top) * norm.pdf(z), z)
    assert knowledge_gradient(mu, sigma) == pytest.approx(expected, abs=1e-8)


def test_lines_that_are_never_the_highest_are_left_out():
    mu, sigma = np.array([0.0, -9.0, 0.0, -1.0]), np.array([-1.0, 0.0, 1.0, 1.0])
    assert upper_envelope(mu, sigma).lines == [0, 2]
    assert knowledge_gradient(np.array([1.0, 0.5]), np.array([0.3, 0.3])) == 0.0  # all move alike


def test_movements_are_those_of_the_joint_density():
    n, m = 6, 4
    A = RNG.normal(size=(n + m + 1, n + m + 1))
    C = A @ A.T + np.eye(n + m + 1)  # of n values, m points and the new value
    root = np.linalg.inv(np.linalg.cholesky(C[:n, :n]))
    k, c, prior = C[n : n + m, :n], C[-1:, :n], C[-1:, n : n + m]
    sigma = movements(k, prior, root, c, C[-1:, -1])
    left = C[n:, n:] - C[n:, :n] @ root.T @ root @ C[:n, n:]
    assert sigma[0] == pytest.approx(left[-1, :m] / np.sqrt(left[-1, -1]))
