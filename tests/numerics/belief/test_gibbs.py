import math

import numpy as np
import pytest
import torch

from robustbo.numerics.belief.chain import DELAYED, Chain
from robustbo.numerics.belief.densities import MULTIPLES
from robustbo.numerics.belief.gibbs import System, sample
from robustbo.numerics.belief.sweep import NONE, ODD, OF_NOISE, OF_VALUE
from tests.numerics.belief.enumeration import NOISE, by_enumeration, log_wrong, problem


def draw(K, y, log_odd, **options):
    n = len(y)
    return sample(System(K.numpy(), y.numpy(), np.full(n, NOISE), np.zeros(n)), log_odd, **options)


@pytest.mark.few(1)
@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_it_agrees_with_the_sum_over_all_states(rate):
    K, y = problem(6)
    log_odd = log_wrong(y)
    q = torch.stack([draw(K, y, log_odd, rate=rate, seed=seed).q for seed in range(100)])
    expected = by_enumeration(K, y, log_odd, rate)
    errors = q.std(0) / math.sqrt(len(q))
    assert ((q.mean(0) - expected).abs() < 5 * errors + 0.01).all()
    assert expected.max() > 2 * expected.min()


@pytest.mark.slow
def test_where_it_begins_is_soon_forgotten():
    K, y = problem()
    means = [
        torch.stack([draw(K, y, log_wrong(y), begin=begin, seed=seed, rate=0.2).q for seed in range(300)]).mean(0)
        for begin in ((), (0, 2, 3))
    ]
    torch.testing.assert_close(*means, atol=0.05, rtol=0)


def test_the_last_set_is_of_those_that_are_probably_wrong():
    K, y = problem()
    y[1] += 200
    draws = draw(K, y, log_wrong(y), begin=[1], rate=0.2)
    assert draws.states.is_odd[1]
    assert draws.q[1] > 0.999


def test_the_cleared_are_right_and_half_may_be_wrong_at_most():
    K, y = problem()
    y[1] += 20
    for left in (NONE, OF_NOISE):
        doubt = np.where(np.arange(len(y)) == 1, left, OF_VALUE)
        states = (of := draw(K, y, log_wrong(y), doubt=doubt, rate=0.2)).states.state
        assert of.q[1] == 0
        assert states[1] == 0 if left == NONE else 0 < states[1] < ODD
    always = draw(K, y, torch.full_like(y, 1e3), rate=0.2)
    assert always.states.is_odd.sum() == len(y) // 2
    assert draw(K[:1, :1], y[:1], log_wrong(y[:1]), rate=0.2).q.item() < 0.05  # the noise may be the widest


@pytest.mark.parametrize("magnitude", [1e5, 1e12, 1e150, 1e300])
@pytest.mark.filterwarnings("error")
def test_the_magnitude_of_what_is_wrong_changes_nothing(magnitude):
    K, y = problem()
    y[1] = 1e4
    expected = draw(K, y, log_wrong(y), begin=[1], rate=0.1).q
    y[1] = magnitude
    torch.testing.assert_close(draw(K, y, log_wrong(y), begin=[1], rate=0.1).q, expected)


def test_it_is_a_pure_function():
    K, y = problem()
    first, again = draw(K, y, log_wrong(y), rate=0.2), draw(K, y, log_wrong(y), rate=0.2)
    assert torch.equal(first.q, again.q)
    assert torch.equal(K, problem()[0])


def test_noise_of_heavy_tails_is_told_from_errors():
    """Of many values in Student-t noise the few far ones are right; the same in normal noise are not."""
    rng, n = np.random.default_rng(0), 120
    heavy, none = rng.standard_t(2.5, n), np.zeros(n)
    light = np.concatenate([rng.standard_normal(n - 3), [9.0, -11.0, 10.0]])
    K = np.full((n, n), 0.01)
    q = [sample(System(K, y, none + 1.0, none), log_wrong(torch.from_numpy(y / 2)), rate=0.1).q for y in (heavy, light)]
    assert np.abs(heavy).max() > 6
    assert (q[0] > 0.5).sum() <= 1
    assert (q[1][-3:] > 0.5).all()


def left_out_anew(K, r, s2, is_wrong, i):
    """The error of one, from the right ones but itself, and the latent variance."""
    others = [j for j in np.flatnonzero(~np.array(is_wrong)) if j != i]
    W = np.linalg.solve(K[np.ix_(others, others)] + np.diag(s2[others]), K[others, i])
    return r[i] - W @ r[others], K[i, i] - W @ K[others, i]


@pytest.mark.parametrize("gross", [0.0, 1e12])
def test_updates_that_are_carried_out_together_are_those_of_one_after_the_other(gross):
    n, rng = 150, np.random.default_rng(1)
    X = rng.random((n, 2))
    K, s2 = np.exp(-0.5 * np.square(X[:, None] - X).sum(-1) / 0.3**2), np.full(n, 0.3)
    r = rng.standard_normal(n)
    r[7] += gross
    chain = Chain(K, r, s2, wrong=[3, 4])
    for i in [7, *rng.choice([i for i in range(n) if i != 7], size=DELAYED + 70)]:  # beyond one product, before another
        is_leaving = not chain.is_wrong[i] and rng.random() < 0.7
        s2[i] = s2[i] if is_leaving else 0.3 * rng.choice(MULTIPLES)
        chain.move(i, None if is_leaving else s2[i])
    assert sum(chain.is_wrong) > DELAYED / 4  # some have come back, and what is kept of the wrong ones has grown
    for i in range(n):
        assert chain.leave_one_out(i) == pytest.approx(left_out_anew(K, r, s2, chain.is_wrong, i), rel=1e-8, abs=1e-9)


def test_the_inverse_keeps_its_digits_over_many_moves():
    """On a covariance whose condition is 1e7; updates alone lose one or two in these."""
    n, rng = 40, np.random.default_rng(0)
    x = np.linspace(0, 1, n)
    K, s2 = 3e2 * np.exp(-0.5 * np.square((x[:, None] - x) / 0.5)), np.full(n, 1e-3)
    r = np.sin(5 * x) + 0.03 * rng.standard_normal(n)
    chain = Chain(K, r, s2)
    for i in rng.integers(n, size=2000):
        chain.move(i, 1e-3 if chain.is_wrong[i] else None)
    for i in range(n):
        error, variance = left_out_anew(K, r, s2, chain.is_wrong, i)
        e, v = chain.leave_one_out(i)
        assert v + 1e-3 == pytest.approx(variance + 1e-3, rel=1e-3)  # of 1e-4 some processors lack a little
        assert abs(e - error) < 1e-3 * math.sqrt(variance + 1e-3)
