"""Expectation propagation for the latent values: a normal site for each place, by the moments of what it says.

A failure says that its latent value lies below zero and hardly how far. At the mode of such a posterior its curvature
tells nothing of its width, so Laplace's approximation is far off where the step is sharp; the moments are known in
closed form.

Notation (no batch dimensions), beside that of `likelihood`:
    K      n x n  prior covariance
    tau    n      precisions of the sites, not negative
    nu     n      their precisions times means, of f = h - m
    a      n      K^-1 times the posterior mean of f
    mu, v  n      posterior means (of f) and variances
    mu_, v_       those of the cavities: without the place's own site
    u      n      beta s (m + mu_) / sqrt(1 + beta^2 v_)
    R      n x n  (K + D(tau)^-1)^-1

References:
    Rasmussen and Williams (2006), section 3.6; docs/equations.md section 15.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, log_ndtr

from robustbo.numerics.failures.likelihood import BETA, Outcomes, log_outcome
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

SWEEPS, AT_ONCE, UNDAMPED = 100, 20, 30  # in all; of these the first that renew all sites at once, and at full length
DAMPED = 0.8  # share of the way to a site's moments that a sweep goes
SLOWLY = 0.3  # likewise, of sites in turn, where full steps go round in circles
ENOUGH = 1e-3  # change of the posterior means, of a prior standard deviation, at which sweeps end
FLAT = 1e-10  # least precision of a site
FAR = -100.0  # sd from a step, beyond which its expansion is exact to twelve digits


class Sites(NamedTuple):
    """Precisions and precisions times means of the sites."""

    tau: Array
    nu: Array


class Approximation(NamedTuple):
    """The approximation.

    Attributes:
        L: Approximate log marginal likelihood.
        a: ``n``.
        R: ``n x n``.
        u: ``n``, by all places but each one itself.
        log_Z: ``n`` logarithms of the probability of each outcome, by all places but itself.
        sites: The sites.
        converged: Whether they have settled.
        mu_: ``n`` means of each latent value (of f) by all places but itself.
        v_: ``n`` variances, likewise.
    """

    L: float
    a: Array
    R: Array
    u: Array
    log_Z: Array
    sites: Sites
    converged: bool
    mu_: Array
    v_: Array


def propagate(K: Array, m: float, outcomes: Outcomes, e1: float, begin: Sites | None = None) -> Approximation:
    """The sites at which all moments agree: all at once, and one after the other where that does not settle.

    Args:
        K: ``n x n``.
        m: Constant mean.
        outcomes: What became of the trials there.
        e1: Rate of flakes.
        begin: Sites to begin with; none by default.
    """
    return settle(K, StepLikelihood(m, outcomes.s, outcomes.log_b(e1), outcomes.log_c(e1)), begin)


def settle(K: Array, likelihood: "StepLikelihood", begin: Sites | None = None) -> Approximation:
    """The sites at which all moments agree, of any steps; see `propagate`.

    Args:
        K: ``n x n``, with variances of the order of 1.
        likelihood: What is said of each latent value.
        begin: Sites to begin with; none by default.
    """
    n = len(K)
    tau, nu = (np.full(n, FLAT), np.zeros(n)) if begin is None else begin
    last = np.full(n, math.inf)
    for sweep in range(SWEEPS):
        root = np.sqrt(tau)
        C, _ = lapack.factor(lapack.on_diagonal(root[:, None] * K * root, 1.0))
        V = lapack.forward(C, root[:, None] * K)
        v = K.diagonal() - np.einsum("ij,ij->j", V, V)
        mu = K @ nu - V.T @ (V @ nu)
        at = likelihood.moments(mu, v, tau, nu)
        if np.abs(mu - last).max() < ENOUGH:
            break
        last = mu
        if sweep < AT_ONCE:
            step = DAMPED if sweep else 1.0
            tau, nu = tau + step * (at.tau - tau), nu + step * (at.nu - nu)
        else:
            step = 1.0 if sweep < UNDAMPED else SLOWLY
            tau, nu = _in_turn(likelihood, K - V.T @ V, mu, Sites(tau, nu), step)
    log_det = 2 * float(np.log(C.diagonal()).sum())
    quadratics = 0.5 * (at.mu_**2 / at.v_ + np.log(at.v_) - mu**2 / v - np.log(v))
    L = float(at.log_Z.sum() + quadratics.sum() + 0.5 * nu @ mu - 0.5 * log_det)  # eq. 15.6
    half = lapack.forward(C, np.diag(root))
    R = half.T @ half
    return Approximation(L, nu - tau * mu, R, at.u, at.log_Z, Sites(tau, nu), sweep + 1 < SWEEPS, at.mu_, at.v_)


class _Moments(NamedTuple):
    """Cavities, and the sites that their moments ask for."""

    mu_: Array
    v_: Array
    u: Array
    log_Z: Array
    tau: Array
    nu: Array


class StepLikelihood(NamedTuple):
    """The probability b + c Phi(s beta (m + f)) of what is known of each latent value f.

    Attributes:
        m: Mean of h = m + f, one or ``n``.
        s: ``n`` signs.
        log_b: ``n``.
        log_c: ``n``.
        beta: Sharpness of the steps, one or ``n``.
    """

    m: float | Array
    s: Array
    log_b: Array
    log_c: Array
    beta: float | Array = BETA

    def of_one(self, i: int) -> "StepLikelihood":
        """The likelihood of one latent value alone."""
        m, beta = (part if isinstance(part, float) else part[i] for part in (self.m, self.beta))
        return StepLikelihood(m, self.s[i], self.log_b[i], self.log_c[i], beta)

    def moments(self, mu: Array, v: Array, tau: Array, nu: Array) -> _Moments:
        """Cavities from the posterior and the sites, and the sites that their moments ask for."""
        left = np.maximum(1 - tau * v, FLAT)
        v_, mu_ = v / left, (mu - v * nu) / left  # eq. 15.2
        kappa = self.beta * self.s / np.sqrt(1 + self.beta**2 * v_)
        u = kappa * (self.m + mu_)
        log_Z = log_outcome(u, self.log_b, self.log_c)  # eq. 15.3
        share = np.exp(self.log_c + log_ndtr(u) - log_Z)
        g = _hazard(u)
        r = share * g  # eq. 15.4
        slack = share * _slack(u, g) + (1 - share) * (1 + share * g * g)
        bend = np.where(u > FAR, r * (u + r), 1 - slack)
        tau = np.maximum(self.beta**2 * bend / (1 + self.beta**2 * v_ * slack), FLAT)  # eq. 15.5
        return _Moments(mu_, v_, u, log_Z, tau, mu_ * tau + kappa * r * (1 + v_ * tau))


def _hazard(u: Array) -> Array:
    """phi(u) / Phi(u), however far out.

    Example:
        >>> _hazard(np.array([-1e9, 0.0])).round(3).tolist()
        [1000000000.0, 0.798]
    """
    return math.sqrt(2 / math.pi) / erfcx(-u / math.sqrt(2))


def _slack(u: Array, g: Array) -> Array:
    """1 - g (u + g) for the hazard g, between 0 and 1, by its expansion where the difference would be lost.

    Example:
        >>> u = np.array([-1e5, -1.0, 0.0])
        >>> _slack(u, _hazard(u)).round(12).tolist()
        [1e-10, 0.19909766557, 0.363380227632]
    """
    t = 1 / np.square(np.minimum(u, FAR))
    return np.where(u > FAR, 1 - g * (u + g), t * (1 - 6 * t + 50 * t**2 - 518 * t**3))


def _in_turn(likelihood: StepLikelihood, Sig: Array, mu: Array, sites: Sites, step: float) -> Sites:
    """The sites after each has been renewed in turn, the posterior following: slower, and sure where many agree."""
    tau, nu, change = sites.tau.copy(), sites.nu.copy(), np.empty_like(Sig)
    for i in range(len(mu)):
        site = likelihood.of_one(i).moments(mu[i], Sig[i, i], tau[i], nu[i])
        more, lift = step * (site.tau - tau[i]), step * (site.nu - nu[i])
        tau[i], nu[i] = tau[i] + more, nu[i] + lift
        column = Sig[:, i] / (1 + more * Sig[i, i])
        mu = mu + column * (lift - more * mu[i])
        Sig -= np.multiply.outer(more * column, Sig[i], out=change)
    return Sites(tau, nu)
