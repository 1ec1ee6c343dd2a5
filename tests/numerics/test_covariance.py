import pytest
import torch
from gpytorch.priors import LogNormalPrior

from robustbo.numerics.covariance import LogNormal, stationary
from robustbo.numerics.kernels import squared_differences

PRIOR = LogNormal(0.5, 1.5)


def test_the_log_normal_density_is_gpytorchs_and_its_slope_the_derivative():
    log_x = torch.tensor([-3.0, 0.0, 2.0], requires_grad=True)
    torch.testing.assert_close(PRIOR.log_density(log_x), LogNormalPrior(*PRIOR).log_prob(log_x.exp()))
    PRIOR.log_density(log_x).sum().backward()
    torch.testing.assert_close(PRIOR.slope(log_x), log_x.grad)


def test_the_mode_is_the_most_probable_value():
    x = torch.tensor(PRIOR.log_mode).exp() + torch.tensor([-1e-4, 0.0, 1e-4])
    assert PRIOR.log_density(x.log()).argmax() == 1


@pytest.mark.parametrize("s2f_prior", [None, PRIOR])
@pytest.mark.parametrize("kernel", ["matern52", "rbf"])
def test_the_pullback_is_the_gradient_of_likelihood_plus_prior(kernel, s2f_prior):
    X = torch.rand(6, 2, generator=torch.Generator().manual_seed(0))
    D = squared_differences(X, X + 0.1)  # no pair at distance zero, where autograd (not the pullback) is NaN
    function = stationary(D, kernel, PRIOR, s2f_prior)
    G, theta = torch.randn(6, 6), function.start + 0.3
    theta.requires_grad_()
    found = function.at(theta)
    ((found.K * G).sum() + found.log_prior).backward()
    torch.testing.assert_close(found.pullback(G).detach(), theta.grad)
    assert len(function.bounds) == len(theta) == 2 + (s2f_prior is not None)
