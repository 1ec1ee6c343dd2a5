import numpy as np
import pytest

from robustbo.numerics.linalg import lapack


def matrix(n=5, seed=0):
    root = np.random.default_rng(seed).standard_normal((n, n))
    return root @ root.T + np.eye(n)


def test_a_factor_and_what_it_solves():
    B = matrix()
    C, is_factored = lapack.factor(B.copy())
    assert is_factored
    assert np.tril(C) == pytest.approx(np.linalg.cholesky(B))
    v = np.arange(5.0)
    assert lapack.solve(C, v) == pytest.approx(np.linalg.solve(B, v))
    assert lapack.forward(C, v) == pytest.approx(np.linalg.solve(np.linalg.cholesky(B), v))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_an_inverse_is_whole_and_symmetric(n):
    B = matrix(n)
    P = lapack.inverse(lapack.factor(B.copy())[0])
    assert pytest.approx(np.linalg.inv(B)) == P
    assert np.array_equal(P, P.T)


def test_where_there_is_no_inverse_it_is_not_a_number():
    C = np.asfortranarray(np.diag([1.0, 0.0]))
    assert not np.isfinite(lapack.inverse(C)).all()


def test_a_solution_leaves_what_it_is_given():
    B, v = matrix(), np.arange(5.0)
    before = B.copy(), v.copy()
    x, is_solved = lapack.solution(B, v)
    assert is_solved
    assert x == pytest.approx(np.linalg.solve(B, v))
    assert np.array_equal(B, before[0])
    assert np.array_equal(v, before[1])


@pytest.mark.parametrize("bad", [np.diag([1.0, -1.0]), np.array([[1.0, 2.0], [2.0, 1.0]])])
def test_what_has_no_factor_is_said(bad):
    assert not lapack.factor(bad.copy())[1]
    assert not lapack.solution(bad, np.ones(2))[1]


def test_a_nan_is_no_factor():
    assert not lapack.factor(np.array([[1.0, np.nan], [np.nan, 1.0]]))[1]


def test_extreme_sizes_are_finite():
    for size in (1e-200, 1e200):
        x, is_solved = lapack.solution(size * matrix(), np.ones(5))
        assert is_solved
        assert np.isfinite(x).all()


def test_more_on_the_diagonal_is_added_in_place():
    B = matrix()
    before = B.copy()
    assert lapack.on_diagonal(B, np.arange(5.0)) is B
    assert B - before == pytest.approx(np.diag(np.arange(5.0)))
