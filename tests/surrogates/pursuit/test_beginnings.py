"""Levels where a pursuit may begin: in other units, without what is cleared, of other observations."""

import math

import pytest
import torch

from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.warp import FREE, NONE, fixed_warp
from robustbo.numerics.pursuit.growth import Pursuit
from robustbo.numerics.pursuit.support_fit import level_at
from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.pursuit.beginnings import WarmStart, clear, rescale
from robustbo.surrogates.pursuit.model import RelevancePursuitGP


def values(n):
    X = torch.rand(n, 2, generator=torch.Generator().manual_seed(n), dtype=torch.float64)
    Y = (3 * X).sin().sum(-1, keepdim=True) + 0.1 * torch.randn(
        n, 1, generator=torch.Generator().manual_seed(0)
    ).double()
    Y[[2, 7]] += torch.tensor([[9.0], [-5.0]])
    return X, Y


@pytest.fixture
def fitted():
    return fit(RelevancePursuitGP(*values(20)))


@pytest.mark.parametrize("t", [NONE, (0.4, 1.1, -0.6)])
def test_levels_in_other_units_fit_the_same_outcomes_as_well(fitted, t):
    model = fitted.search_model()._replace(warp=FREE)
    theta = torch.cat([fitted.map_estimate.theta[:-3], torch.tensor(t).double()])
    level = level_at(model, (2, 7), fitted.map_estimate._replace(theta=theta))
    other = rescale(Pursuit([level], level), model, 2, 3.0).best.fit
    mine = log_posterior(model, theta, level.fit.rho).evidence.L
    theirs = log_posterior(model._replace(y=3 * model.y), other.theta, other.rho).evidence.L
    assert theirs.item() == pytest.approx(mine.item() - len(model.y) * math.log(3.0))
    torch.testing.assert_close(other.theta[:2], theta[:2])


def test_what_is_cleared_has_no_variance_of_its_own(fitted):
    model = fitted.search_model()
    level = level_at(model, (2, 7), fitted.map_estimate)
    cleared = torch.zeros(20, dtype=torch.bool).index_fill(0, torch.tensor([7]), True)
    found = clear(Pursuit([level], level), model._replace(cleared=cleared))
    assert (found.best.support, found.best.fit.support) == ((2,), (2,))


def test_a_warp_that_is_held_straight_is_none_unless_theta_has_one(fitted):
    model, head = fitted.search_model()._replace(warp=fixed_warp(NONE)), fitted.map_estimate.theta[:-3]
    assert model.warp_at(torch.cat([head, torch.zeros(3).double()])) is None
    assert model.warp_at(torch.cat([head, torch.ones(3).double()])) is not None


def test_levels_without_a_warp_are_not_handed_on_where_nobody_asks_for_one(fitted):
    pursued, center, scale, *_ = fitted.warm_start
    few = RelevancePursuitGP(*(part[:11] for part in values(20)))
    few.continue_from(WarmStart(pursued, center, scale, False, 5.0, pursued), torch.arange(11))
    assert fit(few).warm_start.straight is None


def test_it_continues_from_other_units_to_where_it_would_have_come(fitted):
    X, Y = values(20)
    wide = torch.cat([Y, 40 * torch.randn(20, 1, generator=torch.Generator().manual_seed(1)).double()])
    X = torch.cat([X, torch.rand(20, 2, generator=torch.Generator().manual_seed(2)).double()])
    alone, continued = RelevancePursuitGP(X, wide), RelevancePursuitGP(X, wide)
    rows = torch.cat([torch.arange(20), torch.full((20,), -1)])
    continued.continue_from(fitted.warm_start, rows)
    fit(alone), fit(continued)
    assert pytest.approx(alone.map_estimate.F, abs=3.0) == continued.map_estimate.F
