"""Climbs of known surfaces: where they end, beside SciPy's search within bounds, and that each is by itself."""

import numpy as np
import pytest
from scipy.optimize import minimize

from robustbo.loop.optimize_acqf.projected_bfgs import FIRST, _solve, maximize_by_bfgs


def quadratic(seed, d=6):
    """A concave quadratic whose peak may lie outside of the cube."""
    rng = np.random.default_rng(seed)
    A, peak = rng.standard_normal((d, d)), rng.uniform(-0.3, 1.3, d)
    A = A @ A.T + 0.1 * np.eye(d)
    return lambda x: (-0.5 * np.vecdot(x - peak, (x - peak) @ A), -(x - peak) @ A)


def valley(x):
    """Rosenbrock's, turned upside down, of [-2, 2]^d."""
    z = 4 * x - 2
    along, across = z[:, 1:] - z[:, :-1] ** 2, 1 - z[:, :-1]
    slope = np.zeros_like(z)
    slope[:, 1:] -= 200 * along
    slope[:, :-1] += 400 * along * z[:, :-1] + 2 * across
    return -(100 * along**2 + across**2).sum(1), 4 * slope


@pytest.mark.parametrize("seed", range(5))
def test_every_climb_ends_on_the_quadratics_highest_point_of_the_cube(seed):
    both = quadratic(seed)
    x, f = maximize_by_bfgs(both, np.random.default_rng(9).random((4, 6)), 100, 1e-10)
    loss = lambda z: tuple(-part[0] for part in both(z[None]))  # noqa: E731
    found = minimize(loss, np.full(6, 0.5), jac=True, bounds=[(0, 1)] * 6, method="L-BFGS-B", options={"ftol": 1e-14})
    assert f == pytest.approx(-found.fun, abs=1e-6)
    assert f == pytest.approx(both(x)[0])
    assert ((x >= 0) & (x <= 1)).all()


def test_a_curved_valley_is_followed_to_one_of_its_ends():
    _, f = maximize_by_bfgs(valley, np.random.default_rng(0).random((6, 4)), 300, 1e-8)
    assert f[f > -1] == pytest.approx(0.0, abs=1e-6)
    assert f[f < -1] == pytest.approx(-3.70143, abs=1e-4)  # of this one with four inputs
    assert (f > -1).any()


def test_a_climb_is_the_same_whoever_climbs_beside_it():
    starts = np.random.default_rng(0).random((5, 3))
    x, f = maximize_by_bfgs(valley, starts, 40, 1e-5)
    for i in range(5):
        alone, height = maximize_by_bfgs(valley, starts[i : i + 1], 40, 1e-5)
        assert alone[0] == pytest.approx(x[i], abs=1e-9)
        assert height[0] == pytest.approx(f[i], abs=1e-9)


def test_none_ends_below_where_it_began_though_some_of_the_surface_is_no_number():
    def both(x):
        f, g = valley(x)
        return np.where(x[:, 0] > 0.7, np.nan, f), np.where(x[:, :1] > 0.7, np.nan, g)

    starts = np.random.default_rng(0).random((8, 3)) * [0.7, 1, 1]
    x, f = maximize_by_bfgs(both, starts, 60, 1e-6)
    assert (f >= valley(starts)[0]).all()
    assert (x[:, 0] <= 0.7).all()


def test_where_the_gradient_is_zero_it_stays():
    x, f = maximize_by_bfgs(lambda x: (np.zeros(len(x)), np.zeros_like(x)), np.full((2, 3), 0.5), 10, 1e-6)
    assert (x == 0.5).all()
    assert (f == 0).all()


def test_a_model_that_rounding_has_left_singular_is_begun_anew_and_the_others_stay():
    good, singular, g = np.diag([2.0, 4.0]), np.ones((2, 2)), np.array([[1.0, 2.0], [3.0, -6.0]])
    steps = _solve(np.stack([good, singular]), g)
    np.testing.assert_allclose(steps, [[0.5, 0.5], [FIRST / 2, -FIRST]])
