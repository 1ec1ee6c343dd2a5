import math
from itertools import combinations

import numpy as np
import pytest
import torch

from robustbo.numerics.gp.leave_one_out import leave_one_out
from robustbo.numerics.gp.prediction_cache import PredictionCache
from robustbo.numerics.pursuit import gibbs
from robustbo.numerics.pursuit.chain import DELAYED, Chain
from robustbo.numerics.pursuit.gibbs import log_cauchy, sample, sample_doubtful


def problem(n=8, seed=0):
    """A smooth function, two values of which are off."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(n, generator=generator)
    Sg = torch.exp(-0.5 * (x.unsqueeze(-1) - x).square() / 0.2**2) + 0.05 * torch.eye(n)
    y = torch.sin(5 * x)
    y[1] += 1.1
    y[4] -= 0.8
    return Sg, y


def log_wrong(y):
    return log_cauchy(y, torch.ones_like(y))


def log_normal(Sg, y):
    return torch.distributions.MultivariateNormal(torch.zeros_like(y), Sg).log_prob(y).item() if len(y) else 0.0


def by_enumeration(Sg, y, log_wrong, rate):
    """The same probabilities from all sets of at most half."""
    n = len(y)
    total, q = 0.0, np.zeros(n)
    for k in range(n // 2 + 1):
        prior = k * math.log(rate) + (n - k) * math.log(1 - rate)
        for wrong in combinations(range(n), k):
            right = [i for i in range(n) if i not in wrong]
            F = prior + log_normal(Sg[right][:, right], y[right]) + log_wrong[list(wrong)].sum().item()
            total += math.exp(F)
            q[list(wrong)] += math.exp(F)
    return torch.from_numpy(q / total)


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.5])
def test_it_agrees_with_the_sum_over_all_sets(rate):
    Sg, y = problem()
    given = log_wrong(y)
    found = torch.stack([sample(Sg, y, given, rate=rate, seed=seed).q for seed in range(400)])
    wanted = by_enumeration(Sg, y, given, rate)
    assert wanted.max() > 0.5 > 0.2 > wanted.min()
    errors = found.std(0) / math.sqrt(len(found))
    assert ((found.mean(0) - wanted).abs() < 5 * errors + 0.02).all()


def test_where_it_begins_is_soon_forgotten():
    Sg, y = problem()
    means = [
        torch.stack([sample(Sg, y, log_wrong(y), begin=begin, seed=seed, rate=0.2).q for seed in range(400)]).mean(0)
        for begin in ((), (0, 2, 3))
    ]
    torch.testing.assert_close(*means, atol=0.05, rtol=0)


def test_the_last_set_is_of_those_that_are_probably_wrong():
    Sg, y = problem()
    y[1] += 20
    found = sample(Sg, y, log_wrong(y), begin=[1], rate=0.2)
    assert 1 in found.wrong
    assert found.q[1] > 0.999


def test_the_cleared_are_right_and_half_may_be_wrong_at_most():
    Sg, y = problem()
    y[1] += 20
    cleared = torch.zeros(len(y), dtype=torch.bool)
    cleared[1] = True
    assert sample(Sg, y, log_wrong(y), cleared=cleared, rate=0.2).q[1] == 0
    always = sample(Sg, y, torch.full_like(y, 1e3), rate=0.2)
    assert len(always.wrong) == len(y) // 2
    assert always.q.sum() <= len(y) // 2 + 1e-9
    assert sample(Sg[:1, :1], y[:1], log_wrong(y[:1]), rate=0.2).q.tolist() == [0.0]


@pytest.mark.parametrize("magnitude", [1e3, 1e12, 1e150, 1e300])
@pytest.mark.filterwarnings("error")
def test_the_magnitude_of_what_is_wrong_changes_nothing(magnitude):
    Sg, y = problem()
    y[1] = 1e2
    wanted = sample(Sg, y, log_wrong(y), begin=[1], rate=0.1).q
    y[1] = magnitude
    torch.testing.assert_close(sample(Sg, y, log_wrong(y), begin=[1], rate=0.1).q, wanted)


def test_it_is_a_pure_function():
    Sg, y = problem()
    first, again = sample(Sg, y, log_wrong(y), rate=0.2), sample(Sg, y, log_wrong(y), rate=0.2)
    assert torch.equal(first.q, again.q)
    assert torch.equal(Sg, problem()[0])


def left_out_anew(Sg, r, is_wrong, i):
    """The error and the variance of one, from the right ones but itself."""
    others = [j for j in np.flatnonzero(~np.array(is_wrong)) if j != i]
    W = np.linalg.solve(Sg[np.ix_(others, others)], Sg[others, i])
    return r[i] - W @ r[others], Sg[i, i] - W @ Sg[others, i]


@pytest.mark.parametrize("gross", [0.0, 1e12])
def test_updates_that_are_carried_out_together_are_those_of_one_after_the_other(gross):
    n, rng = 150, np.random.default_rng(1)
    X = rng.random((n, 2))
    Sg = np.exp(-0.5 * np.square(X[:, None] - X).sum(-1) / 0.3**2) + 0.3 * np.eye(n)
    r = rng.standard_normal(n)
    r[7] += gross
    chain = Chain(Sg, r, begin=[3, 4])
    for i in [7, *rng.choice([i for i in range(n) if i != 7], size=DELAYED + 70)]:  # beyond one product, before another
        chain.move(i)
    assert sum(chain.is_wrong) > DELAYED / 2  # some have come back, and what is kept of the wrong ones has grown
    for i in range(n):
        assert chain.leave_one_out(i) == pytest.approx(left_out_anew(Sg, r, chain.is_wrong, i), rel=1e-8, abs=1e-9)
        assert chain.num_others_wrong(i) == sum(chain.is_wrong) - chain.is_wrong[i]


def test_the_inverse_keeps_its_digits_over_many_moves():
    """On a covariance whose condition is 1e7; updates alone lose one or two in these."""
    n, rng = 40, np.random.default_rng(0)
    x = np.linspace(0, 1, n)
    Sg = 3e2 * np.exp(-0.5 * np.square((x[:, None] - x) / 0.5)) + 1e-3 * np.eye(n)
    r = np.sin(5 * x) + 0.03 * rng.standard_normal(n)
    chain = Chain(Sg, r)
    for i in rng.integers(n, size=2000):
        chain.move(i)
    right = np.flatnonzero(~np.array(chain.is_wrong))
    for i in range(n):
        others = [j for j in right if j != i]
        W = np.linalg.solve(Sg[np.ix_(others, others)], Sg[others, i])
        e, v = chain.leave_one_out(i)
        wanted = Sg[i, i] - W @ Sg[others, i]
        assert v == pytest.approx(wanted, rel=1e-3)  # of 1e-4 some processors lack a little
        assert abs(e - (r[i] - W @ r[others])) < 1e-3 * math.sqrt(wanted)


def known(Sg, y, rho):
    P = torch.linalg.inv(Sg + torch.diag(rho))
    mean, v = leave_one_out(y, Sg, rho)
    return PredictionCache(torch.zeros(()), P, P @ y, y - mean, v)


@pytest.mark.parametrize("rho", [torch.zeros(8), torch.tensor([0.0, 1.2, 0, 0, 0.5, 0, 0, 0])])
def test_the_doubtful_ones_are_sampled_given_all_others(rho, monkeypatch):
    Sg, y = problem()
    monkeypatch.setattr(gibbs, "SURE", 1e-9)  # all are
    wrong = log_wrong(y)
    begin = rho.nonzero().flatten().tolist()
    q = sample_doubtful(known(Sg, y, rho), rho, wrong, rate=0.1, seed=3)
    torch.testing.assert_close(q, sample(Sg, y, wrong, rate=0.1, begin=begin, seed=3).q, rtol=1e-6, atol=1e-6)


def test_what_is_as_good_as_certain_needs_no_chain():
    Sg, y = problem()
    y[1] = 1e4
    rho = torch.zeros(8)
    rho[1] = 1e8
    clear = torch.arange(8) == 4
    q = sample_doubtful(known(Sg, y, rho), rho, log_wrong(y), rate=0.1, cleared=clear)
    assert q[1] > 0.999
    assert q[4] == 0
