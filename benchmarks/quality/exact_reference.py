"""The exact probability that each value is wrong: all sets of errors enumerated, hyperparameters by quadrature.

Each value is in one of a few states: right with the noise, right with a multiple of its variance (a scale mixture of
normals: tails), or one in which it says nothing of the function and has a density of its own, as a wrong value has.
Nothing of numerics/pursuit is used, and nothing is approximated but the quadrature: a grid over the logarithms of the
length-scales and of noise / signal, on which the matrices are inverted once, and over that of the signal, in which all
is in closed form. The constant mean has a normal prior and is integrated. States are visited depth first, a value's
change of state being an update of rank one for all points of the grid at once.

Notation:
    T    points of the grid over length-scales and g
    S    assignments of states to values
    g    T          noise variance / signal variance
    R    T x n x n  covariance / signal variance; P its inverse, without the rows that say nothing
    m               the constant mean
"""

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from benchmarks.quality.exact_errors import Array, ErrorModel, State
from robustbo.numerics.belief.hyperparameters import MEAN_VARIANCE
from robustbo.surrogates.common.priors import MIN_L, NOISE_PRIOR, SIGNAL_PRIOR, length_scale_prior

STEPS = {1: 0.5, 2: 1.0}  # by dimension, of the grid over log l and log g; see `benchmarks/quality/exact.py --finer`
LOG_L = (math.log(MIN_L), 6.5)  # the lower end is the surrogates' bound; beyond the others next to nothing is left
LOG_G, LOG_S2F = (-13.0, 2.0), (-4.0, 10.0)
STEP_S2F = 0.5


class Node(NamedTuple):
    """An assignment of states: what the values that speak of the function say, at each of T points of the grid."""

    states: tuple[int, ...]
    P: Array
    Pz: Array
    P1: Array
    z_P_z: Array
    one_P_z: Array
    one_P_one: Array
    log_det: Array
    num_speaking: int

    def with_state(self, i: int, state: int, of: State, g: Array, is_leaf: bool) -> "Node":
        """The assignment in which value i is in another state: it is dropped, or its variance grows."""
        p_ii = np.maximum(self.P[:, i, i], 1e-300)
        if math.isinf(of.multiplier):
            c, log_det, speaking = 1 / p_ii, np.log(p_ii), self.num_speaking - 1
        else:
            extra = g * (of.multiplier - 1)
            c, log_det, speaking = extra / (1 + extra * p_ii), np.log1p(extra * p_ii), self.num_speaking
        on_z, on_one = self.Pz[:, i], self.P1[:, i]
        P, Pz, P1 = self.P, self.Pz, self.P1
        if not is_leaf:  # of whose matrix nobody asks
            row = c[:, None] * P[:, i]
            P, Pz, P1 = P - row[:, :, None] * P[:, i, None], Pz - row * on_z[:, None], P1 - row * on_one[:, None]
        return Node(
            (*self.states[:i], state, *self.states[i + 1 :]),
            *(P, Pz, P1),
            self.z_P_z - c * on_z**2,
            self.one_P_z - c * on_z * on_one,
            self.one_P_one - c * on_one**2,
            self.log_det + log_det,
            speaking,
        )


def visit(node: Node, first: int, errors: ErrorModel, g: Array) -> Iterator[Node]:
    """An assignment, and all that change values from one on; at most half of the values are wrong, or say nothing."""
    yield node
    n = len(node.states)
    for i in range(first, n):
        for state, of in enumerate(errors.states[1:], 1):
            if not math.isinf(of.multiplier) or node.num_speaking > n - n // 2:
                yield from visit(node.with_state(i, state, of, g, i == n - 1), i + 1, errors, g)


def matern52(X: Array, Z: Array, scales: Array) -> Array:
    """``T x m x n`` correlations of ``m x d`` and ``n x d`` points at ``T x d`` length-scales."""
    apart = (X[:, None] - Z[None])[None] / scales[:, None, None]
    r = math.sqrt(5) * np.sqrt(np.square(apart).sum(-1))
    return (1 + r + r**2 / 3) * np.exp(-r)


def log_normal(x: Array, loc: float, scale: float) -> Array:
    """Log density of the logarithm of what is log-normal, but for a constant."""
    return -0.5 * ((x - loc) / scale) ** 2


def grid_axis(low: float, high: float, step: float) -> tuple[Array, Array]:
    """Points of the trapezoidal rule from one end to the other, about a step apart, and their weights."""
    points = np.linspace(low, high, round((high - low) / step) + 1)
    widths = np.ones(len(points))
    widths[[0, -1]] = 0.5
    return points, widths


def exact_probabilities(X: Array, z: Array, errors: ErrorModel, step: float | None = None) -> Array:
    """The ``n`` probabilities that a value is wrong, given ``n x d`` points of the unit cube and standardized values.

    Args:
        X: Points.
        z: Values.
        errors: Their model; of more than eight values, with more than two states, it takes minutes.
        step: Of the grid; that of `STEPS` unless given.
    """
    n, d = X.shape
    axes = [grid_axis(*ends, step or STEPS[d]) for ends in (*[LOG_L] * d, LOG_G)]
    grid = np.array(list(product(*(points for points, _ in axes))))
    log_widths = np.log([math.prod(widths) for widths in product(*(widths for _, widths in axes))])
    log_l, log_g = grid[:, :d], grid[:, d]
    prior = length_scale_prior(d)
    log_prior = log_normal(log_l, prior.loc, prior.scale).sum(-1) + log_widths
    scales, g = np.exp(log_l), np.exp(log_g)
    R = matern52(X, X, scales) + g[:, None, None] * np.eye(n)
    P, constant = np.linalg.inv(R), np.ones(n)
    Pz, P1 = P @ z, P @ constant
    root = Node((0,) * n, P, Pz, P1, Pz @ z, P1 @ z, P1 @ constant, np.linalg.slogdet(R)[1], n)
    by_state = np.array([np.zeros(n) if s.log_density is None else s.log_density(z) for s in errors.states])
    log_shares = np.log([state.share for state in errors.states])
    is_wrong = np.array([state.is_wrong for state in errors.states])
    log_weights, wrong = [], []
    for node in visit(root, 0, errors, g):
        of = np.array(node.states)
        counts = np.bincount(of, minlength=len(errors.states))
        of_states = by_state[of, range(n)].sum() + log_shares[of].sum() + errors.log_prior(counts.tolist())
        log_likelihood = log_prior - 0.5 * node.log_det + integrate_signal(node, log_g)
        log_weights.append(of_states + logsumexp(log_likelihood))
        wrong.append(is_wrong[of])
    weights = np.exp(np.array(log_weights) - logsumexp(log_weights))
    return weights @ np.array(wrong)


def integrate_signal(node: Node, log_g: Array) -> Array:
    """``T`` logarithms of the integral over the signal's variance: likelihood, and priors of signal and noise."""
    log_s2f = np.arange(LOG_S2F[0], LOG_S2F[1] + 1e-9, STEP_S2F)
    s2f, one_P_one = np.exp(log_s2f), node.one_P_one[:, None]
    Q = np.maximum(node.z_P_z[:, None] - node.one_P_z[:, None] ** 2 / (one_P_one + s2f / MEAN_VARIANCE), 0.0)
    log_priors = log_normal(log_s2f, *SIGNAL_PRIOR) + log_normal(log_g[:, None] + log_s2f, *NOISE_PRIOR)
    log_likelihood = -0.5 * (node.num_speaking * (log_s2f + math.log(2 * math.pi)) + Q / s2f)
    log_likelihood -= 0.5 * np.log1p(MEAN_VARIANCE / s2f * one_P_one)
    log_weight = log_priors + log_likelihood
    most = log_weight.max(-1)
    return most + np.log(np.exp(log_weight - most[:, None]).sum(-1))
