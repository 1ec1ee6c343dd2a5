import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.posteriors import GPyTorchPosterior
from gpytorch.distributions import MultivariateNormal

from robustbo.surrogates.common.contract import quiet
from robustbo.surrogates.transforms.arcsinh import RobustArcsinh
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize

Y = torch.tensor([[0.0], [1.0], [2.0], [3.0], [1e12]], dtype=torch.float64)


def trained(values=Y):
    transform = RobustArcsinh(m=1)
    transform(values)
    return transform.eval()


def test_it_is_the_inverse_hyperbolic_sine_of_robustly_standardized_values():
    torch.testing.assert_close(trained()(Y)[0], RobustStandardize(m=1)(Y)[0].asinh())


@pytest.mark.parametrize(
    "values",
    [
        Y,
        torch.full((4, 1), 2.0, dtype=torch.float64),
        torch.tensor([[5.0]], dtype=torch.float64),
        1e-200 * Y[:4],
        1e200 * Y[:4],
    ],
)
def test_the_way_back_is_the_same_values(values):
    transform = trained(values)
    back, _ = transform.untransform(transform(values)[0])
    assert ((back - values).abs() <= 1e-12 * (values.abs() + transform.stdvs)).all()


def test_noise_goes_there_and_back_and_is_what_a_small_step_says():
    transform, step = trained(), 1e-6
    noise = torch.full_like(Y, 0.04)
    there, there_noise = transform(Y, noise)
    torch.testing.assert_close(transform.untransform(there, there_noise)[1], noise)
    moved = (transform(Y[:4] + step)[0] - transform(Y[:4] - step)[0]) / (2 * step)
    torch.testing.assert_close(there_noise[:4].sqrt(), 0.2 * moved, rtol=1e-6, atol=0)


def test_a_narrow_posterior_goes_back_exactly():
    transform = trained()
    normal = MultivariateNormal(torch.tensor([0.5, 1.5]), 1e-8 * torch.tensor([[1.0, 0.3], [0.3, 2.0]]))
    back = transform.untransform_posterior(GPyTorchPosterior(normal))
    samples = transform.untransform(normal.rsample(torch.Size([100_000])).unsqueeze(-1))[0].squeeze(-1)
    torch.testing.assert_close(back.mean.squeeze(-1), samples.mean(0), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(back.covariance_matrix, samples.T.cov(), rtol=0.05, atol=0)


def test_a_botorch_model_works_with_it_and_gradients_flow():
    X = torch.rand(8, 2)
    with quiet():
        model = SingleTaskGP(X, X.sum(-1, keepdim=True).exp(), outcome_transform=RobustArcsinh(m=1)).eval()
    points = torch.rand(3, 1, 2, requires_grad=True)
    posterior = model.posterior(points)
    assert isinstance(posterior, GPyTorchPosterior)
    (posterior.mean.sum() + posterior.variance.sum() + posterior.rsample(torch.Size([2])).sum()).backward()
    assert points.grad.isfinite().all()
