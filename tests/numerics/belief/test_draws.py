import math

import numpy as np
import pytest
import torch
from scipy.special import ndtri

from robustbo.numerics.belief import draws
from robustbo.numerics.belief.densities import MULTIPLES, log_odd
from robustbo.numerics.belief.draws import COUNT, HUGE
from robustbo.numerics.belief.hyperparameters import MEAN_VARIANCE
from robustbo.numerics.belief.probability import WeightedFit, sample_belief
from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.pursuit.model import RelevancePursuitGP


def sampled(n=14, sds=None):
    """The belief in a sine, one value of which is far off, and the model as the search sees it."""
    x, rng = np.linspace(0, 1, n), np.random.default_rng(0)
    y = np.sin(6 * x) + 0.05 * rng.standard_normal(n)
    y[4] += 20.0
    known = () if sds is None else (torch.full((n, 1), sds**2).double(),)
    model = fit(RelevancePursuitGP(torch.from_numpy(x[:, None]), torch.from_numpy(y[:, None]), *known, warp="none"))
    search = model.search_model()
    fits = [WeightedFit(c.weight, c.fit, lambda: model.prediction_cache) for c in model.components]
    return sample_belief(search, fits, log_odd(search.y, torch.ones(n).double())[0], rate=0.1), search, model


def test_each_draw_is_the_observations_that_are_right_at_its_hyperparameters():
    belief, search, model = sampled()
    X = model.train_inputs[0]
    assert COUNT <= len(belief.draws) < 2 * COUNT
    assert math.fsum(draw.weight for draw in belief.draws) == pytest.approx(1.0)
    for draw in belief.draws:
        P = draw.root.mT @ draw.root
        right = (P.diagonal() > 0).nonzero().flatten()
        assert 4 not in right
        l, s2f = draw.theta[:1].exp(), draw.theta[1].exp()
        K = KERNELS["matern52"](squared_differences(X[right], X[right]), l, s2f).K
        noise = torch.linalg.inv(P[right][:, right]) - K
        multiples = noise.diagonal() / draw.s2
        assert draw.s2 == pytest.approx(draw.theta[2].exp().item())
        nearest = torch.from_numpy(MULTIPLES)[(multiples[:, None] - torch.from_numpy(MULTIPLES)).abs().argmin(1)]
        torch.testing.assert_close(multiples, nearest, rtol=1e-4, atol=0)
        torch.testing.assert_close(noise - torch.diag(noise.diagonal()), torch.zeros_like(noise), atol=1e-6, rtol=0)
        torch.testing.assert_close(draw.al[right], P[right][:, right] @ (search.y[right] - draw.m))
        assert not draw.al[4]
        torch.testing.assert_close(draw.rho[right], (nearest - 1) * draw.s2)
        assert (draw.rho[P.diagonal() == 0] == HUGE).all()


def test_means_are_of_their_posterior_given_the_rest():
    belief, search, _ = sampled()
    z = []
    for draw in belief.draws:
        right = (draw.root.diagonal() > 0).nonzero().flatten()
        P = (draw.root.mT @ draw.root)[right][:, right]
        precision = P.sum() + 1 / MEAN_VARIANCE
        z.append(((draw.m - P.sum(0) @ search.y[right] / precision) * precision.sqrt()).item())
    assert sorted(z) == pytest.approx(ndtri((np.arange(len(z)) + 0.5) / len(z)).tolist(), abs=1e-4)
    assert sorted(z) != z


def test_they_differ():
    belief, *_ = sampled()
    assert len({round(draw.theta[0].item(), 6) for draw in belief.draws}) > COUNT // 2


def test_where_noise_is_known_a_draw_has_none_of_its_own():
    belief, *_ = sampled(sds=0.05)
    assert all(math.isnan(draw.s2) for draw in belief.draws)


def test_of_many_observations_there_are_none(monkeypatch):
    monkeypatch.setattr(draws, "MOST", 13)
    belief, *_ = sampled()
    assert not belief.draws
