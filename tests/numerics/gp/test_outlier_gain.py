import math

import pytest
import torch
from gpytorch.kernels import MaternKernel, RBFKernel

from robustbo.numerics.gp.leave_one_out import leave_one_out, leave_out
from robustbo.numerics.gp.outlier_gain import gain, gain_together, group_variance, groups_left_out
from robustbo.numerics.gp.replicates import Groups


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
        torch.testing.assert_close(
            group_variance(e, v, Groups()), torch.tensor(support["rho_star"]), rtol=1e-9, atol=1e-9
        )
        torch.testing.assert_close(gain(e, v), torch.tensor(support["mll_gain"]), rtol=1e-9, atol=1e-9)


def test_the_gain_is_what_the_likelihood_gains():
    Sg, y = torch.eye(3) + 0.5, torch.tensor([0.1, 4.0, -0.3])
    mean, v = leave_one_out(y, Sg, torch.zeros(3))

    def log_likelihood(rho):
        return torch.distributions.MultivariateNormal(torch.zeros(3), Sg + torch.diag(rho)).log_prob(y)

    best = torch.zeros(3)
    best[1] = group_variance(y - mean, v, Groups())[1]
    torch.testing.assert_close(gain(y - mean, v)[1], log_likelihood(best) - log_likelihood(torch.zeros(3)))


def test_gradients_of_the_gain():
    e, v = torch.tensor([3.0, -2.0, 0.5], requires_grad=True), torch.tensor([1.0, 2.0, 1.0], requires_grad=True)
    assert torch.autograd.gradcheck(gain, (e, v))


def test_an_expected_value_gains_nothing():
    assert torch.equal(gain(torch.tensor([0.0, 1.0]), torch.ones(2)), torch.zeros(2))
    assert torch.equal(group_variance(torch.tensor([0.0, 1.0]), torch.ones(2), Groups()), torch.zeros(2))


def test_extreme_errors_have_finite_gains_and_gradients():
    e = torch.tensor([0.0, 1e-160, 1e100, -1e150], requires_grad=True)
    value = gain(e, torch.ones(4))
    value.sum().backward()
    assert value.isfinite().all()
    assert e.grad.isfinite().all()


def test_a_batch_is_a_loop():
    e, v = torch.randn(3, 5) * 3, torch.rand(3, 5) + 0.1
    torch.testing.assert_close(gain(e, v), torch.stack([gain(*row) for row in zip(e, v, strict=True)]))


def smooth(m, seed=0):
    X = torch.rand(m, 2, generator=torch.Generator().manual_seed(seed))
    return torch.exp(-torch.cdist(X, X).square() / 0.2) + 0.01 * torch.eye(m)


def log_likelihood(y, Sg):
    return torch.distributions.MultivariateNormal(torch.zeros(len(y)), Sg).log_prob(y)


class TestGroups:
    """Of observations that are left out at once."""

    rho = torch.tensor([0.0, 2.0, 0.3, 0.0, 0.0, 5.0, 0.0, 0.0], dtype=torch.float64)
    y = torch.tensor([0.1, 4.0, -0.3, 3.0, 0.5, -4.0, 0.2, 0.7], dtype=torch.float64)
    group = torch.tensor([1, 3, 5])

    def test_what_the_others_predict_is_the_conditional_distribution(self):
        K0, rest = smooth(8), torch.tensor([0, 2, 4, 6, 7])
        mean, V = leave_out(self.y, K0, self.rho, self.group)
        W = K0[self.group][:, rest] @ torch.linalg.inv((K0 + torch.diag(self.rho))[rest][:, rest])
        torch.testing.assert_close(mean, W @ self.y[rest])
        torch.testing.assert_close(V, K0[self.group][:, self.group] - W @ K0[rest][:, self.group])

    def test_one_that_is_left_out_is_left_out_alone(self):
        mean, v = leave_one_out(self.y, smooth(8), self.rho)
        for i in range(8):
            one = leave_out(self.y, smooth(8), self.rho, torch.tensor([i]))
            torch.testing.assert_close(one.mean, mean[[i]])
            torch.testing.assert_close(one.variance, v[[i]].unsqueeze(-1))

    def test_a_gross_member_spoils_nothing(self):
        gross = self.rho.index_fill(0, torch.tensor([1]), 1e20)
        found, plain = (leave_out(self.y, smooth(8), rho, self.group) for rho in (gross, self.rho))
        torch.testing.assert_close(found.mean, plain.mean, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(found.variance, plain.variance, rtol=1e-5, atol=1e-5)

    def test_the_gain_is_what_the_likelihood_gains(self):
        rest = self.rho.index_fill(0, self.group, 0.0)
        mean, V = leave_out(self.y, smooth(8), rest, self.group)
        e = self.y[self.group] - mean
        added = rest.index_put((self.group,), (e.square() - V.diagonal()).mean())
        gained = log_likelihood(self.y, smooth(8) + torch.diag(added)) - log_likelihood(
            self.y, smooth(8) + torch.diag(rest)
        )
        torch.testing.assert_close(gain_together(e, V), gained)

    def test_of_one_it_is_that_of_one_and_of_several_that_know_nothing_of_each_other_the_sum(self):
        e, v = torch.tensor([3.0, -3.0, 3.0]), torch.full((3,), 2.0)
        torch.testing.assert_close(gain_together(e[:1], v[:1].diag()), gain(e, v)[0])
        torch.testing.assert_close(gain_together(e, v.diag()), gain(e, v).sum())

    @pytest.mark.parametrize(("off", "short"), [(10.0, 0.02), (100.0, 1e-5)])
    def test_no_variance_gains_much_more_where_it_is_gross(self, off, short):
        generator, factors = torch.Generator().manual_seed(1), 10 ** torch.linspace(-2, 0.5, 81)
        for m in range(2, 7):
            V = smooth(m, seed=m)
            e = off - torch.linalg.cholesky(V) @ torch.randn(m, generator=generator)
            rho = (e.square() - V.diagonal()).mean()
            best = max(log_likelihood(e, V + f * rho * torch.eye(m)) for f in [1.0, *factors.tolist()])
            assert -1e-9 <= best - log_likelihood(e, V) - gain_together(e, V) < short

    def test_gradients(self):
        V = smooth(3).requires_grad_()
        e = torch.tensor([3.0, -2.0, 0.5], requires_grad=True)
        assert torch.autograd.gradcheck(lambda e, V: gain_together(e, 0.5 * (V + V.mT)), (e, V))

    @pytest.mark.parametrize("magnitude", [0.0, 1e-160, 1e100])
    def test_extreme_errors_have_finite_gains_and_gradients(self, magnitude):
        e = torch.full((3,), magnitude, requires_grad=True)
        value = gain_together(e, smooth(3))
        value.backward()
        assert value >= 0
        assert value.isfinite()
        assert e.grad.isfinite().all()

    def test_a_group_has_its_gain_at_its_first_and_the_others_keep_theirs(self):
        e, v, V = torch.tensor([3.0, 9.0, 0.5, 9.0]), torch.ones(4), torch.tensor([[2.0, 1.0], [1.0, 2.0]])
        left = torch.tensor([4.0, 5.0])
        found = groups_left_out(e, v, Groups(((1, 3),)), lambda _: (left, V))
        assert found.e.tolist() == [3.0, 4.0, 0.5, 5.0]
        assert found.v.tolist() == [1.0, 2.0, 1.0, 2.0]
        assert found.gains.tolist() == [gain(e, v)[0], gain_together(left, V), 0.0, -math.inf]
        assert e[1] == 9.0
