import math

import pytest
import torch
from gpytorch.kernels import MaternKernel, ScaleKernel

from robustbo.numerics.pursuit.support_fit import prefix_rows
from robustbo.surrogates.baselines.standard import PlainGP
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo.surrogates.student_t.model import StudentTGP
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize


def data(n=30, outliers=(4, 11), magnitude=5.0):
    X = torch.rand(n, 2, generator=torch.Generator().manual_seed(0))
    noise = 0.05 * torch.randn(n, 1, generator=torch.Generator().manual_seed(1))
    Y = torch.sin(6 * X[:, :1]) + X[:, 1:] + noise
    Y[list(outliers)] += magnitude
    return X, Y


@pytest.mark.parametrize("magnitude", [3.0, 1e3, 1e6, 1e12])
def test_outliers_of_any_magnitude_are_found_and_shrugged_off(magnitude):
    X, clean = data(outliers=())
    model = fit(StudentTGP(*data(magnitude=magnitude)))
    assert model.support == [4, 11]
    assert (model.posterior(X).mean - clean).square().mean().sqrt() < 0.1
    assert (model.weights[[4, 11]] < 0.2).all()
    assert model.weights.median() > 0.9


def test_many_degrees_of_freedom_give_the_plain_gp():
    X, Y = data(outliers=())
    plain, heavy = fit(PlainGP(X, Y)), fit(StudentTGP(X, Y, dof=1e7))
    Z = torch.rand(20, 2, generator=torch.Generator().manual_seed(3))
    torch.testing.assert_close(heavy.posterior(Z).mean, plain.posterior(Z).mean, rtol=0, atol=2e-3)
    torch.testing.assert_close(heavy.posterior(Z).variance, plain.posterior(Z).variance, rtol=2e-2, atol=1e-5)
    torch.testing.assert_close(diagnose(heavy).sd, diagnose(plain).sd, rtol=2e-2, atol=0)


def test_the_posterior_is_laplaces_and_the_acquisitions_formulas_see_the_same():
    model = fit(StudentTGP(*data(), outcome_transform=None))
    Z = torch.rand(5, 2, generator=torch.Generator().manual_seed(3))
    posterior, latent = model.posterior(Z), model.latent()
    k, prior = latent.covariance(Z, latent.X), latent.covariance(Z, Z)
    torch.testing.assert_close(posterior.mean.squeeze(-1), latent.m + k @ latent.al)
    covariance = posterior.distribution.covariance_matrix
    torch.testing.assert_close(covariance, prior - k @ latent.partner.mT @ latent.root @ k.mT, rtol=1e-6, atol=1e-9)


def test_the_em_variances_give_gpytorchs_exact_posterior_the_same_mean():
    """So what recomputes predictions from `forward` and `likelihood`, as Ax does, is not misled."""
    X, Y = data()
    model = fit(StudentTGP(X, Y, outcome_transform=None))
    prior = model.forward(X)
    Sg = model.likelihood(prior, [X]).covariance_matrix
    by_variances = prior.mean + prior.covariance_matrix @ torch.linalg.solve(Sg, Y.squeeze(-1) - prior.mean)
    torch.testing.assert_close(model.posterior(X).mean.squeeze(-1), by_variances, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dof", [3.0, 6.0])
def test_a_measurements_variance_is_that_of_its_noise(dof):
    model = fit(StudentTGP(*data(), outcome_transform=None, dof=dof))
    Z = torch.rand(4, 2)
    added = model.posterior(Z, observation_noise=True).variance - model.posterior(Z).variance
    expected = model.likelihood.noise * dof / (dof - 2)
    torch.testing.assert_close(added, expected.expand_as(added), rtol=1e-6, atol=1e-9)


class TestPredictive:
    @pytest.mark.few(1)
    @pytest.mark.parametrize(
        "options", [{}, {"outcome_transform": None}, {"outcome_transform": RobustStandardize(m=1)}]
    )
    def test_the_density_is_one_of_the_outcome(self, options):
        X, Y = data()
        model = fit(StudentTGP(X, 3 * Y + 7, **options))
        at = model.predictive(X[:1])
        Y = torch.linspace(-40, 80, 20001)
        assert torch.trapezoid(at.log_density(Y).exp(), Y).item() == pytest.approx(1, abs=0.02)
        inside = torch.linspace(5, 12, 50)
        steps = (at.cdf(inside + 1e-4) - at.cdf(inside - 1e-4)) / 2e-4
        torch.testing.assert_close(at.log_density(inside).exp(), steps, rtol=1e-3, atol=1e-6)

    def test_its_tails_are_heavy(self):
        model = fit(StudentTGP(*data(outliers=()), outcome_transform=None))
        at = model.predictive(torch.tensor([[0.5, 0.5]]))
        normal = torch.distributions.Normal(at.mean, (at.variance + 2 * at.noise.s2).sqrt())
        far = at.mean + 20 * normal.stddev
        assert at.log_density(far) > normal.log_prob(far) + 100

    def test_one_scale_is_needed(self):
        X, Y = data()
        scales = torch.full_like(Y, 0.01)
        assert fit(StudentTGP(X, Y, scales, outcome_transform=None)).predictive(X).noise.s2 == 0.01
        scales[3] = 0.02
        with pytest.raises(ValueError, match="predictive needs one scale"):
            fit(StudentTGP(X, Y, scales)).predictive(X)


def test_learned_degrees_of_freedom_are_kept_in_the_state():
    X, Y = data()
    model = fit(StudentTGP(X, Y, dof=None))
    assert 2 <= model.likelihood.dof < 20
    other = StudentTGP(X[:12], Y[:12], dof=None)
    other.load_state_dict(model.state_dict(), keep_transforms=False)
    assert other.likelihood.dof == model.likelihood.dof
    assert len(other.eval().weights) == 12


def test_a_state_loaded_onto_the_same_rows_predicts_the_same():
    X, Y = data()
    model = fit(StudentTGP(X, Y))
    other = StudentTGP(X, Y)
    other.load_state_dict(model.state_dict())
    torch.testing.assert_close(other.eval().posterior(X).mean, model.posterior(X).mean, rtol=1e-6, atol=1e-8)


def test_other_data_move_the_posterior():
    X, Y = data(outliers=())
    model = fit(StudentTGP(X, Y, outcome_transform=None))
    before = model.posterior(X).mean
    model.set_train_data(X, Y.squeeze(-1) + 1.0, strict=False)
    assert (model.posterior(X).mean - before).min() > 0.2
    with pytest.raises(NotImplementedError, match="StudentTGP has no fantasies"):
        model.condition_on_observations(X[:1], Y[:1])


def test_no_variance_is_added_to_an_observation():
    assert not fit(StudentTGP(*data())).rho.any()


def test_any_kernel_will_do():
    X, Y = data()
    model = fit(StudentTGP(X, Y, covar_module=ScaleKernel(MaternKernel(nu=1.5, ard_num_dims=2))))
    assert model.support == [4, 11]
    assert not model.is_named


def test_the_clamp_never_widens_a_prediction():
    X, Y = data()
    exact, clamped = (fit(StudentTGP(X, Y, is_clamped=is_clamped)) for is_clamped in (False, True))
    assert exact.laplace.clamped.min() < 0 < clamped.laplace.clamped.min()
    assert (clamped.laplace.v <= clamped.latent().s2f + 1e-9).all()


def test_the_next_fit_begins_where_the_last_one_ended():
    X, Y = data()
    before = fit(StudentTGP(X[:-1], Y[:-1]))
    cold, warm = fit(StudentTGP(X, Y)), fit(StudentTGP(X, Y), before.warm_start, prefix_rows(len(X), len(X) - 1))
    assert pytest.approx(cold.map_estimate.F, abs=1e-3) == warm.map_estimate.F


@pytest.mark.parametrize("dof", [0.5, math.inf, math.nan, -4.0])
def test_impossible_degrees_of_freedom_are_refused(dof):
    with pytest.raises(ValueError, match="dof must be at least 1, or None to learn it, got"):
        StudentTGP(*data(), dof=dof)


def test_parameters_that_others_move_are_followed():
    model = fit(StudentTGP(*data()))
    model.train()
    model.likelihood.noise = 0.5
    model.eval()
    other = StudentTGP(*data())
    other.load_state_dict(model.state_dict())
    Z = torch.rand(5, 2, generator=torch.Generator().manual_seed(3))
    torch.testing.assert_close(model.posterior(Z).mean, other.posterior(Z).mean)
