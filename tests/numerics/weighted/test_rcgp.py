import json
from pathlib import Path

import pytest
import torch
from torch.autograd import gradcheck

from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.weighted.rcgp import (
    Weighting,
    condition,
    constant,
    in_sample,
    inverse_multiquadric,
    leave_one_out,
    objective,
)

FOLDER = Path(__file__).parents[2] / "fixtures"
FIELDS = ("w", "m_w", "J", "alpha", "latent_mean", "latent_var", "loo_latent_mean", "loo_latent_var", "loo_log_density")


class Case:
    """A reference case: see docs/equations.md."""

    def __init__(self, name):
        content = json.loads((FOLDER / f"rcgp_{name}.json").read_text())
        self.wanted = {key: torch.tensor(content[key]) for key in FIELDS} | {"sum": content["loo_sum"]}
        X, y, X_test = (torch.tensor(content[key]) for key in ("X", "y", "X_test"))
        kernel, l = KERNELS[content["kernel"]["name"]], torch.tensor(content["kernel"]["lengthscales"])
        s2f = torch.tensor(content["kernel"]["variance"])
        self.K, self.k = (kernel(squared_differences(Z, X), l, s2f).K for Z in (X, X_test))
        self.m, self.s2 = content["prior_mean"], torch.full_like(y, content["noise_variance"])
        self.r, self.s2f, self.c = y - self.m, s2f, torch.tensor(content["imq_c"])
        self.beta = content["imq_beta"]
        self.weighting = inverse_multiquadric(self.r, self.c)
        self.given = condition(self.K, self.r, self.s2, self.weighting)


@pytest.fixture(params=["01_rbf_1d", "02_matern_2d"])
def case(request):
    return Case(request.param)


def close(found, wanted, tolerance=1e-10):
    torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance)


def random_case(n=7, seed=0):
    generator = torch.Generator().manual_seed(seed)
    root = torch.randn(n, n, generator=generator)
    r = torch.randn(n, generator=generator) * 3
    s2 = 0.1 + torch.rand(n, generator=generator)
    return root @ root.mT / n, r, s2


class TestTheReferences:
    def test_weights_and_targets(self, case):
        close(case.beta * case.weighting.share.sqrt(), case.wanted["w"])
        close(case.weighting.J, case.wanted["J"])
        close(case.m - case.s2 * case.weighting.b, case.wanted["m_w"])

    def test_the_posterior(self, case):
        close(case.given.v, case.wanted["alpha"])
        close(case.m + case.k @ case.given.v, case.wanted["latent_mean"])
        close(case.s2f - (case.k @ case.given.P * case.k).sum(-1), case.wanted["latent_var"])

    def test_leave_one_out(self, case):
        e, t = leave_one_out(case.K, case.given)
        close(case.r + case.m - e, case.wanted["loo_latent_mean"], 1e-8)
        close(t - case.s2, case.wanted["loo_latent_var"], 1e-8)
        density = torch.distributions.Normal(case.r - e, t.sqrt()).log_prob(case.r)
        close(density, case.wanted["loo_log_density"], 1e-8)

    def test_the_objective(self, case):
        found = objective(case.K, case.given, torch.ones_like(case.r))
        assert found.L.item() == pytest.approx(case.wanted["sum"], rel=1e-10)


class TestWeights:
    def test_the_target_moves_by_the_slope_of_the_log_squared_weight(self):
        r = torch.tensor([-4.0, -0.1, 0.0, 0.5, 30.0], requires_grad=True)
        found = inverse_multiquadric(r, torch.tensor(0.7))
        (slope,) = torch.autograd.grad(found.share.log().sum(), r)
        close(found.b.detach(), -slope)

    def test_a_large_threshold_is_the_plain_process(self):
        K, r, s2 = random_case()
        wide, plain = (condition(K, r, s2, w) for w in (inverse_multiquadric(r, torch.tensor(1e9)), constant(r)))
        close(wide.v, plain.v, 1e-12)
        close(wide.P, plain.P, 1e-12)

    @pytest.mark.parametrize("size", [1e3, 1e8, 1e150])
    def test_the_wilder_a_value_the_less_it_tells(self, size):
        """At any size the prediction of the others tends to the one without it, but for rounding."""
        K, r, s2 = random_case()
        without = condition(K[1:, 1:], r[1:], s2[1:], inverse_multiquadric(r[1:], torch.tensor(1.0)))
        r = r.index_put((torch.tensor([0]),), torch.tensor(size))
        given = condition(K, r, s2, inverse_multiquadric(r, torch.tensor(1.0)))
        assert ((K[1:] @ given.v) - K[1:, 1:] @ without.v).abs().max() < 10 / size + 1e-12
        assert all(x.isfinite().all() for x in leave_one_out(K, given))


class TestLeaveOneOut:
    def test_it_is_the_prediction_of_the_others(self):
        K, r, s2 = random_case()
        weighting = inverse_multiquadric(r, torch.tensor(1.0))
        e, t = leave_one_out(K, condition(K, r, s2, weighting))
        for i in range(len(r)):
            rest = torch.arange(len(r)) != i
            given = condition(K[rest][:, rest], r[rest], s2[rest], Weighting(weighting.J[rest], weighting.b[rest]))
            close(e[i], r[i] - K[i, rest] @ given.v)
            close(t[i], K[i, i] - K[i, rest] @ given.P @ K[i, rest] + s2[i])

    def test_batches_are_loops(self):
        cases = [random_case(seed=seed) for seed in range(3)]
        K, r, s2 = (torch.stack(part) for part in zip(*cases, strict=True))
        found = leave_one_out(K, condition(K, r, s2, inverse_multiquadric(r, torch.tensor(1.0))))
        for i, (K_i, r_i, s2_i) in enumerate(cases):
            one = leave_one_out(K_i, condition(K_i, r_i, s2_i, inverse_multiquadric(r_i, torch.tensor(1.0))))
            close(found.e[i], one.e)
            close(found.t[i], one.t)

    def test_in_sample_is_the_posterior_at_the_observations(self):
        K, r, s2 = random_case()
        given = condition(K, r, s2, inverse_multiquadric(r, torch.tensor(1.0)))
        e, t = in_sample(given)
        close(e, r - K @ given.v)
        close(t, (K - K @ given.P @ K).diagonal() + s2)


class TestTheObjective:
    def test_its_gradient_in_covariance_and_noise(self):
        K, r, s2 = random_case()
        weighting, share = inverse_multiquadric(r, torch.tensor(1.0)), torch.rand(len(r))

        class Explicit(torch.autograd.Function):
            @staticmethod
            def forward(ctx, root, s2):
                found = objective(root @ root.mT, condition(root @ root.mT, r, s2, weighting), share)
                ctx.save_for_backward((found.G + found.G.mT) @ root, found.L_s2)
                return found.L

            @staticmethod
            def backward(ctx, by):
                return tuple(by * part for part in ctx.saved_tensors)

        root = torch.linalg.cholesky(K)
        assert gradcheck(Explicit.apply, (root.requires_grad_(), s2.requires_grad_()))

    def test_one_value_alone_is_predicted_by_the_prior(self):
        K, r, s2 = torch.tensor([[2.0]]), torch.tensor([1.5]), torch.tensor([0.25])
        found = objective(K, condition(K, r, s2, constant(r)), torch.ones(1))
        close(found.L, torch.distributions.Normal(0.0, torch.tensor(2.25).sqrt()).log_prob(torch.tensor(1.5)))
