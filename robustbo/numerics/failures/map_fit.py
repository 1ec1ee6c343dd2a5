"""Maximum a posteriori hyperparameters of the model of failures, by Laplace's approximation with explicit gradients.

As for the Student-t likelihood, what is climbed is the evidence with clamped curvatures, and each climb follows one
mode of the latent values; where it ends the modes are looked for anew.

Notation (no batch dimensions: a search is one search), beside that of `likelihood` and `laplace.mode`:
    x      theta, then log e1, then m
    theta  logarithms of the kernel's hyperparameters
    m      constant mean of the latent values
    F      log posterior density: L plus log prior densities

References:
    docs/equations.md sections 2.2 to 2.4 and 15.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.failures import likelihood
from robustbo.numerics.failures.likelihood import E0, Outcomes, Terms
from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.ascent import Ascent, Point, ascend
from robustbo.numerics.gp.covariance import Covariance, CovarianceFunction
from robustbo.numerics.gp.multistart import highest
from robustbo.numerics.gp.parameters import Block, LogNormal, Normal
from robustbo.numerics.laplace.approximation import Approximation, entering, through
from robustbo.numerics.laplace.mode import Mode, climb, place
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array, as_tensor

FLAKES = LogNormal(math.log(0.05), 0.7)  # prior of e1
MEAN = Normal(0.5, 1.0)  # prior of m: 7 of 10 points are viable, and it may be all or none
LOG_E1 = (math.log(2e-3), math.log(0.45))
REACH = (-4.0, 4.0)  # of m
BLOCKS = [Block("e1", (math.log(0.05),), LOG_E1, FLAKES), Block("m", (MEAN.loc,), REACH, MEAN)]
ROUNDS = 3  # of climbs, each from a higher mode
HIGHER = 1e-6  # nats
ROUGH, FINE = 1e-2, 1e-4  # relative rises of F at which climbs stop


class Given(NamedTuple):
    """What stays fixed in a search for the mode; see `laplace.mode.Given`."""

    K: Array
    m: float
    s: Array
    log_b: Array
    log_c: float

    def terms(self, f: Array) -> Terms:
        """The likelihood at ``n`` latent values less the mean."""
        return likelihood.terms(self.m + f, self.s, self.log_b, self.log_c)


class Model(NamedTuple):
    """What stays fixed in a search for hyperparameters."""

    outcomes: Outcomes
    covariance: CovarianceFunction

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Of x."""
        return self.covariance.bounds + parameters.bounds(BLOCKS)

    @property
    def starts(self) -> list[Tensor]:
        """Where searches begin, the most plausible first."""
        return parameters.starts(BLOCKS, self.covariance.starts)

    def given(self, K: Tensor, e1: float, m: float) -> Given:
        """The model at some hyperparameters."""
        return Given(K.numpy(), m, self.outcomes.s, self.outcomes.log_b(e1), math.log1p(-E0 - e1))


class Value(NamedTuple):
    """The log posterior density at some x, and what its derivatives need."""

    F: float
    x: Tensor
    covariance: Covariance
    laplace: Approximation
    terms: Terms


def find_mode(model: Model, K: Tensor, e1: float, m: float, start: Array | None = None) -> Mode:
    """The mode near ``n`` latent values less the mean, if given; else the higher of two.

    These are the one near the mean, where lone failures are flakes, and the one where none is.
    """
    given = model.given(K, e1, m)
    if start is not None:
        return climb(given, place(given, given.terms(start).g))
    zero = np.zeros(len(K))
    sure = given._replace(log_b=zero - math.inf)  # log-concave
    found = [climb(given, place(given, a)) for a in (zero, climb(sure, place(sure, zero)).at.a)]
    return max(found, key=lambda mode: (mode.converged, mode.Psi))


def evaluate(model: Model, x: Tensor, start: Array | None = None, *, is_clamped: bool = True) -> Value:
    """The log posterior density at x; -inf where no strict maximum is found.

    Args:
        model: What stays fixed.
        x: Where.
        start: ``n`` latent values less the mean, of a mode nearby; from nothing unless given.
        is_clamped: Whether curvatures are clamped, as in a search; see `laplace.approximation`.
    """
    p, (log_e1, m) = len(model.covariance.bounds), x.tolist()[-2:]
    covariance = model.covariance.at(x[:p])
    mode = find_mode(model, covariance.K, math.exp(log_e1), m, start)
    enters = entering(mode.at, mode.signed, is_clamped)
    F = enters.log_evidence(0.0, mode.at)
    f, W, clamped = (torch.from_numpy(part) for part in (mode.at.f, mode.at.W, enters.clamped))
    found = Approximation(as_tensor(F), mode.a, f, W, clamped, mode.signed, enters.posterior)
    F += covariance.log_prior + parameters.log_prior(BLOCKS, [log_e1, m])
    is_mode = mode.converged and mode.signed.is_maximum
    terms = model.given(covariance.K, math.exp(log_e1), m).terms(mode.at.f)
    return Value(F if is_mode and math.isfinite(F) else -math.inf, x, covariance, found, terms)


def slopes(model: Model, value: Value) -> Tensor:
    """The gradient of F in x."""
    log_e1, m = value.x.tolist()[-2:]
    found = through(value.laplace, likelihood.curvature_slope(value.terms, model.outcomes.s))
    by_e1 = found.along(*likelihood.by_log_e1(value.terms, model.outcomes, math.exp(log_e1))).sum()
    on_priors = parameters.prior_slopes(BLOCKS, [log_e1, m])
    others = [float(by_e1) + on_priors[0], float(found.m.sum()) + on_priors[1]]
    return torch.cat([value.covariance.pullback(torch.from_numpy(found.K)), value.x.new_tensor(others)])


def information(model: Model, value: Value) -> Tensor:
    """An approximate information matrix: that of the Gaussian process that has 1 / W as its noise variances.

    References:
        `log_posterior.information`; here the mean is one of the coordinates. That of log e1 is the outer product of
        the scores.
    """
    assert value.covariance.tangents is not None
    assert model.covariance.prior_precision is not None
    half, R = math.sqrt(0.5), value.laplace.R.numpy()
    rows = np.concatenate([half * value.covariance.tangents(value.laplace.a).numpy(), np.ones((1, len(R)))])
    p = len(rows) - 1
    scores = likelihood.by_log_e1(value.terms, model.outcomes, math.exp(value.x[-2])).log_p
    A, kept = np.zeros((p + 2, p + 2)), [*range(p), p + 1]
    A[np.ix_(kept, kept)] = rows @ R @ rows.T
    A[p, p] = scores @ scores
    precisions = [*model.covariance.prior_precision.tolist(), *parameters.prior_precisions(BLOCKS)]
    return torch.from_numpy(lapack.on_diagonal(A, np.array(precisions)))


def search(model: Model, starts: list[Tensor] | None = None) -> Ascent:
    """The highest of the maxima that the starts lead to; its value has the signed curvatures."""

    def rough(x: Tensor) -> Ascent:
        return _climb(model, evaluate(model, x), ROUGH, rounds=1)

    found = highest(starts or model.starts, rough, lambda best: _climb(model, best.value, FINE, rounds=ROUNDS))
    exact = evaluate(model, found.x, found.value.laplace.f.numpy(), is_clamped=False)
    return found._replace(value=exact if math.isfinite(exact.F) else found.value)


def _climb(model: Model, here: Value, ftol: float, rounds: int) -> Ascent:
    """Climb along a mode, and again from where another is found to be higher."""
    bounds, evaluations = here.x.new_tensor(model.bounds), 1
    while True:
        found = ascend(_Path(model, here).at, here.x, *bounds.T, ftol=ftol)
        here, evaluations, rounds = found.value, evaluations + found.num_evaluations, rounds - 1
        if rounds == 0 or not (anew := evaluate(model, here.x)).F > here.F + HIGHER:
            return found._replace(num_evaluations=evaluations)
        here = anew


class _Path:
    """The log posterior density along a climb, which each evaluation enters from the mode where it last stood."""

    def __init__(self, model: Model, here: Value) -> None:
        self._model, self._latent = model, here.laplace.f.numpy()

    def at(self, x: Tensor) -> Point:
        value = evaluate(self._model, x, self._latent)

        def derivatives() -> tuple[Tensor, Tensor]:
            self._latent = value.laplace.f.numpy()
            return slopes(self._model, value), information(self._model, value)

        return Point(value.F, derivatives, value)
