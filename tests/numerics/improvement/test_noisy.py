import math

import pytest
import torch
from botorch.acquisition.analytic import _log_ei_helper

from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.gp.posterior import stacked
from robustbo.numerics.improvement.noisy import log_ei, log_improvement, log_mixed_improvement, over
from tests.numerics.gp.test_posterior import latent


def improvement(S=64, **options):
    given = latent(**options)
    return over(given, given.X, torch.randn(S, len(given.X), generator=torch.Generator().manual_seed(1)))


def test_log_ei_is_botorchs_and_its_asymptote_meets_it():
    u = torch.tensor([30.0, 5.0, 0.0, -0.999, -1.001, -7.0, -300.0, -9999.0, -10001.0, -1e9])
    torch.testing.assert_close(log_ei(u), _log_ei_helper(u), rtol=1e-12, atol=0)


def test_log_ei_has_gradients_everywhere():
    u = torch.tensor([3.0, 0.0, -2.0, -50.0, -2e4, -1e150], requires_grad=True)
    log_ei(u).sum().backward()
    assert u.grad.isfinite().all()
    assert torch.autograd.gradcheck(log_ei, (torch.tensor([3.0, 0.0, -2.0, -50.0], requires_grad=True),))


def test_log_ei_refuses_second_derivatives_and_takes_infinities():
    u = torch.tensor([0.5, -3.0], requires_grad=True)
    (slope,) = torch.autograd.grad((u * log_ei(u)).sum(), u, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()
    assert log_ei(torch.tensor([-math.inf, math.inf])).tolist() == pytest.approx([-5e299, math.log(1e150)])


def test_log_ei_keeps_shape_and_type():
    assert log_ei(torch.tensor(0.5, dtype=torch.float32)).dtype == torch.float32
    assert log_ei(torch.tensor(0.5)).shape == ()
    assert log_ei(torch.zeros(2, 0, 3)).shape == (2, 0, 3)


def test_it_is_the_dense_mean_over_samples():
    """Each sample by itself: condition the process on the latent values, and take the closed form."""
    to, x = improvement(S=5), torch.tensor([[0.2, 0.9], [0.5, 0.5]])
    values = []
    for s in range(5):
        k, given = to.latent.covariance(x, to.Z), to.latent
        mean, variance = given.m + k @ to.a[:, s], given.s2f - (k @ to.K_inverse * k).sum(-1)
        u = (mean - to.best[s]) / variance.sqrt()
        normal = torch.distributions.Normal(0.0, 1.0)
        values.append(variance.sqrt() * (normal.log_prob(u).exp() + u * normal.cdf(u)))
    torch.testing.assert_close(log_improvement(to, x)[0], torch.stack(values).mean(0).log(), rtol=1e-8, atol=1e-8)


def test_the_samples_have_the_posteriors_moments():
    given = latent(noise=0.5)
    to = over(given, given.X, torch.randn(20000, 8, generator=torch.Generator().manual_seed(1)))
    f = given.m + torch.linalg.solve(to.K_inverse, to.a)
    K = given.covariance(given.X, given.X)
    torch.testing.assert_close(f.mean(1), given.m + K @ given.al, atol=0.02, rtol=0)
    torch.testing.assert_close(f.var(1), (K - K @ given.P @ K).diagonal(), atol=0.01, rtol=0)


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_the_gradient_agrees_with_differences(kernel):
    to, x, step = improvement(kernel=kernel), torch.tensor([[0.2, 0.9], [0.5, 0.5], [0.9, 0.1]]), 1e-6
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


def test_the_gradient_is_that_of_the_formula_by_automatic_differentiation():
    to, x = improvement(l=(0.2, 0.3)), torch.tensor([[0.2, 0.9], [0.45, 0.55]], requires_grad=True)
    k = KERNELS["matern52"](squared_differences(x, to.Z), to.latent.l, to.latent.s2f).K
    sd = (to.latent.s2f - (k @ to.K_inverse * k).sum(-1)).sqrt()
    log_h = log_ei((to.latent.m + k @ to.a - to.best) / sd.unsqueeze(-1))
    expected = log_h.logsumexp(-1) - math.log(64) + sd.log()
    value, gradient = log_improvement(to, x)
    torch.testing.assert_close(value, expected.detach(), rtol=1e-11, atol=0)
    torch.testing.assert_close(gradient, torch.autograd.grad(expected.sum(), x)[0], rtol=1e-10, atol=0)


def test_at_a_measured_point_and_far_away_all_is_finite():
    to = improvement()
    for x in (to.Z[:2], torch.full((1, 2), 1e6)):
        assert all(part.isfinite().all() for part in log_improvement(to, x))


def test_certain_values_leave_the_classical_closed_form():
    """With next to no noise every sample is the data."""
    to = improvement(noise=1e-9)
    x = torch.tensor([[0.1, 0.2]])
    k = to.latent.covariance(x, to.Z)
    mean, sd = to.latent.m + k @ to.latent.al, (to.latent.s2f - (k @ to.latent.P * k).sum(-1)).sqrt()
    best = (to.latent.m + to.latent.covariance(to.Z, to.Z) @ to.latent.al).max()
    expected = log_ei((mean - best) / sd) + sd.log()
    assert log_improvement(to, x)[0].item() == pytest.approx(expected.item(), abs=0.05)


def test_a_batch_is_a_loop():
    to, x = improvement(), torch.rand(4, 2)
    value, gradient = log_improvement(to, x)
    for b in range(4):
        single = log_improvement(to, x[b : b + 1])
        assert math.isclose(single[0].item(), value[b].item(), rel_tol=1e-10)
        torch.testing.assert_close(single[1][0], gradient[b])


def test_of_several_models_it_is_the_weighted_mean():
    models = [latent(), latent(noise=0.5, l=(0.9, 0.3)), latent(s2f=0.5, m=-0.4)]
    w, step = torch.tensor([0.5, 0.2, 0.3]), 1e-6
    x = torch.tensor([[0.2, 0.9], [0.5, 0.5], [0.1, 0.1], [0.8, 0.3]])
    normal = torch.randn(64, 8, generator=torch.Generator().manual_seed(1))
    to = over(stacked(models), models[0].X, normal)
    value, slope = log_mixed_improvement(to, w.log(), x)
    alone = torch.stack([log_improvement(over(model, model.X, normal), x)[0] for model in models])
    torch.testing.assert_close(value.exp(), w @ alone.exp())
    for j in range(2):
        up, down = (log_mixed_improvement(to, w.log(), x + s * torch.eye(2)[j])[0] for s in (step, -step))
        torch.testing.assert_close(slope[:, j], (up - down) / (2 * step), rtol=1e-5, atol=1e-5)


def test_of_one_model_it_is_that_models_to_the_last_bit():
    model, x = latent(), torch.tensor([[0.2, 0.9], [0.5, 0.5]])
    to = over(stacked([model]), model.X, torch.randn(64, 8, generator=torch.Generator().manual_seed(1)))
    for found, wanted in zip(log_mixed_improvement(to, torch.zeros(1), x), log_improvement(to, x), strict=True):
        assert found.equal(wanted)
