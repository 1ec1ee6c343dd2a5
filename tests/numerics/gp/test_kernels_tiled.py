import pytest
import torch

from robustbo.numerics.gp import kernels_tiled
from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.gp.kernels_tiled import TiledCovariance, correlation
from tests.numerics.dense import pullback, tangents


def example(kernel, n=20, d=3):
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(n, d, generator=generator)
    return TiledCovariance(kernel, X, torch.tensor(2.0), 0.1 + torch.rand(n, generator=generator)), generator


@pytest.fixture(params=sorted(KERNELS))
def kernel(request):
    return request.param


def close(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)


def test_correlations_are_those_of_the_kernels(kernel):
    X, Z = torch.rand(5, 2), torch.rand(4, 2)
    close(correlation(kernel, X, Z), KERNELS[kernel](squared_differences(X, Z), torch.ones(2), torch.ones(())).K)


def test_a_point_is_wholly_correlated_with_itself_however_far_from_the_origin(kernel):
    X = torch.tensor([[1e3, -1e3], [1e3 + 1, -1e3]])
    assert (correlation(kernel, X, X).diagonal() - 1).abs().max() < 1e-6


@pytest.mark.parametrize("columns", [1, 3])
def test_a_product_in_tiles_is_the_product(kernel, columns, monkeypatch):
    monkeypatch.setattr(kernels_tiled, "TILE", 7)
    A, generator = example(kernel)
    W = torch.rand(20, columns, generator=generator)
    before = W.clone()
    close(A.times(W), A.dense() @ W)
    assert torch.equal(W, before)


def test_columns_and_diagonal_are_those_of_the_matrix(kernel):
    A, _ = example(kernel)
    rows = torch.tensor([3, 0, 19])
    close(A.columns(rows), A.dense()[:, rows])
    close(A.diagonal, A.dense().diagonal())
    close(A.latent(rows), A.dense()[:, rows] - torch.diag(A.N)[:, rows])


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_kernels_of_stacks_and_their_pullback_are_those_of_the_differences(name):
    generator = torch.Generator().manual_seed(0)
    X, G = torch.rand(3, 6, 2, generator=generator), torch.randn(3, 6, 6, generator=generator)
    l, s2f = torch.tensor([0.3, 2.0]), torch.tensor(1.7)
    D = squared_differences(X, X)
    wanted, found = KERNELS[name](D, l, s2f), kernels_tiled.kernel_matrix(name, X, l, s2f)
    torch.testing.assert_close(found.K, wanted.K, rtol=1e-10, atol=1e-7)  # a point and itself: the root of rounding
    slopes = pullback(G, D, l, wanted)
    for one, other in zip(kernels_tiled.pullback(G, X, l, found), slopes, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_tangents_are_those_of_the_differences_however_far_from_the_origin(name):
    generator = torch.Generator().manual_seed(0)
    X, w = torch.rand(6, 2, generator=generator), torch.randn(6, generator=generator)
    l, D = torch.tensor([0.3, 2.0]), squared_differences(X, X)
    found = KERNELS[name](D, l, torch.tensor(1.7))
    torch.testing.assert_close(
        kernels_tiled.tangents(w, X + 1e3, l, found), tangents(w, D, l, found), rtol=1e-9, atol=1e-9
    )
