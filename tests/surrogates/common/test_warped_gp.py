import pytest
import torch

from robustbo.surrogates import RelevancePursuitGP, StandardGP
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo_problems.regression_functions import hartmann6


def skewed(n=40, seed=0):
    """Values of which a tenth is far above the others, though nothing is wrong."""
    X = torch.rand(n, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return X, (2.5 * torch.sin(4 * X).sum(-1, keepdim=True)).exp()


@pytest.mark.parametrize("noise", [None, 1.0])
@pytest.mark.parametrize("cls", [StandardGP, RelevancePursuitGP])
def test_predictions_are_of_outcomes_as_they_were(cls, noise):
    X, Y = skewed()
    model = fit(cls(X, Y, None if noise is None else torch.full_like(Y, noise)))
    assert model.outcome_transform.t[:2].max() > 0.1
    assert ((model.posterior(X).mean - Y).abs() / (1 + Y)).median() < 0.1
    y = Y.squeeze(-1)
    assert ((model.diagnose().expected - y).abs() / (1 + y)).median() < 0.3


@pytest.mark.slow
def test_a_peak_is_no_outlier_where_the_warp_says_so():
    X = torch.rand(80, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    Y = torch.from_numpy(hartmann6(X.numpy())).unsqueeze(-1)
    assert fit(RelevancePursuitGP(X, Y)).support == []
    assert fit(RelevancePursuitGP(X, Y, warp="none")).support != []


def test_what_is_wrong_does_not_bend():
    X = torch.linspace(0, 1, 30, dtype=torch.float64).unsqueeze(-1)
    Y = torch.sin(6 * X)
    Y[[4, 11, 20]] += torch.tensor([[1e2], [1e4], [1e9]], dtype=torch.float64)
    model = fit(RelevancePursuitGP(X, Y))
    assert model.support == [4, 11, 20]
    assert model.outcome_transform.t[:2].max() < 0.01


@pytest.mark.parametrize("noise", [None, 1.0])
def test_a_state_brings_its_warp_along(noise):
    X, Y = skewed()
    v = None if noise is None else torch.full_like(Y, noise)
    model = fit(StandardGP(X, Y, v))
    other = StandardGP(X, Y, v)
    other.load_state_dict(model.state_dict())
    at = torch.rand(5, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    torch.testing.assert_close(other.posterior(at).mean, model.posterior(at).mean, rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(other.posterior(at).variance, model.posterior(at).variance, rtol=1e-5, atol=1e-10)


def test_the_formulas_are_the_posterior():
    X, Y = skewed()
    Y[3] = -1e5
    model = fit(RelevancePursuitGP(X, Y))
    at = torch.rand(6, 2, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    mean, sd = model.marginals(at)
    with torch.no_grad():
        posterior = model.posterior(at)
    torch.testing.assert_close(mean, posterior.mean.squeeze(-1), rtol=1e-7, atol=1e-8)
    torch.testing.assert_close(sd, posterior.variance.squeeze(-1).sqrt(), rtol=1e-5, atol=1e-8)
    assert diagnose(model).is_outlier.nonzero().flatten().tolist() == model.support
    assert 3 in model.support


@pytest.mark.few(2)
@pytest.mark.parametrize("size", [30.0, 1e3, 1e9])
@pytest.mark.parametrize("n", [5, 6, 8])
def test_one_gross_value_among_few_is_no_bend(n, size):
    missed = 0
    for seed in range(5):
        X = torch.rand(n, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        Y = torch.sin(5 * X[:, :1]) + X[:, 1:]
        Y[2] += size
        missed += 2 not in fit(RelevancePursuitGP(X, Y)).support
    assert missed <= 1


@pytest.mark.parametrize("warp", ["asinh", "none"])
def test_it_can_be_another(warp):
    X, Y = skewed()
    assert not hasattr(fit(StandardGP(X, Y, warp=warp)).outcome_transform, "t")


def test_an_unknown_one_is_refused():
    with pytest.raises(ValueError, match=r"warp must be one of \['asinh', 'learned', 'none'\], got 'log'"):
        StandardGP(*skewed(), warp="log")
