"""The exact probability that each value is wrong: all sets of errors enumerated, hyperparameters by quadrature.

Each value is in one of a few states: right with the noise, right with a multiple of its variance (a scale mixture of
normals: tails), or one in which it says nothing of the function and has a density of its own, as a wrong value has.
Nothing of numerics/pursuit is used, and nothing is approximated but the quadrature: a grid over the logarithms of the
length-scales and of noise / signal, on which the matrices are inverted once, and over that of the signal, in which all
is in closed form. The constant mean has a flat prior and is integrated. States are visited depth first, a value's
change of state being an update of rank one for all points of the grid at once.

Notation:
    T    points of the grid over length-scales and g
    S    assignments of states to values
    g    T          noise variance / signal variance
    R    T x n x n  covariance / signal variance; P its inverse, without the rows that say nothing
    Q    S x T      (z - m)' P (z - m) at the best mean m
"""

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from benchmarks.quality.exact_errors import Array, ErrorModel, State
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

    def changed(self, i: int, state: int, of: State, g: Array, is_leaf: bool) -> "Node":
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
                yield from visit(node.changed(i, state, of, g, i == n - 1), i + 1, errors, g)


def matern52(X: Array, Z: Array, scales: Array) -> Array:
    """``T x m x n`` correlations of ``m x d`` and ``n x d`` points at ``T x d`` length-scales."""
    apart = (X[:, None] - Z[None])[None] / scales[:, None, None]
    r = math.sqrt(5) * np.sqrt(np.square(apart).sum(-1))
    return (1 + r + r**2 / 3) * np.exp(-r)


class Reference(NamedTuple):
    """The posterior of the assignments and the hyperparameters.

    Attributes:
        states: ``S x n`` states.
        log_weight: ``S x T`` logarithms of posterior weights, the signal's variance integrated; not normalized.
        scales: ``T x d`` length-scales.
        g: ``T`` noise / signal.
        Q: ``S x T``.
        num_speaking: ``S`` numbers of values that say something of the function.
        errors: The model of the values.
    """

    states: Array
    log_weight: Array
    scales: Array
    g: Array
    Q: Array
    num_speaking: Array
    errors: ErrorModel

    @property
    def probability_wrong(self) -> Array:
        """``n`` probabilities."""
        weight = np.exp(logsumexp(self.log_weight, axis=1) - logsumexp(self.log_weight))
        return weight @ np.array([state.is_wrong for state in self.errors.states])[self.states]


def log_normal(x: Array, loc: float, scale: float) -> Array:
    """Log density of the logarithm of what is log-normal, but for a constant."""
    return -0.5 * ((x - loc) / scale) ** 2


def grid_axis(low: float, high: float, step: float) -> tuple[Array, Array]:
    """Points of the trapezoidal rule from one end to the other, about a step apart, and their weights."""
    points = np.linspace(low, high, round((high - low) / step) + 1)
    widths = np.ones(len(points))
    widths[[0, -1]] = 0.5
    return points, widths


def enumerate_sets(X: Array, z: Array, errors: ErrorModel, step: float | None = None) -> Reference:
    """The posterior, given ``n x d`` points of the unit cube and ``n`` robustly standardized values.

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
    states, log_weight, Qs, speaking = [], [], [], []
    by_state = np.array([np.zeros(n) if s.log_density is None else s.log_density(z) for s in errors.states])
    log_shares = np.log([state.share for state in errors.states])
    is_wrong = np.array([state.is_wrong for state in errors.states])
    for node in visit(root, 0, errors, g):
        of = np.array(node.states)
        of_states = by_state[of, range(n)].sum() + log_shares[of].sum() + errors.log_prior(int(is_wrong[of].sum()), n)
        Q = np.maximum(node.z_P_z - node.one_P_z**2 / node.one_P_one, 0.0)
        log_likelihood = -0.5 * (node.log_det + np.log(node.one_P_one)) + log_prior + of_states
        states.append(node.states)
        log_weight.append(log_likelihood + integrate_signal(Q, node.num_speaking, log_g))
        Qs.append(Q)
        speaking.append(node.num_speaking)
    return Reference(np.array(states), np.array(log_weight), scales, g, np.array(Qs), np.array(speaking), errors)


def signal_log_weights(Q: Array, num_speaking: int, log_g: Array) -> tuple[Array, Array]:
    """Logarithms of signal variances, and ``T x`` their log weights: likelihood, and priors of signal and noise."""
    log_s2f = np.arange(LOG_S2F[0], LOG_S2F[1] + 1e-9, STEP_S2F)
    log_priors = log_normal(log_s2f, *SIGNAL_PRIOR) + log_normal(log_g[:, None] + log_s2f, *NOISE_PRIOR)
    likelihood = -0.5 * (num_speaking - 1) * (log_s2f + math.log(2 * math.pi)) - 0.5 * Q[:, None] * np.exp(-log_s2f)
    return log_s2f, log_priors + likelihood


def integrate_signal(Q: Array, num_speaking: int, log_g: Array) -> Array:
    """``T`` logarithms of the integral over the signal's variance."""
    _, log_weight = signal_log_weights(Q, num_speaking, log_g)
    most = log_weight.max(-1)
    return most + np.log(np.exp(log_weight - most[:, None]).sum(-1))


def predict(reference: Reference, X: Array, z: Array, new: Array, draws: int = 400) -> tuple[Array, Array]:
    """Mean and standard deviation of f at ``m x d`` new points, by systematic draws from the posterior."""
    flat = reference.log_weight.ravel()
    rng = np.random.default_rng(0)
    at = np.searchsorted(np.exp(flat - logsumexp(flat)).cumsum(), (np.arange(draws) + rng.random()) / draws)
    means, variances = zip(
        *(
            _predict_at(reference, *divmod(int(k), len(reference.g)), X, z, new, rng)
            for k in at.clip(max=flat.size - 1)
        ),
        strict=True,
    )
    mean = np.mean(means, 0)
    return mean, np.sqrt(np.mean(variances, 0) + np.var(means, 0))


def _predict_at(
    reference: Reference, s: int, t: int, X: Array, z: Array, new: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    multipliers = np.array([state.multiplier for state in reference.errors.states])[reference.states[s]]
    rows = np.isfinite(multipliers)
    scales, log_g = reference.scales[t : t + 1], np.log(reference.g[t : t + 1])
    log_s2f, log_weight = signal_log_weights(reference.Q[s, t : t + 1], int(reference.num_speaking[s]), log_g)
    weight = np.exp(log_weight[0] - logsumexp(log_weight[0]))
    s2f = math.exp(rng.choice(log_s2f, p=weight))
    R = matern52(X[rows], X[rows], scales)[0] + np.diag(reference.g[t] * multipliers[rows])
    k = matern52(new, X[rows], scales)[0]
    P, constant = np.linalg.inv(R), np.ones(int(rows.sum()))
    kP, spread = k @ P, constant @ P @ constant
    m = constant @ P @ z[rows] / spread
    variance = 1 - (kP * k).sum(-1) + (1 - kP @ constant) ** 2 / spread
    return m + kP @ (z[rows] - m), s2f * np.maximum(variance, 0.0)
