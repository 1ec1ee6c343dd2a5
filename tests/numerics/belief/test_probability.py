import numpy as np
import pytest
import torch

from robustbo.numerics.belief import probability
from robustbo.numerics.belief.densities import log_odd
from robustbo.numerics.belief.probability import WeightedFit, sample_belief
from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.pursuit.model import RelevancePursuitGP


def fitted(n, wrong, noise=0.05):
    """A fit to a smooth function of one input, some values of which are 6 off; its model, its fit and what is known."""
    rng = np.random.default_rng(n)
    x = np.linspace(0, 1, n)
    y = np.sin(6 * x) + noise * rng.standard_normal(n)
    y[wrong] += 6.0
    model = fit(RelevancePursuitGP(torch.from_numpy(x).unsqueeze(-1), torch.from_numpy(y).unsqueeze(-1)))
    search = model.search_model()
    fits = [WeightedFit(1.0, model.components[0].fit, lambda: model.prediction_cache)]
    return search, fits, log_odd(search.y, torch.ones_like(search.y))[0]


def test_many_and_few_are_told_the_same(monkeypatch):
    system = fitted(60, [7, 30])
    few = sample_belief(*system, rate=0.1).q
    monkeypatch.setattr(probability, "FEW", 10)
    many = sample_belief(*system, rate=0.1).q
    assert (few[[7, 30]] > 0.99).all()
    torch.testing.assert_close(many, few, atol=0.05, rtol=0)


def test_half_of_many_are_wrong_at_most(monkeypatch):
    monkeypatch.setattr(probability, "FEW", 1)
    model, fits, densities = fitted(20, [3])
    q = sample_belief(model, fits, torch.full_like(densities, 1e3), rate=0.1).q
    assert 10 <= q.sum() <= 10.5  # and the noise of another may be the widest


@pytest.mark.parametrize("rate", [1e-6, 0.1])
def test_the_rate_counts(rate):
    """A value that is off by some noise; with other values that say nothing of the rate."""
    model, fits, densities = fitted(24, [])
    densities = densities + 4.0
    q = sample_belief(model, fits, densities, rate=rate).q
    assert (q.max() < 0.01) == (rate < 0.01)
