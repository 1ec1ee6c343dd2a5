"""A small data set, and the probabilities that its values say nothing by the sum over all their states."""

import math
from itertools import product

import numpy as np
import torch

from robustbo.numerics.belief.densities import LOG_SHARES, MULTIPLES, silent_share
from robustbo.numerics.belief.gibbs import ODD, PRIOR_WEIGHT
from robustbo.numerics.gp.wrong_density import log_wrong_density

NOISE = 0.05


def problem(n=7, seed=0):
    """A smooth function, two values of which are off: covariance of the latent values, and the values."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(n, generator=generator)
    K = torch.exp(-0.5 * (x.unsqueeze(-1) - x).square() / 0.2**2)
    y = torch.sin(5 * x)
    y[1] += 1.1
    y[4] -= 0.8
    return K, y


def log_wrong(y):
    return log_wrong_density(y, torch.ones_like(y))


def log_normal(Sg, y):
    return torch.distributions.MultivariateNormal(y.double() * 0, Sg).log_prob(y.double()).item() if len(y) else 0.0


def by_enumeration(K, y, log_odd, rate, cleared=()):
    """The same probabilities from all states of all observations, all degrees of freedom, and the rate integrated."""
    total, q, is_doubtful = 0.0, np.zeros(len(y)), ~np.isin(np.arange(len(y)), list(cleared))
    for states, log_prior in all_states(len(y), rate, cleared):
        odd, right = states == ODD, np.flatnonzero(states != ODD)
        weight = math.exp(log_prior + log_normal(_covariance(K, states, right), y[right]) + log_odd.numpy()[odd].sum())
        total += weight
        q[odd] += weight
        q[is_doubtful & (states == ODD - 1)] += silent_share(rate) * weight
    return torch.from_numpy(q / total)


def all_states(n, rate, cleared=()):
    """All states of all observations, and the logarithms of their prior probabilities, but for the least.

    Those that are cleared have the noise of most, and say nothing of its tails.
    """
    a, b = PRIOR_WEIGHT * rate, PRIOR_WEIGHT * (1 - rate)
    shares, is_doubtful = np.exp(LOG_SHARES), ~np.isin(np.arange(n), list(cleared))
    for states in product(*(range(ODD + 1) if doubtful else (0,) for doubtful in is_doubtful)):
        states = np.array(states)
        k = (states == ODD).sum()
        of_dofs = np.mean(np.prod(shares[:, states[is_doubtful & (states != ODD)]], axis=1))
        if k <= n // 2 and of_dofs >= 1e-9:
            log_rate = math.lgamma(a + k) + math.lgamma(b + n - k) - math.lgamma(a) - math.lgamma(b)
            yield states, math.log(of_dofs) + log_rate


def left_out_by_enumeration(K, y, log_odd, rate, i):
    """Weights, means and standard deviations of what the others predict for observation i, if it is right."""
    rows, odd_density = [], log_odd.numpy()
    for states, log_prior in all_states(len(y), rate):
        if states[i] == ODD:
            continue
        others = np.flatnonzero((states != ODD) & (np.arange(len(y)) != i))
        Sg, k = _covariance(K, states, others), K[others, i]
        weight = math.exp(log_prior + log_normal(Sg, y[others]) + odd_density[states == ODD].sum())
        gain = torch.linalg.solve(Sg, k.double())
        variance = K[i, i] - gain @ k.double() + NOISE * MULTIPLES[states[i]]
        rows.append((weight, (gain @ y[others].double()).item(), math.sqrt(variance)))
    weights, means, sds = np.array(rows).T
    return weights / weights.sum(), means, sds


def _covariance(K, states, rows):
    return K[rows][:, rows].double() + torch.diag(torch.from_numpy(NOISE * MULTIPLES[states[rows]]))
