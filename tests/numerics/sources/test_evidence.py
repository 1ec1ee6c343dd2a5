"""Closed forms of the evidence for error atoms, against dense matrices of contrasts, which know no constant mean."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from robustbo.numerics.sources.atoms import Atom, block_effects, timelines
from robustbo.numerics.sources.candidates import candidates
from robustbo.numerics.sources.evidence import (
    SIZES,
    VARIANCES,
    log_bayes_factors,
    project_mean,
    sizes_of,
    statistics,
    step_statistics,
)
from robustbo.numerics.sources.labels import SourceLabels

N = 24
RNG = np.random.default_rng(8)
X = RNG.random((N, 2))
SG = np.exp(-4 * np.square(X[:, None] - X[None]).sum(-1)) + np.diag(0.02 + 0.1 * RNG.random(N))
A_CODES = RNG.integers(3, size=N)
LABELS = SourceLabels(("lab",), (("A", "B", "C"),), A_CODES[:, None], RNG.permutation(N).astype(float))
Y = np.sin(3 * X[:, 0]) + 0.7 * (A_CODES == 1) + 40.0
PRECISION = project_mean(np.linalg.inv(SG), Y)
CONTRASTS = np.linalg.qr(np.column_stack([np.ones(N), np.eye(N)[:, 1:]]))[0][:, 1:].T  # orthogonal to a constant


def log_density(covariance):
    """Log density of the contrasts of the observations."""
    return multivariate_normal.logpdf(CONTRASTS @ Y, None, CONTRASTS @ covariance @ CONTRASTS.T)


def log_factor(A):
    """Log Bayes factor of an atom by dense matrices."""
    heights = [log_density(SG + w * A @ A.T) for w in VARIANCES]
    return np.logaddexp.reduce(heights) - math.log(len(heights)) - log_density(SG)


def posterior(A, C=None):
    """Mean and standard deviation of C times the sizes of an atom by dense matrices, over all prior variances."""
    C = np.eye(A.shape[1]) if C is None else C
    scaled, inner = CONTRASTS @ A, CONTRASTS @ SG @ CONTRASTS.T
    weights = np.array([log_density(SG + w * A @ A.T) for w in VARIANCES])
    weights = np.exp(weights - np.logaddexp.reduce(weights))
    mean, second = 0.0, 0.0
    for weight, w in zip(weights, VARIANCES, strict=True):
        gain = w * scaled.T @ np.linalg.inv(inner + w * scaled @ scaled.T)
        part, covariance = C @ gain @ (CONTRASTS @ Y), C @ (w * np.eye(A.shape[1]) - w * gain @ scaled) @ C.T
        mean, second = mean + weight * part, second + weight * (covariance.diagonal() + part**2)
    return mean, np.sqrt(second - mean**2)


@pytest.mark.parametrize("line", list(timelines(LABELS)), ids=lambda line: f"level {line.level}")
def test_factors_of_all_atoms_are_those_of_dense_matrices(line):
    by_atom = candidates(PRECISION, line)
    assert {c.atom.kind for c in by_atom} == ({"step", "drift"} | ({"offset", "broken"} if line.source >= 0 else set()))
    for candidate in by_atom:
        assert candidate.log_factor == pytest.approx(log_factor(candidate.atom.matrix(N)), abs=1e-8)


def test_steps_by_cumulative_sums_are_single_atoms():
    line = next(timelines(LABELS))
    t, s = step_statistics(PRECISION, line.rows)
    for place in range(len(line.rows)):
        A = np.zeros((N, 1))
        A[line.rows[place:]] = 1.0
        assert (t[place], s[place]) == pytest.approx([x[0] for x in statistics(PRECISION, A)], abs=1e-9)


def test_sizes_of_an_offset_are_those_of_dense_matrices():
    A = (A_CODES == 1).astype(float)[:, None]
    sizes = sizes_of(PRECISION, A)
    mean, sd = posterior(A)
    assert sizes.means == pytest.approx(mean)
    assert sizes.sds == pytest.approx(sd)
    assert sizes.means[0] == pytest.approx(0.7, abs=3 * sizes.sds[0])
    assert sizes.log_factor == pytest.approx(log_bayes_factors(*statistics(PRECISION, A))[0])


def test_sizes_of_a_block_effect_are_those_of_dense_matrices():
    (block,) = block_effects(LABELS)
    A, C = block.matrix(N), np.eye(3) - 1 / 3
    sizes = sizes_of(PRECISION, A)
    mean, sd = posterior(A, C)
    assert sizes.means == pytest.approx(mean)
    assert sizes.sds == pytest.approx(sd)
    assert sizes.log_factor == pytest.approx(log_factor(A), abs=1e-8)
    assert sizes.means.sum() == pytest.approx(0.0, abs=1e-9)
    assert min(SIZES) <= sizes.spread <= max(SIZES)


def test_the_constant_mean_is_of_no_account():
    P = np.linalg.inv(SG)
    shifted = project_mean(P, Y - 40.0)
    assert shifted.al == pytest.approx(PRECISION.al, abs=1e-9)
    assert project_mean(P, np.ones(N)).al == pytest.approx(0.0, abs=1e-9)


def test_an_error_of_everything_is_none():
    everything = Atom(-1, -1, "offset", None, (tuple(range(N)),), 0.0)
    assert sizes_of(project_mean(np.linalg.inv(SG), Y), everything.matrix(N)).log_factor == pytest.approx(0)
