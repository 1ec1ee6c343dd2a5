import pytest
import scipy.stats
import torch
from botorch.sampling import IIDNormalSampler, SobolQMCNormalSampler
from botorch.sampling.get_sampler import get_sampler
from gpytorch.distributions import MultivariateNormal

from robustbo.surrogates.student_t_process.posterior import StudentTPosterior

MEAN = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
COVARIANCE = torch.tensor([[2.0, 0.6, 0.1], [0.6, 1.0, 0.3], [0.1, 0.3, 0.5]], dtype=torch.float64)


def posterior(df=4.0, batch=()):
    normal = MultivariateNormal(MEAN.expand(*batch, 3), COVARIANCE.expand(*batch, 3, 3))
    return StudentTPosterior(normal, torch.tensor(df))


def test_samples_have_its_moments_and_its_tails():
    torch.manual_seed(0)
    given = posterior(6.0)
    samples = given.rsample(torch.Size([100_000])).squeeze(-1)
    torch.testing.assert_close(samples.mean(0), MEAN, rtol=0, atol=0.02)
    torch.testing.assert_close(samples.T.cov(), COVARIANCE, rtol=0.05, atol=0.02)
    for i in range(3):
        standard = (samples[:, i] - MEAN[i]) / given.scale[i, 0]
        assert scipy.stats.kstest(standard.numpy(), scipy.stats.t(6.0).cdf).pvalue > 1e-3
        assert scipy.stats.kstest(standard.numpy() / 1.5**0.5, scipy.stats.norm.cdf).pvalue < 1e-6


def test_one_chi_square_number_serves_all_points():
    """So that uncorrelated points are far out together."""
    torch.manual_seed(0)
    normal = MultivariateNormal(torch.zeros(2), torch.eye(2))
    samples = StudentTPosterior(normal, torch.tensor(4.5)).rsample(torch.Size([50_000])).squeeze(-1)
    a, b = samples.abs().T
    assert scipy.stats.spearmanr(a, b).statistic > 0.1


def test_many_degrees_of_freedom_give_the_normal_samples():
    given, base = posterior(1e12), torch.randn(9, 4)
    samples = given.rsample_from_base_samples(torch.Size([9]), base)
    normal = MEAN + base[:, 1:] @ torch.linalg.cholesky(COVARIANCE).T
    torch.testing.assert_close(samples.squeeze(-1), normal, rtol=0, atol=1e-4)


def test_moments_and_scales():
    given = posterior(4.0)
    torch.testing.assert_close(given.variance.squeeze(-1), COVARIANCE.diagonal())
    torch.testing.assert_close(given.scale.squeeze(-1).square(), COVARIANCE.diagonal() / 2)


@pytest.mark.parametrize("batch", [(), (2,), (3, 2)])
@pytest.mark.parametrize("Sampler", [SobolQMCNormalSampler, IIDNormalSampler])
def test_samplers_of_normal_numbers_serve(batch, Sampler):
    given = posterior(batch=batch)
    assert given.rsample().shape == (1, *batch, 3, 1)
    sampler = Sampler(torch.Size([512]), seed=0)
    samples = sampler(given)
    assert samples.shape == (512, *batch, 3, 1)
    assert torch.equal(sampler(given), samples)
    flat = samples.reshape(512, -1, 3)
    torch.testing.assert_close(flat, flat[:, :1].expand_as(flat))  # the same in every batch


def test_the_registered_sampler_draws_heavy_tails():
    sampler = get_sampler(posterior(3.0), torch.Size([4096]), seed=0)
    samples = sampler(posterior(3.0))[..., 1, 0]
    wanted = -2.0 + (1 / 3) ** 0.5 * scipy.stats.t(3.0).ppf(0.995)
    assert samples.quantile(0.995).item() == pytest.approx(wanted, rel=0.25)
    normal = -2.0 + scipy.stats.norm.ppf(0.995)
    assert samples.quantile(0.995) > normal


def test_quantiles_and_densities():
    given, levels = posterior(4.0), torch.tensor([0.1, 0.5, 0.99])
    found = given.quantile(levels)
    assert found.shape == (3, 3, 1)
    for k in range(3):
        t = scipy.stats.t(4.0, MEAN, (COVARIANCE.diagonal() / 2).sqrt())
        torch.testing.assert_close(found[k, :, 0], torch.from_numpy(t.ppf(levels[k])))
        torch.testing.assert_close(given.density(levels)[k, :, 0], torch.from_numpy(t.pdf(levels[k])))
    assert given.quantile(torch.tensor(0.5)).shape == given.density(torch.tensor(0.5)).shape == (3, 1)


def test_samples_have_gradients():
    mean = MEAN.clone().requires_grad_()
    given = StudentTPosterior(MultivariateNormal(mean, COVARIANCE), torch.tensor(5.0))
    given.rsample(torch.Size([4])).sum().backward()
    torch.testing.assert_close(mean.grad, torch.full((3,), 4.0))


def test_two_degrees_of_freedom_are_too_few():
    with pytest.raises(ValueError, match=r"df must be one number that exceeds 2 for a finite covariance, got 2\.0"):
        posterior(2.0)
