import torch
from torch.autograd import gradcheck

from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.linalg.lapack import inverse_root


def latent(n=8, kernel="matern52", noise=0.01, l=(0.4, 0.7), s2f=2.0, m=0.3):
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(n, 2, generator=generator)
    y, l, s2f, m = torch.sin(5 * X[:, 0]), torch.tensor(l), torch.tensor(s2f), torch.tensor(m)
    root = inverse_root(
        torch.linalg.cholesky(KERNELS[kernel](squared_differences(X, X), l, s2f).K + noise * torch.eye(n))
    )
    return LatentProcess(kernel, l, s2f, m, X, root, root.mT @ root @ (y - m))


def test_the_covariance_is_the_kernels():
    given, X, Z = latent(), torch.rand(5, 2), torch.rand(3, 2)
    torch.testing.assert_close(
        given.covariance(X, Z), KERNELS["matern52"](squared_differences(X, Z), given.l, given.s2f).K
    )


def test_the_posterior_is_the_dense_formula_and_a_batch_is_a_loop():
    given, X = latent(), torch.rand(3, 4, 2)
    K = KERNELS["matern52"](squared_differences(given.X, given.X), given.l, given.s2f).K
    mean, covariance = given.posterior(given.X)
    torch.testing.assert_close(mean, given.m + K @ given.al)
    torch.testing.assert_close(covariance, K - K @ given.root.mT @ given.root @ K)
    means, covariances = given.posterior(X)
    for b in range(3):
        one = given.posterior(X[b])
        torch.testing.assert_close((means[b], covariances[b]), one)


def test_the_marginals_are_those_of_the_joint_posterior_however_many_points():
    given, X = latent(), torch.rand(600, 2)
    mean, covariance = given.posterior(X)
    torch.testing.assert_close(given.marginals(X), (mean, covariance.diagonal()))
    exact = latent(noise=1e-13)
    assert exact.marginals(exact.X)[1].min() >= 0


def test_autograd_follows_the_posterior_at_the_inputs_too():
    given = latent()
    x = torch.cat([given.X[:1], torch.rand(1, 2)]).requires_grad_()
    assert gradcheck(given.posterior, (x,))


def test_of_a_smooth_function_the_variances_are_exact_where_the_inverse_is_not():
    """The signal variance is 1e9 times the noise: by the inverse, the variances would be off by their size and more."""
    X = torch.rand(80, 2, generator=torch.Generator().manual_seed(0))
    l, s2f, noise = torch.full((2,), 20.0), torch.tensor(1e5), 1e-4
    K = KERNELS["matern52"](squared_differences(X, X), l, s2f).K
    C = torch.linalg.cholesky(K + noise * torch.eye(80))
    root, y = inverse_root(C), X.square().sum(-1)
    given = LatentProcess("matern52", l, s2f, torch.tensor(0.0), X, root, root.mT @ (root @ y))
    Z = torch.rand(20, 2, generator=torch.Generator().manual_seed(1))
    mean, variance = given.marginals(Z)
    k = given.covariance(Z, X)
    exact = s2f - torch.linalg.solve_triangular(C, k.mT, upper=False).square().sum(0)
    assert (exact > 1e-7).all()
    torch.testing.assert_close(variance, exact, rtol=1e-2, atol=1e-8)
    by_inverse = s2f - (k @ torch.cholesky_inverse(C) * k).sum(-1)
    assert ((by_inverse - exact).abs() > exact).any()
    torch.testing.assert_close(mean, Z.square().sum(-1), rtol=0, atol=1e-2)
    assert torch.linalg.eigvalsh(given.posterior(Z)[1]).min() > -1e-8
