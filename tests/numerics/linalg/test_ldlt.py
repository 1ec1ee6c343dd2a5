import numpy as np
import pytest
from numpy.testing import assert_allclose

from robustbo.numerics.linalg.ldlt import factor

SIZES = [1, 2, 5, 30, 100]


def draw(n, seed=0):
    """With eigenvalues of either sign, and zeros on the diagonal, so that blocks of two rows are needed."""
    B = np.random.default_rng(seed).normal(size=(n, n))
    B += B.T
    B[0, 0] = 0.5
    np.fill_diagonal(B[1:, 1:], 0.0)
    return B


@pytest.mark.parametrize("n", SIZES)
class TestFactors:
    def test_solves_and_inverse(self, n):
        B, v = draw(n), np.linspace(-1.0, 1.0, n)
        found = factor(B.copy())
        assert found.is_regular
        assert_allclose(B @ found.solve(v), v, atol=1e-10)
        assert_allclose(B @ (found.half_inverse + found.half_inverse.T), np.eye(n), atol=1e-10)

    def test_inertia_and_determinant(self, n):
        B = draw(n)
        found = factor(B.copy())
        assert found.num_negative == (np.linalg.eigvalsh(B) < 0).sum()
        assert found.log_det == pytest.approx(np.linalg.slogdet(B)[1], rel=1e-9, abs=1e-9)
        assert n < 3 or (found.pivots < 0).any()

    def test_positive_definite_ones_have_no_negative_eigenvalue(self, n):
        B = draw(n)
        assert factor(B @ B + np.eye(n)).num_negative == 0


OFF = np.array([[1.0, np.nan], [np.nan, 1.0]])


@pytest.mark.parametrize("bad", [np.zeros((3, 3)), np.full((3, 3), np.nan), np.diag([1.0, np.nan, 1.0]), OFF, OFF - 1])
def test_what_has_no_inverse_is_said(bad):
    assert not factor(bad).is_regular
