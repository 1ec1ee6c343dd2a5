import math

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from robustbo.numerics.gp.kernels import squared_differences
from robustbo.numerics.student_t.laplace import CLAMP, Noise, approximate, gradient
from robustbo.numerics.student_t.mode import cold_starts, find_mode
from robustbo.numerics.student_t.signed_posterior import signed_posterior
from tests.numerics.dense import pullback
from tests.numerics.student_t.laplace_cases import NAMES, load

CONVENTIONS = {"signed_W": False, "clamped_W": True}


def laplace(K, y, noise, m=0.0, **options):
    m = torch.as_tensor(m)
    return approximate(K, y, m, noise, find_mode(K, y - m, noise, cold_starts(K, y - m, noise)).a, **options)


def covariance(n=12, seed=0):
    X = torch.rand(n, 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return torch.exp(-10 * squared_differences(X, X).squeeze(-3)) + 0.05 * torch.eye(n).to(X)


def values(n=12, outlier=4.0):
    y = torch.randn(n, generator=torch.Generator().manual_seed(1))
    y[3] += outlier
    return y


def full(found):
    """R."""
    return found.half_R + found.half_R.T


NOISE = Noise(torch.tensor(0.04, dtype=torch.float64), torch.tensor(4.0, dtype=torch.float64))


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("name", NAMES)
class TestFixtures:
    def test_evidence_and_predictions(self, name, convention):
        case = load(name)
        found = laplace(case.K, case.y, case.noise, case.m, is_clamped=CONVENTIONS[convention])
        expected = case.content["modes"][0][convention]
        k = case.kernel(case.X_test, case.X).K
        variance = case.s2f.item() - found.posterior.variance_reduction(k.mT.numpy())
        assert found.L.item() == pytest.approx(expected["log_marginal"], rel=1e-9)
        assert found.posterior.log_det == pytest.approx(expected["logdet_I_plus_KW"], rel=1e-9, abs=1e-9)
        assert (case.m + k @ found.a).tolist() == pytest.approx(expected["latent_mean"], rel=1e-9, abs=1e-12)
        assert variance.tolist() == pytest.approx(expected["latent_var"], rel=1e-9)

    def test_gradient(self, name, convention):
        case = load(name)
        found = gradient(laplace(case.K, case.y, case.noise, case.m, is_clamped=CONVENTIONS[convention]))
        D = squared_differences(case.X, case.X)
        by_kernel = pullback(found.K, D, case.l, case.kernel(case.X, case.X))
        mine = {f"log_lengthscale_{i}": slope for i, slope in enumerate(by_kernel.log_l.tolist())}
        mine |= {"log_variance": by_kernel.log_s2f.item(), "log_sigma2": found.log_s2.sum().item()}
        mine |= {"log_nu": found.log_nu.item(), "mean": found.m.sum().item()}
        expected = case.content["modes"][0][convention]["gradient"]
        assert len(expected) >= 4
        assert {key: mine[key] for key in expected} == pytest.approx(expected, rel=1e-7, abs=1e-9)


class TestPosterior:
    K = covariance().numpy()

    def dense(self, W):
        return np.linalg.inv(np.linalg.inv(self.K) + np.diag(W))

    def test_it_is_the_dense_formula_for_curvatures_of_either_sign(self):
        W = np.linspace(-0.5, 3.0, 12)
        found, Sig = signed_posterior(self.K, W), self.dense(W)
        R = np.diag(W) - W[:, None] * Sig * W
        assert found.is_maximum
        assert found.log_det == pytest.approx(np.linalg.slogdet(np.eye(12) + self.K @ np.diag(W))[1])
        assert_allclose(found.solve(W), W - R @ self.K @ W)
        assert_allclose(full(found), R, atol=1e-12)
        assert_allclose(found.variances, np.diag(Sig))
        assert_allclose(found.variance_reduction(self.K[:, :3]), np.diag(self.K.T @ R @ self.K)[:3])

    def test_what_is_no_maximum_is_said(self):
        assert not signed_posterior(self.K, np.full(12, -5.0)).is_maximum

    @pytest.mark.parametrize("W", [0.0, 1e-300, 1e12])
    def test_extreme_curvatures_will_do(self, W):
        found = signed_posterior(self.K, np.full(12, W))
        assert found.is_maximum
        assert math.isfinite(found.log_det)
        assert_allclose(found.solve(self.K[0]), np.linalg.solve(np.eye(12) + W * self.K, self.K[0]), atol=1e-12)

    def test_a_curvature_of_nothing_tells_nothing(self):
        W = np.array([0.0, 1e-320, -1e-320, -0.0, *np.linspace(-0.5, 3.0, 8)])
        found, Sig = signed_posterior(self.K, W), self.dense(W)
        assert np.abs(full(found)[:4]).max() < 1e-150
        assert full(found)[4:, 4:] == pytest.approx((np.diag(W) - W[:, None] * Sig * W)[4:, 4:], abs=1e-10)
        assert_allclose(found.variances, np.diag(Sig))

    @pytest.mark.parametrize("W", [1.0, -0.1])
    def test_all_of_one_sign_is_no_special_case(self, W):
        found, Sig = signed_posterior(self.K, np.full(12, W)), self.dense(np.full(12, W))
        assert_allclose(found.solve(self.K[0]), np.linalg.solve(np.eye(12) + W * self.K, self.K[0]))
        assert_allclose(found.variances, np.diag(Sig))

    def test_the_order_in_memory_does_not_matter(self):
        W = np.linspace(-0.5, 3.0, 12)
        here, there = signed_posterior(self.K, W), signed_posterior(np.asfortranarray(self.K), W)
        assert there.log_det == pytest.approx(here.log_det)
        assert_allclose(there.half_R, here.half_R, atol=1e-12)
        assert_allclose(there.variances, here.variances)

    @pytest.mark.parametrize("at", [(0, 0), (11, 11)])
    def test_what_is_no_number_is_no_maximum(self, at):
        K = self.K.copy()
        K[at] = np.nan
        assert not signed_posterior(K, np.ones(12)).is_maximum

    def test_what_it_is_given_stays_as_it_is(self):
        K, W = self.K.copy(), np.linspace(-0.5, 3.0, 12)
        found = signed_posterior(K, W)
        _ = full(found), found.variances, found.solve(W)
        assert_allclose(K, self.K, rtol=0)
        assert_allclose(W, np.linspace(-0.5, 3.0, 12), rtol=0)


class TestApproximation:
    def test_many_degrees_of_freedom_give_the_gaussian_process(self):
        K, y = covariance(), values()
        found = laplace(K, y, Noise(torch.tensor(0.04), torch.tensor(1e9)))
        exact = torch.distributions.MultivariateNormal(torch.zeros(12), K + 0.04 * torch.eye(12)).log_prob(y)
        assert found.L.item() == pytest.approx(exact.item(), rel=1e-6)

    def test_an_outliers_negative_curvature_widens_its_posterior(self):
        K, y = covariance(), values()
        found = laplace(K, y, NOISE)
        clamped = laplace(K, y, NOISE, is_clamped=True)
        assert found.W[3] < 0
        assert found.v[3] > clamped.v[3]
        assert (clamped.clamped >= CLAMP).all()
        assert clamped.v.tolist() == pytest.approx(clamped.posterior.variances.tolist(), rel=1e-8)
        assert found.L > clamped.L

    @pytest.mark.parametrize("is_clamped", [False, True])
    def test_the_gradient_agrees_with_differences_in_every_parameter(self, is_clamped):
        K, y, step = covariance(), values(), 1e-5
        direction = covariance(seed=5)
        by = gradient(laplace(K, y, NOISE, 0.1, is_clamped=is_clamped))

        def difference(move):
            up, down = (laplace(*move(sign * step), is_clamped=is_clamped).L for sign in (1, -1))
            return ((up - down) / (2 * step)).item()

        s2, nu = NOISE
        found = {"K": (by.K * direction).sum(), "s2": by.log_s2.sum(), "nu": by.log_nu, "m": by.m.sum()}
        moves = {
            "K": lambda h: (K + h * direction, y, NOISE, 0.1),
            "s2": lambda h: (K, y, Noise(s2 * math.exp(h), nu), 0.1),
            "nu": lambda h: (K, y, Noise(s2, nu * math.exp(h)), 0.1),
            "m": lambda h: (K, y, NOISE, 0.1 + h),
        }
        for key, move in moves.items():
            assert found[key].item() == pytest.approx(difference(move), rel=1e-6, abs=1e-7), key

    def test_order_does_not_matter(self):
        K, y = covariance(), values()
        order = torch.randperm(12, generator=torch.Generator().manual_seed(0))
        there, here = laplace(K, y, NOISE), laplace(K[order][:, order], y[order], NOISE)
        assert here.L.item() == pytest.approx(there.L.item())
        torch.testing.assert_close(here.a, there.a[order])

    def test_every_observation_may_have_a_scale_of_its_own(self):
        K, y = covariance(), values()
        alone, each = laplace(K, y, NOISE), laplace(K, y, Noise(torch.full((12,), 0.04), NOISE.nu))
        assert each.L.item() == pytest.approx(alone.L.item())
        torch.testing.assert_close(gradient(each).log_s2, gradient(alone).log_s2)
