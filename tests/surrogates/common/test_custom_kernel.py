import pytest
import torch
from gpytorch.kernels import LinearKernel, MaternKernel, ScaleKernel

from robustbo.surrogates.common import custom_kernel, priors

X = torch.rand(6, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize(
    "kernel",
    [lambda: ScaleKernel(MaternKernel(1.5)), LinearKernel, lambda: priors.kernel_module("rbf", 2, True)],
    ids=["matern32", "linear", "rbf"],
)
def test_the_pullback_agrees_with_differences(kernel):
    function = custom_kernel.covariance_function(kernel().to(torch.float64), X)
    theta, G, step = function.starts[0] + 0.1, torch.randn(6, 6, dtype=torch.float64), 1e-6

    def total(theta):
        at = function.at(theta)
        return (at.K * G).sum() + at.log_prior

    found = function.at(theta).pullback(G)
    for i, unit in enumerate(torch.eye(len(theta), dtype=torch.float64)):
        difference = (total(theta + step * unit) - total(theta - step * unit)) / (2 * step)
        assert found[i] == pytest.approx(difference.item(), rel=1e-5, abs=1e-6)


def test_raw_bounds_are_those_of_constraints_without_a_transform():
    own = custom_kernel.covariance_function(priors.kernel_module("rbf", 2, True), X)
    assert sorted(low for low, _ in own.bounds) == pytest.approx([priors.MIN_S2F, priors.MIN_L, priors.MIN_L])
    plain = custom_kernel.covariance_function(MaternKernel(), X)
    assert plain.bounds == [(-torch.inf, torch.inf)]


def test_parameters_are_written_and_read_back():
    module = priors.kernel_module("matern52", 3, True)
    theta = custom_kernel.get_kernel(module) + 0.5
    custom_kernel.set_kernel(module, theta)
    torch.testing.assert_close(custom_kernel.get_kernel(module), theta)
