import numpy as np
import pytest
import torch
from scipy import stats

from robustbo.numerics.baselines.projection import projection_statistics, weights


def sample(n=40, d=3, seed=0):
    return torch.randn(n, d, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def by_loops(X):
    """As Algikar and Mili's code has it, with its column of ones."""
    H = np.column_stack([np.ones(len(X)), X])
    P = []
    for row in H:
        direction = row - np.median(H, axis=0)
        z = H @ (direction / np.linalg.norm(direction))
        mad = 1.4826 * (1 + 15 / len(X)) * np.median(np.abs(z - np.median(z)))
        P.append(np.abs(z - np.median(z)) / mad)
    return np.max(P, axis=0)


@pytest.mark.parametrize("n", [10, 41])
@pytest.mark.parametrize("d", [2, 3])
def test_they_are_the_sources(n, d):
    X = sample(n, d)
    X[2] += 7.0
    np.testing.assert_allclose(projection_statistics(X).numpy(), by_loops(X.numpy()), rtol=1e-10)


def test_a_leverage_point_weighs_less_and_the_others_do_not():
    X = sample(60)
    X[7] *= 30.0
    found = weights(X)
    assert found.argmin() == 7
    assert found[7] < 0.05
    assert found[torch.arange(60) != 7].min() > 0.5
    expected = stats.chi2.ppf(0.975, 4) / projection_statistics(X)[7].item() ** 2
    assert found[7].item() == pytest.approx(expected)


def test_neither_place_nor_scale_nor_rotation_matters_in_one_dimension_and_scale_in_all():
    X = sample(d=1)
    torch.testing.assert_close(projection_statistics(X), projection_statistics(-3 * X + 5))
    Z = sample()
    torch.testing.assert_close(projection_statistics(Z), projection_statistics(7 * Z + 1))


@pytest.mark.parametrize("X", [torch.ones(1, 2), torch.ones(5, 2), torch.tensor([[0.0], [0.0], [0.0], [9.0]])])
def test_where_half_of_them_lie_together_all_weigh_alike(X):
    assert (weights(X.double()) == 1).all()


def test_it_is_finite_where_some_inputs_are_levels():
    X = sample()
    X[:, 1] = X[:, 1].round().clamp(-1, 1)
    assert projection_statistics(X).isfinite().all()
