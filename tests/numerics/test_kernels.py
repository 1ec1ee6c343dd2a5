import pytest
import torch
from gpytorch.kernels import MaternKernel, RBFKernel

from robustbo.numerics.kernels import KERNELS, pullback, squared_differences, tangents

REFERENCE = {"matern52": MaternKernel(2.5, ard_num_dims=3), "rbf": RBFKernel(ard_num_dims=3)}


@pytest.fixture(params=sorted(KERNELS))
def name(request):
    return request.param


def inputs(n=5, m=4, batch=()):
    generator = torch.Generator().manual_seed(0)
    X, Z = (torch.rand((*batch, size, 3), generator=generator) for size in (n, m))
    return X, Z, 0.2 + torch.rand((*batch, 3), generator=generator), 0.5 + torch.rand(batch, generator=generator)


def test_the_value_is_gpytorchs(name):
    X, Z, l, s2f = inputs()
    module = REFERENCE[name]
    module.lengthscale = l
    torch.testing.assert_close(
        KERNELS[name](squared_differences(X, Z), l, s2f).K, s2f * module(X, Z).to_dense().detach()
    )


def test_the_pullback_is_the_gradient(name):
    X, Z, l, s2f = inputs()
    D, G = squared_differences(X, Z), torch.randn(5, 4)
    log_l, log_s2f = l.log().requires_grad_(), s2f.log().requires_grad_()
    (KERNELS[name](D, log_l.exp(), log_s2f.exp()).K * G).sum().backward()
    found = pullback(G, D, l, KERNELS[name](D, l, s2f))
    torch.testing.assert_close(found.log_l, log_l.grad)
    torch.testing.assert_close(found.log_s2f, log_s2f.grad)


def test_gradients_in_the_hyperparameters(name):
    X, Z, l, s2f = inputs()
    D = squared_differences(X, Z)
    assert torch.autograd.gradcheck(lambda l, s: KERNELS[name](D, l, s), (l.requires_grad_(), s2f.requires_grad_()))


def test_at_distance_zero_it_is_the_signal_variance_and_its_slope_is_finite(name):
    kernel = KERNELS[name](torch.zeros(2, 1, 1), torch.ones(2), torch.tensor(3.0))
    assert kernel.K.item() == 3.0
    assert kernel.K_u2.isfinite().all()


@pytest.mark.parametrize("l", [1e-150, 1e150])
def test_extreme_length_scales_are_finite(name, l):
    X, Z, _, s2f = inputs()
    D, lengths = squared_differences(X, Z), torch.full((3,), l)
    kernel = KERNELS[name](D, lengths, s2f)
    found = pullback(torch.ones(5, 4), D, lengths, kernel)
    assert kernel.K.isfinite().all()
    assert found.log_l.isfinite().all()
    assert tangents(torch.ones(4), D, lengths, kernel).isfinite().all()


def test_a_batch_is_a_loop(name):
    X, Z, l, s2f = inputs(batch=(2,))
    D, G = squared_differences(X, Z), torch.randn(2, 5, 4)
    batched = KERNELS[name](D, l, s2f)
    gradient = pullback(G, D, l, batched)
    for b in range(2):
        single = KERNELS[name](D[b], l[b], s2f[b])
        torch.testing.assert_close(batched.K[b], single.K)
        torch.testing.assert_close(gradient.log_l[b], pullback(G[b], D[b], l[b], single).log_l)
        torch.testing.assert_close(tangents(G[:, 0], D, l, batched)[b], tangents(G[b, 0], D[b], l[b], single))


def test_tangents_and_pullback_are_the_same_derivative(name):
    X, Z, l, s2f = inputs()
    D, left, right = squared_differences(X, Z), torch.randn(5), torch.randn(4)
    kernel = KERNELS[name](D, l, s2f)
    torch.testing.assert_close(
        tangents(right, D, l, kernel) @ left, pullback(torch.outer(left, right), D, l, kernel).log_l
    )
