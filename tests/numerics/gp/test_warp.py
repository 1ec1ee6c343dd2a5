import math

import numpy as np
import pytest
import torch

from robustbo.numerics.gp import warp
from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.log_posterior import gradient, log_posterior
from robustbo.numerics.gp.map_fit import climb, maximize_alone
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.gp.warp import WarpedOutcomes

Z = np.array([-40.0, -3.0, -1e-3, 0.0, 1e-3, 0.5, 2.0, 700.0])


WARPS = [warp.NONE, (0.0, 0.0, 0.7), (1e-9, 2e-4, 0.0), (0.3, 2.0, -0.8), (0.0, warp.MOST_BENT, 1.5)]


@pytest.mark.parametrize("t", WARPS)
def test_it_is_the_formula(t):
    found, u = WarpedOutcomes(Z, t), np.append(Z, 0.0) - t[2]
    b = np.sqrt(np.expm1(np.where(u > 0, t[1], t[0])))
    bent = np.array([math.asinh(bend * far) / bend if bend else far for far, bend in zip(u, b, strict=True)])
    k = np.hypot(1, b * u)[-1]
    np.testing.assert_allclose(found.y, k * (bent[:-1] - bent[-1]), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(np.exp(found.log_slope), (k / np.hypot(1, b * u))[:-1], rtol=1e-12)
    np.testing.assert_allclose(np.exp(found.log_secant) * Z, found.y, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("t", WARPS)
def test_at_the_center_it_is_zero_with_the_slope_1(t):
    found = WarpedOutcomes(np.zeros(1), t)
    assert found.y[0] == pytest.approx(0.0, abs=1e-12)
    assert found.log_slope[0] == pytest.approx(0.0, abs=1e-12)


def test_many_warps_at_once_are_those_of_each_to_the_bit():
    warps = warp.Warps(np.array(WARPS))
    y, log_slope = warps.warp(Z)
    singly = [WarpedOutcomes(Z, t) for t in WARPS]
    assert np.array_equal(y, [bent.y for bent in singly])
    assert np.array_equal(log_slope, [bent.log_slope for bent in singly])
    np.testing.assert_allclose(warps.unwarp(y), np.tile(Z, (len(WARPS), 1)), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("t", [0.0, 1e-6, 0.2, 3.0])
@pytest.mark.parametrize("origin", [0.0, -0.6])
def test_its_derivatives_in_the_bends_are_those_of_differences(side, t, origin):
    at, h = [0.7, 0.7, origin], 1e-6
    at[side] = t
    ahead, behind = list(at), list(at)
    ahead[side], behind[side] = t + h, max(t - h, 0.0)
    width = ahead[side] - behind[side]
    z = Z[:-1]  # far out a step of differences is too wide
    here, there, back = WarpedOutcomes(z, at), WarpedOutcomes(z, ahead), WarpedOutcomes(z, behind)
    pairs = {"y": here.y_t, "log_slope": here.log_slope_t, "log_secant": here.log_secant_t}
    for name, slopes in pairs.items():
        changed = (getattr(there, name) - getattr(back, name)) / width
        np.testing.assert_allclose(changed, slopes[side], rtol=2e-2 if t < 1e-5 else 1e-4, atol=1e-7)


@pytest.mark.parametrize("t", [(0.0, 0.0), (1e-6, 0.4), (0.3, 3.0)])
@pytest.mark.parametrize("origin", [0.0, -0.6, 1.3])
def test_its_derivatives_in_the_origin_are_those_of_differences(t, origin):
    h = 1e-6
    z = Z[:-1]
    here, there, back = (WarpedOutcomes(z, (*t, origin + step)) for step in (0.0, h, -h))
    pairs = {"y": here.y_t, "log_slope": here.log_slope_t, "log_secant": here.log_secant_t}
    for name, slopes in pairs.items():
        changed = (getattr(there, name) - getattr(back, name)) / (2 * h)
        np.testing.assert_allclose(changed, slopes[2], rtol=1e-4, atol=1e-5)


def skewed(n=40, seed=0):
    """Values whose logarithm is smooth."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, 2, generator=generator, dtype=torch.float64)
    z = (2.5 * torch.sin(4 * X).sum(-1)).exp()
    z = (z - z.median()) / (z - z.median()).abs().median()
    return X, z


def model_of(X, z, blocks=warp.FREE, s2=None):
    covariance = stationary(X, "matern52", LogNormal(1.5, 1.0), LogNormal(2.0, 2.0))
    return Model(z, covariance, LogNormal(-4.0, 1.0), s2, warp=blocks)


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("t", [(0.3, 1.2, 0.0), (0.3, 1.2, -0.7), (0.0, 0.0, 0.4)])
def test_the_gradient_of_the_log_posterior_is_that_of_differences(is_known, t):
    X, z = skewed()
    model = model_of(X, z, s2=torch.full_like(z, 0.02) if is_known else None)
    rho = torch.zeros_like(z).index_fill(0, torch.tensor([3, 8]), 4.0)
    theta = torch.cat([model.starts[0][:-3], torch.tensor(t, dtype=torch.float64)])
    value = log_posterior(model, theta, rho)
    slopes, _ = gradient(model, value)
    for i in range(len(theta)):
        step = torch.zeros_like(theta).index_fill(0, torch.tensor([i]), 1e-6)
        ahead = log_posterior(model, theta + step, rho).F
        is_at_bound = len(theta) - 3 <= i < len(theta) - 1 and not any(t[:2])
        behind, width = (value.F, 1e-6) if is_at_bound else (log_posterior(model, theta - step, rho).F, 2e-6)
        assert (ahead - behind) / width == pytest.approx(slopes[i].item(), rel=1e-3, abs=1e-4)


def test_the_density_is_that_of_values_as_they_were():
    """A density of one value, over all values, adds up to 1."""
    X, z = skewed()
    theta = torch.tensor([0.0, 0.0, -2.0, -2.0, 0.8, 1.5, -0.6], dtype=torch.float64)
    grid = torch.linspace(-400, 400, 200_001, dtype=torch.float64)
    none = torch.zeros(1, dtype=torch.float64)
    one = model_of(X[:1], z[:1])
    prior = log_posterior(one, theta, none, none[0]).F - log_posterior(one, theta, none, none[0]).evidence.L
    prior = prior - WarpedOutcomes(z[:1].numpy(), theta[-3:].tolist()).log_slope.sum()
    s2 = log_posterior(one, theta, none).s2 + one.covariance.at(theta[:3]).K.diagonal()
    bent = WarpedOutcomes(grid.numpy(), theta[-3:].tolist())
    density = np.exp(-0.5 * bent.y**2 / s2.item() + bent.log_slope) / math.sqrt(2 * math.pi * s2.item())
    assert np.trapezoid(density, grid.numpy()) == pytest.approx(1.0, abs=1e-3)
    at = int((grid - z[0]).abs().argmin())
    said = log_posterior(one._replace(y=grid[at : at + 1]), theta, none, none[0]).F - prior
    assert said == pytest.approx(math.log(density[at]), rel=1e-9)


def test_the_data_decide_how_far_it_bends():
    X, z = skewed()
    found = maximize_alone(model_of(X, z), model_of(X, z).starts[0])
    assert found.theta[-2] > 0.3
    straight = torch.sin(4 * X).sum(-1)
    none = maximize_alone(model_of(X, straight), model_of(X, straight).starts[1])
    assert none.theta[-3:-1].max() < 0.1


@pytest.mark.parametrize("magnitude", [30.0, 300.0, 700.0])
def test_a_value_with_a_variance_of_its_own_does_not_bend_it(magnitude):
    X, z = skewed()
    z = z.clone()
    z[5] = magnitude
    model, support = model_of(X, z), torch.tensor([5])
    rest = torch.arange(len(z)) != 5
    alone = maximize_alone(model_of(X[rest], z[rest]), model.starts[0], ftol=1e-12)
    rho = torch.zeros_like(z).index_fill(0, support, magnitude**2)
    found, _ = climb(model, model.starts[0], rho, support, torch.ones_like(z), ftol=1e-12)
    torch.testing.assert_close(found.theta[-3:], alone.theta[-3:], rtol=0, atol=0.05)


def test_a_warp_that_is_held_stays():
    X, z = skewed()
    model = model_of(X, z, warp.fixed_warp((0.2, 0.9, -0.5)))
    found = maximize_alone(model, model.starts[0])
    assert found.theta[-3:].tolist() == [0.2, 0.9, -0.5]
