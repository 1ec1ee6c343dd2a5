import pytest
import torch
from gpytorch.kernels import MaternKernel, RBFKernel

from robustbo.numerics.cholesky import leave_one_out
from robustbo.numerics.covariance import LogNormal, stationary
from robustbo.numerics.hyperparameters import Fit, Model, log_posterior
from robustbo.numerics.kernels import squared_differences
from robustbo.numerics.pursuit import (
    Level,
    errors,
    gain,
    optimal_variance,
    polish,
    screen,
    settle,
    support_posterior,
    sweep,
    walk,
)


def covariance(case):
    X, kernel = torch.tensor(case["X"]), case["kernel"]
    module = (
        RBFKernel(ard_num_dims=X.shape[1]) if kernel["name"] == "rbf" else MaternKernel(2.5, ard_num_dims=X.shape[1])
    )
    module.lengthscale = torch.tensor(kernel["lengthscales"])
    K = kernel["variance"] * module(X).to_dense().detach()
    return K + case["noise_variance"] * torch.eye(len(X))


def left_out(case, support):
    y, rho = torch.tensor(case["y"]) - case["mean"], torch.tensor(support["rho"])
    return y, leave_one_out(y, covariance(case), rho)


def test_leave_one_out_of_the_reference_cases(fixed):
    for support in fixed["supports"].values():
        _, (mean, variance) = left_out(fixed, support)
        torch.testing.assert_close(mean, torch.tensor(support["loo_mean"]), rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(variance, torch.tensor(support["loo_var"]), rtol=1e-9, atol=1e-9)


def test_variances_and_gains_of_the_reference_cases(fixed):
    for support in fixed["supports"].values():
        y, (mean, variance) = left_out(fixed, support)
        inactive = torch.tensor(support["inactive"], dtype=torch.long)
        e, v = (y - mean)[inactive], variance[inactive]
        torch.testing.assert_close(optimal_variance(e, v), torch.tensor(support["rho_star"]), rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(gain(e, v), torch.tensor(support["mll_gain"]), rtol=1e-9, atol=1e-9)


def test_the_gain_is_what_the_likelihood_gains():
    Sg, y = torch.eye(3) + 0.5, torch.tensor([0.1, 4.0, -0.3])
    mean, v = leave_one_out(y, Sg, torch.zeros(3))

    def log_likelihood(rho):
        return torch.distributions.MultivariateNormal(torch.zeros(3), Sg + torch.diag(rho)).log_prob(y)

    best = torch.zeros(3)
    best[1] = optimal_variance(y - mean, v)[1]
    torch.testing.assert_close(gain(y - mean, v)[1], log_likelihood(best) - log_likelihood(torch.zeros(3)))


def test_gradients_of_the_gain():
    e, v = torch.tensor([3.0, -2.0, 0.5], requires_grad=True), torch.tensor([1.0, 2.0, 1.0], requires_grad=True)
    assert torch.autograd.gradcheck(gain, (e, v))


def test_an_expected_value_gains_nothing():
    assert torch.equal(gain(torch.tensor([0.0, 1.0]), torch.ones(2)), torch.zeros(2))
    assert torch.equal(optimal_variance(torch.tensor([0.0, 1.0]), torch.ones(2)), torch.zeros(2))


def test_extreme_errors_have_finite_gains_and_gradients():
    e = torch.tensor([0.0, 1e-160, 1e100, -1e150], requires_grad=True)
    value = gain(e, torch.ones(4))
    value.sum().backward()
    assert value.isfinite().all()
    assert e.grad.isfinite().all()


def test_a_batch_is_a_loop():
    e, v = torch.randn(3, 5) * 3, torch.rand(3, 5) + 0.1
    assert torch.equal(gain(e, v), torch.stack([gain(*row) for row in zip(e, v, strict=True)]))


def fake(F):
    return Fit(torch.zeros(1), torch.zeros(1), F, F, 0, True)


class Additive:
    """A search whose F is a sum of known gains, so that the best support of each size is known."""

    def __init__(self, worth):
        self.worth, self.visited = worth, []

    def gains(self, level):
        return self.worth

    def refit(self, level, support):
        self.visited.append(support)
        return Level(support, fake(sum(self.worth[i] for i in support)))


def test_a_walk_takes_the_largest_gains_in_both_directions():
    search = Additive([1.0, 5.0, 0.0, 3.0])
    forward = walk(Level((), fake(0.0)), [0, 1, 2, 4], search.gains, search.refit)
    backward = walk(Level((0, 1, 2, 3), fake(9.0)), [3, 2, 1, 0], search.gains, search.refit)
    assert [level.support for level in forward] == [(), (1,), (1, 3), (0, 1, 3)]
    assert [level.support for level in backward] == [(0, 1, 3), (1, 3), (1,), ()]


def test_a_walk_takes_a_wrong_choice_back():
    """Alone 0 looks best; together 1 and 2 are."""
    F = {(): 0.0, (0,): 3.0, (1,): 2.0, (2,): 2.0, (0, 1): 4.0, (0, 2): 4.0, (1, 2): 9.0}

    def gains(level):
        return [3.0, 2.0, 1.9] if level.support in ((), (0,)) else [0.1, 5.0, 5.0]

    found = walk(Level((), fake(0.0)), [1, 2], gains, lambda _, support: Level(support, fake(F[support])))
    assert [level.support for level in found] == [(0,), (1, 2)]
    greedy = walk(Level((), fake(0.0)), [1, 2], gains, lambda _, support: Level(support, fake(F[support])), max_swaps=0)
    assert [level.support for level in greedy] == [(0,), (0, 1)]


def test_settling_keeps_those_who_pay_and_takes_those_who_would():
    search = Additive([1.0, 5.0, 0.0, 3.0])
    settled = settle(Level((0, 2), fake(1.0)), lambda k: 2.0 * k, search.gains, search.refit)
    assert settled.support == (1, 3)
    assert settle(settled, lambda k: 2.0 * k, search.gains, search.refit) is settled


def test_the_support_posterior_is_a_distribution_that_prefers_the_best_score():
    levels = [Level(tuple(range(k)), fake(F)) for k, F in enumerate([0.0, 10.0, 11.0])]
    posterior = support_posterior(levels, lambda k: 5.0 * k)
    assert sum(posterior) == pytest.approx(1.0)
    assert max(posterior) == posterior[1]


@pytest.mark.parametrize("magnitude", [10.0, 1e6, 1e12])
def test_screening_finds_gross_values_and_not_their_neighbours(magnitude):
    X = torch.linspace(0, 1, 15).unsqueeze(-1)
    y = torch.sin(6 * X).squeeze(-1)
    y[[4, 9]] += magnitude
    prior = LogNormal(0.0, 1.0)
    model = Model(y, stationary(squared_differences(X, X), "rbf", prior, None), LogNormal(-4.0, 1.0))
    assert screen(model, model.start, 5.0).support == (4, 9)


def test_a_sweep_back_replaces_what_it_can_better():
    search = Additive([1.0, 5.0, 3.0])
    poor = [Level((), fake(0.0)), Level((0,), fake(1.0)), Level((1, 2), fake(9.0))]
    found = sweep(poor, [0, 1, 2], search.gains, search.refit)
    assert [level.support for level in found] == [(), (1,), (1, 2)]
    assert [level.fit.F for level in found] == [0.0, 5.0, 9.0]


def test_polishing_sets_variances_to_their_optimum_and_never_lowers_the_density():
    X = torch.linspace(0, 1, 12).unsqueeze(-1)
    y = torch.sin(6 * X).squeeze(-1)
    y[5] += 100.0
    model = Model(y, stationary(squared_differences(X, X), "rbf", LogNormal(0.0, 1.0), None), LogNormal(-4.0, 1.0))
    rho = torch.zeros(12).index_fill(0, torch.tensor([5]), 1.0)
    rough = Fit(model.start, rho, log_posterior(model, model.start, rho).F.item(), 0.0, 0, True)
    found = polish(model, rough, (5,))
    e, v = errors(model, found.theta, found.rho)
    assert found.F > rough.F
    assert found.rho[5] == pytest.approx(optimal_variance(e, v)[5].item(), rel=1e-3)
