import numpy as np
import pytest
import torch

from robustbo.numerics.belief.densities import MULTIPLES
from robustbo.numerics.belief.population import Population, Systems, cholesky_factors
from robustbo.numerics.belief.sweep import NONE, ODD, OF_NOISE, OF_VALUE
from tests.numerics.belief.enumeration import NOISE, by_enumeration, log_wrong, problem


def population(K, y, chains, rate, doubtful=()):
    n = len(y)
    rows = np.zeros((chains, n))
    systems = Systems(np.tile(K.numpy(), (chains, 1, 1)), rows + y.numpy(), rows + NOISE, rows)
    return Population(systems, [doubtful] * chains, rate)


def draw(K, y, log_odd, *, rate, chains=100, sweeps=12, burn_in=3, most=None, doubt=None):
    chain, rng, total = population(K, y, chains, rate), np.random.default_rng(0), np.zeros((chains, len(y)))
    doubt = np.full(len(y), OF_VALUE) if doubt is None else doubt
    for sweep in range(burn_in + sweeps):
        q = chain.sweep(log_odd.numpy(), doubt, len(y) // 2 if most is None else most, rng).q
        chain.draw_rate_and_tails(doubt, rng)
        total += q if sweep >= burn_in else 0.0
    return chain, torch.from_numpy(total / sweeps)


def leave_one_out(chains):
    B, n = chains.state.shape
    return np.array([[chains.chain(b).leave_one_out(i) for i in range(n)] for b in range(B)])


@pytest.mark.few(1)
@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_it_agrees_with_the_sum_over_all_states(rate):
    K, y = problem(6)
    _, q = draw(K, y, log_wrong(y), rate=rate, chains=300)
    expected = by_enumeration(K, y, log_wrong(y), rate)
    errors = q.std(0) / np.sqrt(len(q))
    assert ((q.mean(0) - expected).abs() < 5 * errors + 0.01).all()
    assert expected.max() > 2 * expected.min()


@pytest.mark.parametrize("cleared", [[1], [0, 1, 3]])
def test_what_is_certain_is_right_and_says_nothing_of_the_tails(cleared):
    K, y = problem(6)
    doubt = np.where(np.isin(np.arange(6), cleared), NONE, OF_VALUE)
    _, q = draw(K, y, log_wrong(y), rate=0.2, chains=300, doubt=doubt)
    expected = by_enumeration(K, y, log_wrong(y), 0.2, cleared)
    errors = q.std(0) / np.sqrt(len(q))
    assert ((q.mean(0) - expected).abs() < 5 * errors + 0.01).all()
    assert (q[:, cleared] == 0).all()


def test_those_that_are_free_alone_are_odd_and_half_at_most():
    K, y = problem()
    y[1] += 20
    doubt = np.where(np.arange(len(y)) != 1, OF_VALUE, OF_NOISE)
    chain, q = draw(K, y, torch.full_like(y, 1e3), rate=0.2, doubt=doubt)
    assert (chain.is_odd.sum(1) == len(y) // 2).all()
    assert (q[:, 1] == 0).all()


@pytest.mark.parametrize("magnitude", [1e5, 1e150])
def test_the_magnitude_of_what_is_wrong_changes_nothing(magnitude):
    K, y = problem()
    y[1] = magnitude
    chain = population(K, y, 3, 0.1, doubtful=[1])
    assert chain.is_odd.tolist() == [[i == 1 for i in range(len(y))]] * 3
    q = chain.sweep(log_wrong(y).numpy(), np.full(len(y), OF_VALUE), 3, np.random.default_rng(0)).q
    assert (q[:, 1] > 0.999).all()
    assert np.isfinite(q).all()


@pytest.mark.parametrize("gross", [0.0, 1e12])
def test_updates_give_what_is_computed_anew(gross):
    K, y = problem(7)
    y[2] += gross
    chain, rng = population(K, y, 20, 0.3, doubtful=[2]), np.random.default_rng(1)
    chain.sweep(np.full(len(y), -3.0), np.full(len(y), OF_VALUE), 3, rng)
    assert chain.is_odd.any()
    assert len(np.unique(chain.state)) == ODD + 1
    updated = leave_one_out(chain)
    chain.renew()
    anew = leave_one_out(chain)
    np.testing.assert_allclose(updated, anew, rtol=1e-7, atol=1e-9)
    b, i = np.argwhere(chain.is_odd & (np.arange(len(y)) != 2))[0]
    right = np.flatnonzero(~chain.is_odd[b])
    noise = NOISE * MULTIPLES[np.minimum(chain.state[b], ODD - 1)][right]
    weights = np.linalg.solve(K.numpy()[np.ix_(right, right)] + np.diag(noise), K.numpy()[right, i])
    assert anew[b, i, 0] == pytest.approx(y[i].item() - weights @ y.numpy()[right])
    assert anew[b, i, 1] == pytest.approx(K[i, i].item() - weights @ K.numpy()[right, i])


def test_a_matrix_that_is_hardly_definite_has_a_factor():
    M = np.stack([np.ones((3, 3)) * 4.0, np.eye(3)])
    C = cholesky_factors(M).numpy()
    np.testing.assert_allclose(C @ C.transpose(0, 2, 1), M, atol=1e-5)
