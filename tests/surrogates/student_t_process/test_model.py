import math

import pytest
import torch
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.models.transforms.outcome import Log, Standardize
from botorch.optim.fit import fit_gpytorch_mll_scipy
from botorch.posteriors import TransformedPosterior
from gpytorch.kernels import MaternKernel, ScaleKernel

from robustbo.numerics.student_t_process.map_fit import EXCESS_PRIOR
from robustbo.surrogates.baselines.standard import PlainGP
from robustbo.surrogates.common.contract import capabilities, diagnose, fit
from robustbo.surrogates.student_t_process.model import StudentTProcess
from robustbo.surrogates.student_t_process.posterior import StudentTPosterior

Z = torch.rand(20, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


def data(n=30, outliers=(), magnitude=2.0):
    X = torch.rand(n, 2, generator=torch.Generator().manual_seed(0))
    noise = 0.05 * torch.randn(n, 1, generator=torch.Generator().manual_seed(1))
    Y = torch.sin(6 * X[:, :1]) + X[:, 1:] + noise
    Y[list(outliers)] += magnitude
    return X, Y


def gaussian_of(model, X, Y, **options):
    """The plain GP at a process's hyperparameters."""
    plain = PlainGP(X, Y, **options)
    plain.load_state_dict({key: value for key, value in model.state_dict().items() if key != "dof"})
    return plain.eval()


def test_its_mean_is_the_gps_and_its_variance_a_multiple():
    X, Y = data(outliers=[4])
    model = fit(StudentTProcess(X, Y, outcome_transform=None))
    ours, theirs = model.posterior(Z), gaussian_of(model, X, Y, outcome_transform=None).posterior(Z)
    torch.testing.assert_close(ours.mean, theirs.mean)
    ratio = ours.variance / theirs.variance
    torch.testing.assert_close(ratio, ratio[0].expand_as(ratio))
    beta = model.value.marginal.beta
    torch.testing.assert_close(ratio[0, 0], (5 + beta - 2) / (5 + 30 - 2))
    assert ours.df == 35


@pytest.mark.parametrize("dof", [2.5, 5.0, 50.0])
def test_surprising_values_widen_the_scale_everywhere(dof):
    """At the hyperparameters of the clean data."""
    X, Y = data()
    clean = fit(StudentTProcess(X, Y, outcome_transform=None, dof=dof))
    wild = StudentTProcess(*data(outliers=[4]), outcome_transform=None, dof=dof)
    wild.load_state_dict(clean.state_dict())
    assert (wild.posterior(Z).variance > 1.5 * clean.posterior(Z).variance).all()


def test_many_degrees_of_freedom_give_the_plain_gp():
    X, Y = data(outliers=[4])
    plain, heavy = fit(PlainGP(X, Y)), fit(StudentTProcess(X, Y, dof=1e8))
    torch.testing.assert_close(heavy.posterior(Z).mean, plain.posterior(Z).mean, rtol=0, atol=1e-4)
    torch.testing.assert_close(heavy.posterior(Z).variance, plain.posterior(Z).variance, rtol=1e-3, atol=0)
    ours, theirs = diagnose(heavy), diagnose(plain)
    torch.testing.assert_close(ours.evidence, theirs.evidence, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(ours.sd, theirs.sd, rtol=1e-3, atol=0)


def test_noise_is_scaled_with_the_rest():
    model = fit(StudentTProcess(*data(outliers=[4]), outcome_transform=None))
    quiet, noisy = (model.posterior(Z, observation_noise=flag).variance for flag in (False, True))
    added = model.value.marginal.stretch * model.likelihood.noise
    torch.testing.assert_close(noisy - quiet, added.expand_as(quiet), rtol=1e-6, atol=0)


@pytest.mark.parametrize("dof", [5.0, None])
@pytest.mark.parametrize("known", [False, True])
def test_what_is_maximized_is_the_evidence_of_gpytorchs_modules(dof, known):
    X, Y = data()
    model = fit(StudentTProcess(X, Y, torch.full_like(Y, 0.01) if known else None, dof=dof))
    mll = model.marginal_log_likelihood().train()
    with torch.no_grad():
        said = 30 * mll(model(X), model.train_targets, X).item()
    learned = 0.0 if dof is not None else EXCESS_PRIOR.log_density(math.log(model.dof.item() - 2))
    assert said + learned == pytest.approx(model.map_estimate.F, abs=1e-6)
    assert (dof is None) == (model.dof.item() != 5.0)


def test_diagnosis_is_leaving_out():
    """At the same hyperparameters; the outcome untransformed, so that units are the model's."""
    X, Y = data(12, outliers=[4], magnitude=9.0)
    model = fit(StudentTProcess(X, Y, outcome_transform=None))
    found = diagnose(model)
    for i in range(12):
        rest = torch.arange(12) != i
        other = StudentTProcess(X[rest], Y[rest], outcome_transform=None)
        other.load_state_dict(model.state_dict())
        posterior = other.posterior(X[i : i + 1], observation_noise=True)
        torch.testing.assert_close(found.expected[i], posterior.mean.squeeze(), rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(found.sd[i], posterior.variance.squeeze().sqrt(), rtol=1e-4, atol=1e-6)
    assert found.is_outlier.nonzero().flatten().tolist() == [4]
    assert found.evidence.argmax() == 4


def test_a_flagged_value_counts_all_the_same():
    """It is not robust, and says so."""
    X, Y = data(outliers=[4], magnitude=20.0)
    model = fit(StudentTProcess(X, Y))
    assert diagnose(model).is_outlier[4]
    assert model.support == []
    assert not capabilities(model).is_robust
    wrong = model.posterior(X[4:5]).mean.item() - data()[1][4].item()
    assert wrong > 3.0


def test_a_repeat_that_agrees_clears():
    X, Y = data(outliers=[4])
    assert not diagnose(fit(StudentTProcess(torch.cat([X, X[4:5]]), torch.cat([Y, Y[4:5]])))).is_outlier[[4, 30]].any()


def test_new_targets_move_the_scale_and_views_of_the_inputs_do_not():
    X, Y = data()
    model = fit(StudentTProcess(X, Y, outcome_transform=None))
    before = model.posterior(Z)
    model.set_train_data(model.train_inputs[0], strict=False)
    torch.testing.assert_close(model.posterior(Z).variance, before.variance)
    model.set_train_data(X, data(outliers=[4])[1].squeeze(-1), strict=False)
    assert (model.posterior(Z).variance > before.variance).all()


def test_it_predicts_before_it_is_fitted():
    posterior = StudentTProcess(*data()).posterior(Z)
    assert posterior.variance.isfinite().all()
    assert posterior.df == 35


def test_parameters_that_others_move_are_followed():
    """A prediction before, a fit by BoTorch's own optimizer, and by hand."""
    model = StudentTProcess(*data())
    model.posterior(Z)
    mll = model.marginal_log_likelihood().train()
    fit_gpytorch_mll_scipy(mll)
    mll.eval()
    for _ in range(2):
        other = StudentTProcess(*data())
        other.load_state_dict(model.state_dict())
        torch.testing.assert_close(model.posterior(Z).variance, other.posterior(Z).variance)
        model.train()
        model.likelihood.noise = 0.5
        model.eval()


def test_any_kernel_will_do():
    X, Y = data()
    named = fit(StudentTProcess(X, Y))
    kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=2))
    assert fit(StudentTProcess(X, Y, covar_module=kernel)).posterior(Z).df == named.posterior(Z).df


def test_outcome_transforms_keep_the_tails():
    X, Y = data()
    linear = fit(StudentTProcess(X, Y, outcome_transform=Standardize(m=1))).posterior(Z)
    assert isinstance(linear, StudentTPosterior)
    curved = fit(StudentTProcess(X, (Y + 3).exp(), outcome_transform=Log())).posterior(Z)
    assert isinstance(curved, TransformedPosterior)
    assert isinstance(curved._posterior, StudentTPosterior)
    assert (curved.rsample(torch.Size([100])) > 0).all()


def test_a_posterior_transform_keeps_them_too():
    model = fit(StudentTProcess(*data()))
    turned = model.posterior(Z, posterior_transform=ScalarizedPosteriorTransform(torch.tensor([-2.0])))
    plain = model.posterior(Z)
    assert turned.df == plain.df
    torch.testing.assert_close(turned.mean, -2 * plain.mean)
    torch.testing.assert_close(turned.scale, 2 * plain.scale)


@pytest.mark.parametrize("dof", [2.0, 1.0, math.inf, math.nan, "5"])
def test_degrees_of_freedom_must_exceed_two(dof):
    with pytest.raises(ValueError, match="dof must exceed 2 for a finite covariance, or be None"):
        StudentTProcess(*data(5), dof=dof)


def test_there_are_no_fantasies():
    with pytest.raises(NotImplementedError, match="StudentTProcess has no fantasies"):
        fit(StudentTProcess(*data(8))).condition_on_observations(Z[:1], Z[:1, :1])
