import math

import pytest
import torch

from robustbo.numerics.student_t.laplace import Noise, approximate
from robustbo.numerics.student_t.mode import cold_starts, find_mode
from robustbo.numerics.student_t.predictive import cavity, log_cdf, log_density, variance
from tests.numerics.student_t.laplace_cases import NAMES, load


def noise(s2, nu):
    return Noise(torch.tensor(s2), torch.tensor(nu))


@pytest.mark.parametrize("name", NAMES)
def test_the_fixtures_densities_are_met(name):
    case = load(name)
    expected = case.content["modes"][0]["signed_W"]
    y, mu, v = (torch.tensor(x) for x in (case.content["y_test"], expected["latent_mean"], expected["latent_var"]))
    found = log_density(y, mu, v, case.noise)
    assert found.tolist() == pytest.approx(expected["log_predictive_density_y_test"], rel=1e-9, abs=1e-10)


@pytest.mark.parametrize(("s2", "nu"), [(0.3, 4.0), (1.0, 1.0), (0.01, 2.5), (2.0, 60.0), (2.0, 5000.0)])
@pytest.mark.parametrize("v", [1e-4, 1.0])
class TestDistribution:
    def test_the_density_is_the_slope_of_the_distribution_function(self, s2, nu, v):
        y = torch.tensor([-30.0, -2.0, 0.1, 1.5], requires_grad=True)
        mu, v = torch.tensor(0.2), torch.tensor(v)
        (slope,) = torch.autograd.grad(log_cdf(y, mu, v, noise(s2, nu)).exp().sum(), y)
        torch.testing.assert_close(log_density(y.detach(), mu, v, noise(s2, nu)).exp(), slope, rtol=1e-8, atol=0)

    def test_it_is_symmetric_and_sums_to_one(self, s2, nu, v):
        y, mu, v = torch.tensor([0.3, 2.0, 9.0]), torch.tensor(0.2), torch.tensor(v)
        below, above = (log_cdf(x, mu, v, noise(s2, nu)).exp() for x in (y, 2 * mu - y))
        torch.testing.assert_close(below + above, torch.ones(3), rtol=1e-9, atol=0)

    def test_gradcheck(self, s2, nu, v):
        y, mu, v = (torch.tensor(x, requires_grad=True) for x in ([-3.0, 0.4], 0.2, v))
        for function in (log_density, log_cdf):
            assert torch.autograd.gradcheck(lambda y, mu, v: function(y, mu, v, noise(s2, nu)), (y, mu, v))  # noqa: B023


def test_a_certain_latent_value_leaves_the_student_t_distribution():
    y = torch.tensor([-40.0, -1.0, 0.0, 3.0])
    expected = torch.distributions.StudentT(4.0, 0.0, math.sqrt(0.3)).log_prob(y)
    torch.testing.assert_close(log_density(y, torch.zeros(()), torch.tensor(1e-14), noise(0.3, 4.0)), expected)


@pytest.mark.parametrize("nu", [1e5, 1e7])
def test_many_degrees_of_freedom_leave_a_normal_one(nu):
    y = torch.tensor([-3.0, 0.0, 2.0])
    normal = torch.distributions.Normal(0.0, math.sqrt(1.3))
    zero, one = torch.zeros(()), torch.ones(())
    torch.testing.assert_close(log_density(y, zero, one, noise(0.3, nu)), normal.log_prob(y), rtol=1e-4, atol=0)
    torch.testing.assert_close(log_cdf(y, zero, one, noise(0.3, nu)).exp(), normal.cdf(y), rtol=1e-4, atol=0)


@pytest.mark.parametrize("y", [1e6, -1e6, 1e100])
def test_far_tails_are_finite(y):
    for function in (log_density, log_cdf):
        assert function(torch.tensor(y), torch.zeros(()), torch.ones(()), noise(1e-4, 4.0)).isfinite()


def test_a_batch_is_a_loop():
    y, nu = torch.tensor([0.5, -4.0]), torch.tensor([3.0, 300.0])
    mu, v, s2 = torch.zeros(2), torch.ones(2), torch.tensor([0.1, 2.0])
    looped = torch.stack([log_density(y[i], mu[i], v[i], Noise(s2[i], nu[i])) for i in range(2)])
    torch.testing.assert_close(log_density(y, mu, v, Noise(s2, nu)), looped)


def test_the_variance_is_the_distributions_or_at_most_three_squared_scales():
    assert [variance(noise(2.0, nu)).item() for nu in (1.0, 3.0, 4.0)] == pytest.approx([6.0, 6.0, 4.0])


class TestCavity:
    def test_with_many_degrees_of_freedom_it_is_the_prediction_by_the_others(self):
        case = load("02_matern_2d")
        gaussian = Noise(torch.tensor(0.3), torch.tensor(1e9))
        K, y = case.K, case.y
        a = find_mode(K, y, gaussian, cold_starts(K, y, gaussian)).a
        mean, v = cavity(approximate(K, y, torch.zeros(()), gaussian, a))
        for i in (0, 7):
            rest = [j for j in range(len(y)) if j != i]
            Sg = K[rest][:, rest] + 0.3 * torch.eye(len(rest))
            assert mean[i].item() == pytest.approx((K[i, rest] @ torch.linalg.solve(Sg, y[rest])).item(), abs=1e-4)
            assert v[i].item() == pytest.approx(
                (K[i, i] - K[i, rest] @ torch.linalg.solve(Sg, K[rest, i])).item(), rel=1e-4
            )

    def test_an_observation_does_not_pull_its_own(self):
        """Near the observation the posterior is drawn to it; the cavity is not."""
        case = load("09_positive_W_matern_3d")
        a = find_mode(case.K, case.y, case.noise, cold_starts(case.K, case.y, case.noise)).a
        found = approximate(case.K, case.y, case.m, case.noise, a)
        mean, v = cavity(found)
        assert ((case.y - case.m - mean).abs() >= found.r.abs()).all()
        assert (v >= found.v).all()
