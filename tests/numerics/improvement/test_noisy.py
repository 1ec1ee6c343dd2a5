import math

import pytest
import torch

from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.improvement import noisy
from robustbo.numerics.improvement.conditioned import means
from robustbo.numerics.improvement.noisy import contenders, log_improvement, over
from robustbo.numerics.improvement.normal import log_ei
from tests.numerics.gp.test_posterior import latent

ALONE = torch.zeros(1)


def normal(S, m=8, seed=1):
    return torch.randn(S, m, generator=torch.Generator().manual_seed(seed))


def improvement(S=64, is_whole=True, **options):
    """With all inputs in the baseline, or with those alone that are the best in some sample."""
    given = latent(**options)
    return over([given], ALONE, given.X, normal(S), required=torch.full((8,), is_whole))


def in_tensors(to):
    of = {"al": to.processes.al, "U": to.processes.U, "R": to.processes.R, "a": to.a, "best": to.best}
    return {name: torch.from_numpy(each[0]) for name, each in of.items()}


def baseline(to):
    return torch.from_numpy(to.processes.XZ[to.processes.al.shape[-1] :])


def sampled(given, to):
    """The samples at the baseline, ``z x S``."""
    mean, S = given.posterior(baseline(to))
    return mean.unsqueeze(-1) + torch.linalg.solve(torch.from_numpy(to.processes.R[0]), torch.from_numpy(to.a[0])), S


def test_by_another_pair_of_factors_of_the_inverse_it_is_the_same():
    given, x = latent(), torch.tensor([[0.2, 0.9], [0.45, 0.55]])
    other = given._replace(root=given.root.mT @ given.root, partner=torch.eye(8))
    values = [log_improvement(over([of], ALONE, of.X, normal(64)), x) for of in (given, other)]
    torch.testing.assert_close(values[0], values[1], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(given.posterior(x), other.posterior(x))
    torch.testing.assert_close(given.marginals(x), other.marginals(x))


def closed_form(mean, variance, best):
    """The logarithm of the mean over samples (rows) of the expected improvement."""
    sd = variance.sqrt()
    u, unit = (mean - best) / sd, torch.distributions.Normal(0.0, 1.0)
    return (sd * (unit.log_prob(u).exp() + u * unit.cdf(u))).mean(0).log()


@pytest.mark.parametrize("is_whole", [True, False])
def test_it_is_the_dense_mean_over_samples(is_whole):
    """The joint distribution of data, baseline and new point, conditioned on the first two."""
    given, x = latent(noise=0.1), torch.tensor([[0.2, 0.9], [0.5, 0.5]])
    to = improvement(S=40, is_whole=is_whole, noise=0.1)
    f, _ = sampled(given, to)
    Z = baseline(to)
    (mean, C), z = given.posterior(torch.cat([Z, x])), len(Z)
    assert z == 8 if is_whole else z < 8
    weights = torch.linalg.solve(C[:z, :z] + 1e-6 * given.s2f * torch.eye(z), C[:z, z:]).mT
    M = mean[z:, None] + weights @ (f - mean[:z, None])
    V = (C[z:, z:] - weights @ C[:z, z:]).diagonal()
    expected = closed_form(M.mT, V, given.m + torch.from_numpy(to.best[0])[:, None])
    torch.testing.assert_close(log_improvement(to, x)[0], expected, rtol=1e-6, atol=1e-6)


def test_with_all_inputs_in_the_baseline_the_data_tell_no_more():
    """The latent values say it all: the process conditioned on them alone."""
    given, to = latent(noise=0.5), improvement(noise=0.5)
    f, _ = sampled(given, to)
    x, X = torch.rand(40, 2, generator=torch.Generator().manual_seed(3)), baseline(to)
    weights = torch.linalg.solve(given.covariance(X, X), given.covariance(X, x)).mT
    V = given.s2f - (weights * given.covariance(x, X)).sum(-1)
    M = given.m + weights @ (f - given.m)
    expected = closed_form(M.mT, V, given.m + torch.from_numpy(to.best[0])[:, None])
    torch.testing.assert_close(log_improvement(to, x)[0], expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("noise", [0.01, 0.3])
def test_few_points_in_the_baseline_are_as_good_as_all(noise):
    """Where an improvement is likely, up to the error of sampling."""
    x = torch.rand(200, 2, generator=torch.Generator().manual_seed(3))
    whole, few = (log_improvement(improvement(20000, is_in, noise=noise), x)[0] for is_in in (True, False))
    likely = whole > whole.max() - 3
    assert (whole - few)[likely].abs().max() < 0.05


def test_the_samples_have_the_posteriors_moments():
    given = latent(noise=0.5)
    f, S = sampled(given, improvement(S=20000, noise=0.5))
    torch.testing.assert_close(f.mean(1), given.posterior(given.X)[0], atol=0.02, rtol=0)
    torch.testing.assert_close(f.var(1), S.diagonal(), atol=0.01, rtol=0)


def test_the_best_is_that_of_the_points_that_count_and_is_in_the_baseline():
    given, counts = latent(noise=0.1), torch.arange(8) < 3
    to = over([given], ALONE, given.X, normal(64), counts)
    assert {tuple(row) for row in baseline(to).tolist()} <= {tuple(row) for row in given.X[:3].tolist()}
    f, _ = sampled(given, to)
    torch.testing.assert_close(given.m + torch.from_numpy(to.best[0]), f.amax(0))


def test_where_nothing_is_known_it_is_conditioned_on_though_it_is_never_the_best():
    given = latent()
    Z = torch.cat([given.X, torch.tensor([[3.0, 3.0]])])
    to = over([given], ALONE, Z, normal(4, 9), required=torch.arange(9) == 8)
    assert baseline(to)[-1].tolist() == [3.0, 3.0]


def test_contenders_are_those_with_the_greatest_means(monkeypatch):
    given, X = latent(), torch.rand(300, 2)
    mean = means([given], X)
    torch.testing.assert_close(mean[0], given.posterior(X)[0])
    assert torch.equal(contenders([given], X[:256]), X[:256])
    few = contenders([given], X)
    assert len(few) == noisy.MOST
    assert means([given], few).min() >= mean.sort().values[0, 300 - noisy.MOST] - 1e-12


@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_the_gradient_agrees_with_differences(kernel, is_whole):
    to = improvement(kernel=kernel, is_whole=is_whole)
    x, step = torch.tensor([[0.2, 0.9], [0.5, 0.5], [0.9, 0.1]]), 1e-6
    _, gradient = log_improvement(to, x)
    for j in range(2):
        move = step * torch.eye(2)[j]
        difference = (log_improvement(to, x + move)[0] - log_improvement(to, x - move)[0]) / (2 * step)
        torch.testing.assert_close(gradient[:, j], difference, rtol=1e-3, atol=1e-5)


def test_the_gradient_far_below_the_best_agrees_with_differences():
    """Where the logarithm is -1e12 and less: no difference of two such logarithms gives the slope."""
    to, x, step = improvement(), torch.tensor([[0.2, 0.9], [0.45, 0.55]]), 1e-5
    to = to._replace(best=to.best + 1e6)
    _, gradient = log_improvement(to, x)
    for j in range(2):
        move = step * torch.eye(2)[j]
        difference = (log_improvement(to, x + move)[0] - log_improvement(to, x - move)[0]) / (2 * step)
        torch.testing.assert_close(gradient[:, j], difference, rtol=1e-5, atol=0)


@pytest.mark.parametrize("is_whole", [True, False])
def test_the_gradient_is_that_of_the_formula_by_automatic_differentiation(is_whole):
    given, to = latent(l=(0.2, 0.3)), improvement(l=(0.2, 0.3), is_whole=is_whole)
    x = torch.tensor([[0.2, 0.9], [0.45, 0.55]], requires_grad=True)
    k, kz = (KERNELS["matern52"](squared_differences(x, X), given.l, given.s2f).K for X in (given.X, baseline(to)))
    part = in_tensors(to)
    c = kz - k @ given.root.mT @ part["U"].mT
    sd = (given.s2f - (k @ given.root.mT).square().sum(-1) - (c @ part["R"] * c).sum(-1)).sqrt()
    log_h = log_ei(((k @ part["al"]).unsqueeze(-1) + c @ part["a"] - part["best"]) / sd.unsqueeze(-1))
    expected = log_h.logsumexp(-1) - math.log(64) + sd.log()
    value, gradient = log_improvement(to, x)
    torch.testing.assert_close(value, expected.detach(), rtol=1e-9, atol=0)
    torch.testing.assert_close(gradient, torch.autograd.grad(expected.sum(), x)[0], rtol=1e-8, atol=0)


def test_at_a_measured_point_and_far_away_all_is_finite():
    to = improvement()
    for x in (baseline(to)[:2], torch.full((1, 2), 1e6)):
        assert all(part.isfinite().all() for part in log_improvement(to, x))


def test_certain_values_leave_the_classical_closed_form():
    """With next to no noise every sample is the data."""
    given, to = latent(noise=1e-9), improvement(noise=1e-9)
    x = torch.tensor([[0.1, 0.2]])
    mean, variance = given.marginals(x)
    best, sd = given.posterior(given.X)[0].max(), variance.sqrt()
    expected = log_ei((mean - best) / sd) + sd.log()
    assert log_improvement(to, x)[0].item() == pytest.approx(expected.item(), abs=0.05)


def test_a_batch_is_a_loop():
    to, x = improvement(), torch.rand(4, 2)
    value, gradient = log_improvement(to, x)
    for b in range(4):
        single = log_improvement(to, x[b : b + 1])
        assert math.isclose(single[0].item(), value[b].item(), rel_tol=1e-8)
        torch.testing.assert_close(single[1][0], gradient[b])


def test_of_several_models_it_is_the_weighted_mean():
    models = [latent(), latent(noise=0.5, l=(0.9, 0.3)), latent(s2f=0.5, m=-0.4)]
    w, step = torch.tensor([0.5, 0.2, 0.3]), 1e-6
    x, whole = torch.tensor([[0.2, 0.9], [0.5, 0.5], [0.1, 0.1], [0.8, 0.3]]), torch.full((8,), True)
    X, drawn = models[0].X, normal(64)
    to = over(models, w.log(), X, drawn, required=whole)
    value, slope = log_improvement(to, x)
    torch.testing.assert_close(log_improvement(to, x, is_sloped=False)[0], value)
    alone = torch.stack([log_improvement(over([model], ALONE, X, drawn, required=whole), x)[0] for model in models])
    torch.testing.assert_close(value.exp(), w @ alone.exp())
    for j in range(2):
        up, down = (log_improvement(to, x + s * torch.eye(2)[j])[0] for s in (step, -step))
        torch.testing.assert_close(slope[:, j], (up - down) / (2 * step), rtol=1e-5, atol=1e-5)
