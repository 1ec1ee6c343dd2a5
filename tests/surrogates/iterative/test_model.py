import pytest
import torch

from robustbo.numerics.iterative.policies import NAMES
from robustbo.surrogates.baselines.standard import PlainGP
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo.surrogates.iterative import model as computation_aware
from robustbo.surrogates.iterative.model import ComputationAwareGP
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize
from robustbo.surrogates.weighted.model import ConjugateGP
from tests.surrogates.test_contract import data, rmse

GRID = torch.rand(50, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def same_posterior(one, other):
    with torch.no_grad():
        ours, theirs = one.posterior(GRID), other.posterior(GRID)
    torch.testing.assert_close(ours.mean, theirs.mean, rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(ours.variance, theirs.variance, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("policy", NAMES)
def test_after_n_iterations_it_is_the_exact_gp(policy):
    X, Y = data()
    same_posterior(fit(ComputationAwareGP(X, Y, policy=policy, robust=False)), fit(PlainGP(X, Y)))


@pytest.mark.few(2)
@pytest.mark.parametrize("policy", NAMES)
def test_after_n_iterations_the_robust_one_is_the_conjugate_one(policy):
    X, Y = data(outliers=0.2)
    model, exact = fit(ComputationAwareGP(X, Y, policy=policy)), fit(ConjugateGP(X, Y))
    same_posterior(model, exact)
    ours, theirs = diagnose(model), diagnose(exact)
    torch.testing.assert_close(ours.expected, theirs.expected, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(ours.weight, theirs.weight, rtol=1e-6, atol=1e-6)
    for way in (True, False):
        torch.testing.assert_close(model.tails(leave_one_out=way).e, exact.tails(leave_one_out=way).e)


def test_few_iterations_leave_uncertainty_and_say_so():
    X, Y = data(60)
    model = fit(ComputationAwareGP(X, Y, iterations=5))
    found = model.variances(GRID)
    assert (found.computational > -1e-9).all()
    assert found.computational.max() > 0.01
    torch.testing.assert_close(found.combined, found.mathematical + found.computational)
    with torch.no_grad():
        torch.testing.assert_close(model(GRID).variance, found.combined)
    assert fit(ComputationAwareGP(X, Y)).variances(GRID).computational.max() < 1e-8


def test_covariances_in_blocks_are_covariances(monkeypatch):
    X, Y = data(40)
    model = fit(ComputationAwareGP(X, Y, iterations=10))
    with torch.no_grad():
        whole = model.posterior(GRID)
        monkeypatch.setattr(computation_aware, "BLOCK", 350)  # seven of the forty observations
        parts = model.posterior(GRID)
    torch.testing.assert_close(parts.mean, whole.mean)
    torch.testing.assert_close(parts.variance, whole.variance)


def test_hyperparameters_may_come_from_a_part_of_the_rows():
    X, Y = data(80)
    model = fit(ComputationAwareGP(X, Y, fit_size=20, robust=False))
    drawn = torch.randperm(80, generator=torch.Generator().manual_seed(0))[:20].sort().values
    part = fit(PlainGP(X[drawn], Y[drawn]))
    mine, theirs = (m.covar_module.base_kernel.lengthscale for m in (model, part))
    torch.testing.assert_close(mine, theirs, rtol=0.2, atol=0.0)  # all rows standardize the outcomes a little otherwise
    assert len(model.solution.belief.z) == 80
    assert rmse(model, GRID) < rmse(part, GRID)


def test_a_tolerance_ends_the_iterations():
    X, Y = data(60)
    model = fit(ComputationAwareGP(X, Y, tolerance=0.1))
    assert model.solution.belief.converged
    assert model.solution.belief.D.shape[-1] < 30


def test_wild_values_weigh_little():
    X, Y = data(60, outliers=0.1)
    model = fit(ComputationAwareGP(X, Y, iterations=20))
    assert (diagnose(model).weight[:6] < 0.1).all()
    assert rmse(model, GRID) < 0.3 * rmse(fit(ComputationAwareGP(X, Y, iterations=20, robust=False)), GRID)


def test_known_noise_may_differ():
    X, Y = data()
    model = fit(ComputationAwareGP(X, Y, 0.01 + 0.1 * X[:, :1], robust=False))
    same_posterior(model, fit(PlainGP(X, Y, 0.01 + 0.1 * X[:, :1])))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "cg"}, "policy must be one of"),
        ({"iterations": 0}, "iterations must be a whole number of at least 1, got 0"),
        ({"iterations": True}, "iterations must be a whole number"),
        ({"tolerance": 1.0}, r"tolerance must lie in \[0, 1\), got 1.0"),
        ({"fit_size": 0}, "fit_size must be a whole number of at least 1"),
        ({"quantile": 2.0}, "quantile must lie"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        ComputationAwareGP(*data(5), **options)


def test_a_kernel_of_ones_own_is_refused():
    from gpytorch.kernels import RBFKernel

    with pytest.raises(ValueError, match="covar_module must not be given"):
        ComputationAwareGP(*data(5), covar_module=RBFKernel())


def test_the_parts_of_the_variance_have_a_limit(monkeypatch):
    monkeypatch.setattr(computation_aware, "EXACT_SIZE", 10)
    with pytest.raises(ValueError, match="at most 10 observations, got 12"):
        fit(ComputationAwareGP(*data(12))).variances(GRID)


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "options", [{"tolerance": 0.01}, {"iterations": 20}, {"policy": "eigenvectors", "iterations": 20}]
)
@pytest.mark.parametrize("size", [1e3, 1e6, 1e12, 1e100])
def test_a_gross_value_is_not_all_that_is_looked_at(size, options):
    X, Y = data(60)
    Y[3] += size
    model = fit(ComputationAwareGP(X, Y, outcome_transform=RobustStandardize(m=1), **options))
    assert rmse(model, GRID) < 0.3


def test_a_large_history_needs_no_square_matrix_to_ask(monkeypatch):
    X, Y = data(12)
    model = fit(ComputationAwareGP(X, Y))
    assert model.is_named
    monkeypatch.setattr(computation_aware, "EXACT_SIZE", 10)
    assert not model.is_named


def test_where_the_inputs_lie_makes_no_difference():
    X, Y = data(40)
    here, far = (fit(ComputationAwareGP(X + shift, Y)) for shift in (0.0, 1e6))
    torch.testing.assert_close(here.posterior(GRID).mean, far.posterior(GRID + 1e6).mean, rtol=1e-3, atol=1e-3)
