"""A small data set, and the probabilities that its values are odd by the sum over all their states."""

import math
from itertools import product

import numpy as np
import torch

from robustbo.numerics.belief.densities import LOG_SHARES, MULTIPLES
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
    return torch.distributions.MultivariateNormal(torch.zeros_like(y), Sg).log_prob(y).item() if len(y) else 0.0


def by_enumeration(K, y, log_odd, rate):
    """The same probabilities from all states of all observations, all degrees of freedom, and the rate integrated."""
    n, total, q = len(y), 0.0, np.zeros(len(y))
    a, b = PRIOR_WEIGHT * rate, PRIOR_WEIGHT * (1 - rate)
    shares = np.exp(LOG_SHARES)
    for states in product(range(ODD + 1), repeat=n):
        states = np.array(states)
        odd = states == ODD
        k = odd.sum()
        if k > n // 2:
            continue
        right = np.flatnonzero(~odd)
        of_dofs = np.mean(np.prod(shares[:, states[right]], axis=1))
        if of_dofs < 1e-9:
            continue
        log_rate = math.lgamma(a + k) + math.lgamma(b + n - k) - math.lgamma(a) - math.lgamma(b)
        Sg = K[right][:, right] + torch.diag(torch.from_numpy(NOISE * MULTIPLES[states[right]]))
        F = log_rate + log_normal(Sg, y[right]) + log_odd.numpy()[odd].sum()
        weight = of_dofs * math.exp(F)
        total += weight
        q[odd] += weight
    return torch.from_numpy(q / total)
