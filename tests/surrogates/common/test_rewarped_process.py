import math

import pytest
import torch

from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.linalg.lapack import inverse_root
from robustbo.surrogates.common.rewarped_process import RewarpedProcess
from robustbo.surrogates.transforms.learned_warp import LearnedWarp

X = torch.linspace(0, 1, 6).double().unsqueeze(-1)
Z = torch.tensor([[0.12], [0.5], [0.93]]).double()


def warp(low, high, origin=0.0):
    bent = LearnedWarp()
    bent.t = torch.tensor([low, high, origin]).double()
    return bent


def process(own, model):
    y = torch.tensor([-2.0, -0.4, 0.3, 1.0, 2.5, 0.1]).double()
    l, s2f = torch.tensor([0.3]).double(), torch.tensor(2.0).double()
    K = KERNELS["matern52"](squared_differences(X, X), l, s2f).K
    root = inverse_root(torch.linalg.cholesky(K + 0.05 * torch.eye(6).double()))
    inner = LatentProcess("matern52", l, s2f, torch.zeros(()).double(), X, root, root.mT @ root @ y)
    return RewarpedProcess(inner, own, model)


def test_its_moments_are_those_of_samples_through_both_warps():
    of = process(warp(0.3, 0.0, 0.4), warp(0.5, 1.5, -0.6))
    mean, variance = of.marginals(Z)
    inner = of.inner.marginals(Z)
    normal = torch.randn(200_000, 3, generator=torch.Generator().manual_seed(0)).double()
    through = of.model.bend(of.own.unbend(inner[0] + inner[1].sqrt() * normal))
    torch.testing.assert_close(mean, through.mean(0), atol=0.01, rtol=0)
    torch.testing.assert_close(variance.sqrt(), through.std(0), atol=0.02, rtol=0)


def test_where_little_is_known_its_mean_is_within_two_standard_deviations():
    of = process(warp(0.0, 3.0), warp(0.0, 0.0))
    far = torch.tensor([[9.0]]).double()
    mean, variance = of.inner.marginals(far)
    assert of.marginals(far)[0] < of.own.unbend(mean + 2 * variance.sqrt())


def test_with_the_model_s_own_warp_it_is_the_process():
    of = process(warp(0.7, 1.1, 0.3), warp(0.7, 1.1, 0.3))
    for mine, inner in zip(of.marginals(Z), of.inner.marginals(Z), strict=True):
        torch.testing.assert_close(mine, inner, rtol=1e-6, atol=1e-9)
    k = of.covariance(Z, X)
    torch.testing.assert_close(of.posterior_covariance(Z, k), of.inner.posterior_covariance(Z, k))
    torch.testing.assert_close(of.noise(Z, 0.2), torch.full((3,), 0.2).double())


def test_covariances_have_the_variances_on_their_diagonal_and_follow_gradients():
    of, at = process(warp(0.0, 2.0), warp(0.3, 0.0)), Z.clone().requires_grad_()
    k = of.covariance(at, X)
    covariance = of.posterior_covariance(at, k)
    torch.testing.assert_close(covariance.diagonal(), of.variances(k))
    torch.testing.assert_close(covariance, covariance.T)
    (slope,) = torch.autograd.grad(of.mean(k).sum(), at)
    step = 1e-6
    higher, lower = (of.marginals(Z + sign * step)[0] for sign in (1, -1))
    torch.testing.assert_close(slope.squeeze(-1), (higher - lower) / (2 * step), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("at", [0.0, 1.5])
def test_noise_is_stretched_as_the_warp_is_there(at):
    of = process(warp(0.0, 1.5), warp(0.0, 0.0))
    b = math.sqrt(math.expm1(1.5))
    mean = of.inner._replace(
        root=torch.zeros_like(of.inner.root), al=torch.zeros_like(of.inner.al), m=torch.tensor(at).double()
    )
    stretched = of._replace(inner=mean).noise(Z, 0.01)
    torch.testing.assert_close(stretched, torch.full((3,), 0.01 * math.cosh(b * at) ** 2).double(), rtol=1e-9, atol=0)
