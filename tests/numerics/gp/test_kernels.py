import pytest
import torch
from gpytorch.kernels import MaternKernel, RBFKernel

from robustbo.numerics.gp.kernels import KERNELS, squared_differences

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


def test_gradients_in_the_hyperparameters(name):
    X, Z, l, s2f = inputs()
    D = squared_differences(X, Z)
    assert torch.autograd.gradcheck(lambda l, s: KERNELS[name](D, l, s).K, (l.requires_grad_(), s2f.requires_grad_()))


def test_at_distance_zero_it_is_the_signal_variance_and_its_slope_is_finite(name):
    kernel = KERNELS[name](torch.zeros(2, 1, 1), torch.ones(2), torch.tensor(3.0))
    assert kernel.K.item() == 3.0
    assert kernel.K_u2.isfinite().all()


@pytest.mark.parametrize("l", [1e-150, 1e150])
def test_extreme_length_scales_are_finite(name, l):
    X, Z, _, s2f = inputs()
    assert KERNELS[name](squared_differences(X, Z), torch.full((3,), l), s2f).K.isfinite().all()


def test_a_batch_is_a_loop(name):
    X, Z, l, s2f = inputs(batch=(2,))
    D = squared_differences(X, Z)
    batched = KERNELS[name](D, l, s2f)
    for b in range(2):
        torch.testing.assert_close(batched.K[b], KERNELS[name](D[b], l[b], s2f[b]).K)
