"""Noise that is known of some observations, and means of several, in one likelihood (equations 6.21 and 6.22)."""

import pytest
import torch

from robustbo.numerics.gp.log_posterior import gradient, log_posterior
from robustbo.numerics.gp.model import noise
from robustbo.surrogates.common import priors
from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.registry import model_class

KNOWN = torch.tensor([0.04] * 6 + [0.0] * 12, dtype=torch.float64)
SHARE = torch.tensor([0.0] * 6 + [0.25] * 4 + [1.0] * 8, dtype=torch.float64)


def data(n=18):
    generator = torch.Generator().manual_seed(3)
    X = torch.rand(n, 2, dtype=torch.float64, generator=generator)
    Y = (5 * X).sin().sum(-1, keepdim=True) + 0.2 * torch.randn(n, 1, dtype=torch.float64, generator=generator)
    return X, Y


def model_of(parts=(KNOWN, SHARE), name="standard", **options):
    model = model_class(name)(*data(), **options)
    if parts is not None:
        model.set_noise_parts(*parts)
    return model


@pytest.mark.parametrize("options", [{"warp": "none"}, {"warp": "learned"}])
def test_the_gradient_is_that_of_differences(options):
    model = model_of(**options).eval().search_model()
    theta = model.starts[0] + 0.1 * torch.arange(len(model.starts[0]))
    rho = torch.zeros(18, dtype=torch.float64)
    slopes, _ = gradient(model, log_posterior(model, theta, rho))
    for i, slope in enumerate(slopes.tolist()):
        step = torch.zeros_like(theta)
        step[i] = 1e-5
        up, down = (log_posterior(model, theta + sign * step, rho).F for sign in (1, -1))
        assert slope == pytest.approx((up - down) / 2e-5, abs=2e-6)


def test_the_noise_is_the_known_one_or_a_share_of_the_searched():
    model = model_of(warp="none").eval().search_model()
    theta = model.starts[0]
    s2, searched = noise(model, theta), theta[len(model.covariance.bounds)].exp()
    assert torch.equal(s2[10:], searched.expand(8))
    assert torch.equal(s2[6:10], searched.expand(4) / 4)
    assert (s2[:6] / s2[0]).tolist() == pytest.approx([1.0] * 6)


def test_where_all_are_searched_it_is_the_model_without_parts():
    all_searched = torch.zeros(18, dtype=torch.float64), torch.ones(18, dtype=torch.float64)
    a, b = fit(model_of(all_searched)), fit(model_of(None))
    assert torch.allclose(a.map_estimate.theta, b.map_estimate.theta, atol=1e-6)


def test_the_mean_of_copies_predicts_as_the_copies_do():
    """Four measurements at a point and their mean, of a quarter of the variance, are the same observation."""
    X, Y = data(8)
    kernel = {"warp": "none"}
    single = model_class("standard")(X, Y, **kernel)
    share = torch.ones(8, dtype=torch.float64)
    share[0] = 0.25
    single.set_noise_parts(torch.zeros(8, dtype=torch.float64), share)
    model = single.eval().search_model()
    theta, y = model.starts[0], model.y
    mean = log_posterior(model, theta, torch.zeros_like(y)).evidence
    several = model._replace(
        y=torch.cat([y[:1].expand(3), y]),
        covariance=priors.covariance_function(single.train_inputs[0][[0, 0, 0, *range(8)]], *single._named),
        s2_parts=None,
    )
    copies = log_posterior(several, theta, torch.zeros(11, dtype=torch.float64)).evidence
    assert copies.al[:4].sum().item() == pytest.approx(mean.al[0].item(), rel=1e-6)
    assert copies.al[4:].tolist() == pytest.approx(mean.al[1:].tolist(), rel=1e-6)


@pytest.mark.parametrize("name", ["standard", "relevance-pursuit"])
def test_a_fit_takes_both_and_its_likelihood_agrees(name):
    model = fit(model_of(name=name))
    search = model.search_model()
    assert search.s2_parts is not None
    assert search.s2_known is None
    own = model.likelihood.data_noise.diagonal()
    assert (own[:6] < own[10]).all() or (own[:6] > own[10]).all()
    cache = model.prediction_cache
    with torch.no_grad():
        mean = model.posterior(data()[0]).mean
    assert mean.isfinite().all()
    assert cache.root.isfinite().all()
