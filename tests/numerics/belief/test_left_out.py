import math

import numpy as np
import pytest
import torch
from scipy.special import ndtr
from scipy.stats import norm

from robustbo.numerics.belief.densities import LOG_SHARES, NUM_RIGHT
from robustbo.numerics.belief.gibbs import System, sample
from robustbo.numerics.belief.left_out import Mixtures
from robustbo.numerics.belief.population import Population, Systems
from robustbo.numerics.belief.predictions import Predictions, SweepDraws
from robustbo.numerics.belief.sweep import OF_VALUE
from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.gp.warp import NONE, WarpedOutcomes
from tests.numerics.belief.enumeration import NOISE, left_out_by_enumeration, log_wrong, problem

LOW, HIGH = math.expm1(0.7) ** 0.5, math.expm1(2.0) ** 0.5  # bends
T = np.array([*np.log1p(np.square([LOW, HIGH])), 0.4])  # and an origin


def sampled(K, y, chains=300, sweeps=12, burn_in=12, rate=0.2):
    """The draws of chains side by side, and of each sweep q, the rates and the logarithms of what draws count."""
    n, rng, parts, records = len(y), np.random.default_rng(0), [], []
    rows = np.zeros((chains, n))
    population = Population(
        Systems(np.tile(K.numpy(), (chains, 1, 1)), rows + y.numpy(), rows + NOISE, rows), [()] * chains, rate
    )
    for sweep in range(burn_in + sweeps):
        rates, log_shares = population.rate, LOG_SHARES[population.dof]
        draws = population.sweep(log_wrong(y).numpy(), np.full(n, OF_VALUE), n // 2, rng)
        population.draw_rate_and_tails(np.full(n, OF_VALUE), rng)
        if sweep >= burn_in:
            parts.append(draws.predictions(population.systems.s2, log_shares))
            records.append((draws.q, np.tile(rates[:, None], n), draws.log_weight))
    return Mixtures(Predictions.concatenate(parts), n), *(np.concatenate(of) for of in zip(*records, strict=True))


def one_chain(K, y, count=40, rate=0.2):
    """The draws of single chains, one after the other."""
    system = System(K.numpy(), y.numpy(), np.full(len(y), NOISE), np.zeros(len(y)))
    parts = [sample(system, log_wrong(y), rate=rate, sweeps=100, seed=seed).predictions for seed in range(count)]
    return Mixtures(Predictions.concatenate(parts), len(y))


@pytest.mark.few(1)
@pytest.mark.parametrize("draw", [lambda K, y: sampled(K, y)[0], one_chain], ids=["side by side", "alone"])
def test_it_agrees_with_the_sum_over_all_states(draw):
    K, y = problem(5)
    mixtures = draw(K.double(), y.double())
    density, center = mixtures.log_density(y.double().numpy()), mixtures.quantile(np.zeros(5))
    side = mixtures.quantile(np.ones(5))
    for i in range(5):
        w, mean, sd = left_out_by_enumeration(K, y, log_wrong(y), 0.2, i)
        assert density[i] == pytest.approx(
            math.log(w @ norm.pdf(y[i].item(), mean, sd)), abs=0.3
        )  # the error of so few draws
        assert w @ ndtr((center[i] - mean) / sd) == pytest.approx(0.5, abs=0.03)
        assert w @ ndtr((side[i] - mean) / sd) == pytest.approx(ndtr(1.0), abs=0.03)


def test_the_odds_are_those_of_the_densities_and_the_rate():
    K, y = (x.double() for x in problem(6))
    mixtures, q, rate, log_weight = sampled(K, y, chains=5)
    right = np.exp(log_weight - log_weight.max(0))
    prior = (right * rate / (1 - rate)).sum(0) / right.sum(0)
    odd, measured = prior * np.exp(log_wrong(y).numpy()), np.exp(mixtures.log_density(y.numpy()))
    of_right = Mixtures(mixtures._draws, 6, NUM_RIGHT)
    right = mixtures.share(NUM_RIGHT) * np.exp(of_right.log_density(y.numpy()))
    np.testing.assert_allclose(1 - right / (odd + measured), q.mean(0), rtol=1e-9)
    np.testing.assert_allclose(of_right.share(NUM_RIGHT), 1.0)


def single(mean, v, s2, t=NONE, share=(1.0, 0.0, 0.0)):
    """One draw of each of some observations."""
    n = len(mean)
    draws = SweepDraws(np.zeros(n), np.array(mean), np.full(n, v), np.zeros(n))
    with np.errstate(divide="ignore"):
        return Mixtures(draws.predictions(np.full(n, s2), np.log(share), np.array(t)), n)


def test_of_one_normal_distribution_they_are_mean_deviation_and_gain():
    z = np.array([0.3, 1.8, -9.0, 1e8])
    expected = single([0.5, 0.5, 0.5, 0.5], 0.3, 0.06).expectations(z)
    np.testing.assert_allclose(expected.center, 0.5, rtol=1e-9)
    np.testing.assert_allclose(abs(expected.side - expected.center), 0.6, rtol=1e-6)
    off, variance = torch.from_numpy(z - 0.5), torch.full((4,), 0.36, dtype=torch.float64)
    torch.testing.assert_close(expected.evidence, gain(off, variance), rtol=1e-9, atol=1e-9)


def test_quantiles_and_densities_are_those_before_a_warp():
    warp = WarpedOutcomes(np.array([-2.0, 0.1, 6.0]), T.tolist())
    mixtures = single(warp.y.tolist(), 0.1, 0.02, t=T, share=(0.9, 0.08, 0.02))
    center, side = mixtures.quantile(np.zeros(3)), mixtures.quantile(np.full(3, -1.3))
    np.testing.assert_allclose(center, [-2.0, 0.1, 6.0], rtol=1e-8)
    bent = WarpedOutcomes(side, T.tolist()).y
    mass = [0.9, 0.08, 0.02] @ ndtr((bent - warp.y) / np.sqrt([[0.12], [0.28], [1.72]]))
    np.testing.assert_allclose(mass, ndtr(-1.3), rtol=1e-8)
    z, step = np.array([-3.0, 0.05, 9.0]), 1e-5
    lower, upper = (mixtures._distribution(z + x)[0] for x in (-step, step))
    np.testing.assert_allclose(np.exp(mixtures.log_density(z)), (upper - lower) / (2 * step), rtol=1e-5)


def test_of_two_explanations_a_value_between_them_is_not_within_the_deviation_that_is_told():
    part = SweepDraws(np.zeros(1), np.array([-1.0]), np.array([1e-4]), np.zeros(1))
    other = part._replace(mean=np.array([1.0]))
    noise, shares = np.array([1e-6]), LOG_SHARES[-1]
    mixtures = Mixtures(Predictions.concatenate([part.predictions(noise, shares), other.predictions(noise, shares)]), 1)
    expected = mixtures.expectations(np.array([0.5]))
    assert expected.evidence > 100
    assert abs(0.5 - expected.center) > abs(expected.side - expected.center)
