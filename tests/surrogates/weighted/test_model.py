import pytest
import torch

from robustbo.surrogates.baselines.standard import PlainGP
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize
from robustbo.surrogates.weighted.model import ConjugateGP
from tests.surrogates.test_contract import data, rmse

GRID = torch.rand(50, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
SOURCE = {"quantile": 0.9, "rounds": 1, "is_weighted": False}


@pytest.fixture(scope="module")
def fitted():
    return fit(ConjugateGP(*data(outliers=0.2)))


def test_wild_values_are_flagged_with_little_weight(fitted):
    found = diagnose(fitted)
    assert set(range(6)) <= set(found.is_outlier.nonzero().flatten().tolist())
    assert (found.weight[:6] < 0.1).all()
    assert (found.evidence[:6] > 10).all()
    assert fitted.support == found.is_outlier.nonzero().flatten().tolist()


def test_it_errs_less_than_its_source():
    X, Y = data(outliers=0.2)
    assert rmse(fit(ConjugateGP(X, Y)), GRID) < 0.5 * rmse(fit(ConjugateGP(X, Y, **SOURCE)), GRID)


def test_the_posterior_is_the_formula(fitted):
    X = fitted.train_inputs[0]
    k = fitted.covar_module(GRID, X).to_dense()
    with torch.no_grad():
        posterior = fitted(GRID)
        prior = fitted.covar_module(GRID).to_dense()
    torch.testing.assert_close(posterior.mean, fitted.mean_module.constant + k @ fitted.conjugate.v)
    torch.testing.assert_close(posterior.covariance_matrix, prior - k @ fitted.conjugate.P @ k.mT)


def test_a_large_threshold_gives_the_plain_gp_of_the_same_hyperparameters():
    X, Y = data()
    model = fit(ConjugateGP(X, Y, threshold=1e9))
    plain = PlainGP(X, Y)
    plain.load_state_dict(model.state_dict())
    torch.testing.assert_close(model.posterior(GRID).mean, plain.eval().posterior(GRID).mean, rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(model.posterior(GRID).variance, plain.posterior(GRID).variance, rtol=1e-8, atol=1e-8)
    assert diagnose(model).weight.min() > 1 - 1e-12


def test_plain_weights_are_the_plain_gp_too():
    X, Y = data()
    for options, Yvar in (({"weights": "homoscedastic"}, None), ({"weights": "heteroscedastic"}, 0.1 + Y.square())):
        assert (diagnose(fit(ConjugateGP(X, Y, Yvar, **options))).weight == 1).all()


def test_noise_that_differs_counts_as_it_is_told():
    X, Y = data()
    Yvar = torch.full_like(Y, 1e-4)
    Y[0], Yvar[0] = Y[0] + 3, 100.0
    plain = fit(ConjugateGP(X, Y, Yvar, weights="heteroscedastic"))
    assert rmse(plain, GRID) < 0.2


def test_the_median_is_the_prior_mean():
    X, Y = data(31)
    model = fit(ConjugateGP(X, Y, outcome_transform=RobustStandardize(m=1)))
    far = model.posterior(torch.full((1, 2), 1e6)).mean.item()
    assert far == pytest.approx(Y.median().item())


def test_in_sample_tails_are_nearer_than_those_of_the_others(fitted):
    inside, outside = fitted.tails(leave_one_out=False), fitted.tails()
    assert (inside.e.abs() <= outside.e.abs() + 1e-9).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "imq"}, "weights must be one of"),
        ({"quantile": 0.0}, r"quantile must lie in \(0, 1\], got 0.0"),
        ({"threshold": -1.0}, "threshold must be positive"),
        ({"rounds": 0}, "rounds must be a whole number of at least 1 and at most 100, got 0"),
        ({"weights": "heteroscedastic"}, "need train_Yvar"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        ConjugateGP(*data(5), **options)


def test_one_noise_variance_is_what_homoscedastic_says():
    X, Y = data(5)
    with pytest.raises(ValueError, match="one noise variance, got several"):
        ConjugateGP(X, Y, 0.1 + Y.square(), weights="homoscedastic")
