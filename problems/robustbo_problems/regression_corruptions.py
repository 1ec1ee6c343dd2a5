"""Corruptions of regression data: each takes clean training data, and the rows to corrupt.

Notation:
    X   ``n x d`` clean training inputs
    y   ``n`` clean training targets
    s   standard deviation of y (divided by n)
    MAD median absolute deviation from the median, not rescaled

Every corruption returns new arrays where it changes something, in the units of what it was given, and draws from its
generator alone. Uniform, asymmetric and focused are Andrade and Takeda's (2023), which Altamirano et al. (2024) and the
relevance pursuit paper's comparison with them use as well. Constant, Student-t and Laplace are by name those of the
relevance pursuit paper, which leaves the constant and the scales out: those are ours, see each.

References:
    Andrade and Takeda (2023), Robust Gaussian process regression with the trimmed marginal likelihood.
    Ament et al. (2024), Robust Gaussian processes via relevance pursuit, section 6.1 and appendix.
"""

from collections.abc import Callable

import numpy as np

Corruption = Callable[[np.ndarray, np.ndarray, np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]]

SHIFT = (3.0, 9.0)  # in s: the sizes of uniform and asymmetric shifts (Andrade and Takeda)
DROP = 3.0  # in s: how far focused targets lie below the median (Andrade and Takeda)
SPREAD = 0.1  # in MAD: how closely focused rows lie together (Andrade and Takeda)
DOF = 2.0  # of Student-t noise (the relevance pursuit paper, figure 5)
NEAL = (1.0, 0.1)  # standard deviations of the wild noise and of the usual one (Neal, for his function)
CONSTANT = 15.0  # in s: the constant over the mean (ours)
SCALE = 3.0  # in s: of Student-t and Laplace noise (ours)


def uniform(
    X: np.ndarray, y: np.ndarray, rows: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Targets shifted by 3 s to 9 s, up or down as often."""
    signs = generator.choice((-1.0, 1.0), len(rows))
    return X, _with(y, rows, y[rows] + signs * _sizes(y, rows, generator))


def asymmetric(
    X: np.ndarray, y: np.ndarray, rows: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Targets shifted by 3 s to 9 s, all up or all down, by one fair coin (their code; in some texts always down)."""
    sign = generator.choice((-1.0, 1.0))
    return X, _with(y, rows, y[rows] + sign * _sizes(y, rows, generator))


def focused(
    X: np.ndarray, y: np.ndarray, rows: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Rows replaced, inputs and targets, by a cluster in the middle of the inputs and 3 s below the targets there.

    Input j becomes its median (the element at sorted position floor(n / 2)) + 0.1 d MAD_j U(-1/2, 1/2); the target
    becomes the median of the targets at the d rows that supplied these medians - 3 s - 0.1 MAD(y) U(0, 1). Among equal
    inputs the order of the rows decides which one stands at that position (ours; theirs leaves it open).
    """
    n, d = X.shape
    middle = np.argsort(X, axis=0, kind="stable")[n // 2]
    around = generator.random((len(rows), d)) - 0.5
    below = generator.random(len(rows))
    inputs = X[middle, np.arange(d)] + SPREAD * d * _mad(X) * around
    targets = np.median(y[middle]) - DROP * y.std() - SPREAD * _mad(y) * below
    return _with(X, rows, inputs), _with(y, rows, targets)


def constant(
    X: np.ndarray, y: np.ndarray, rows: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Targets replaced by one value far above all, mean + 15 s.

    The paper says "some fixed value" for regression (100 for Hartmann6 in optimization). Ours is about what its table
    of errors implies if a standard GP, 15 % of whose values are wrong, predicts little but their mean: then its squared
    error is s^2 + (0.15 (constant - mean))^2, and the constant 11 to 19 s above the mean of Neal, Friedman (where that
    makes it about 100), yacht and california.
    """
    return X, _with(y, rows, np.full(len(rows), y.mean() + CONSTANT * y.std()))


def student_t(
    X: np.ndarray, y: np.ndarray, rows: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Student-t noise of two degrees of freedom (the paper's) and scale 3 s (ours) added to the targets.

    The paper gives no scale. Its standard GP errs by more than s on most data when 15 % are corrupted, so the scale is
    hardly s or less; 3 s is where the uniform shifts begin.
    """
    return X, _with(y, rows, y[rows] + SCALE * y.std() * generator.standard_t(DOF, len(rows)))


def laplace(
    X: np.ndarray, y: np.ndarray, rows: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Laplace noise added to the targets, of scale 3 s (ours, as of `student_t`; the paper gives none)."""
    return X, _with(y, rows, y[rows] + generator.laplace(0.0, SCALE * y.std(), len(rows)))


def neal(
    X: np.ndarray, y: np.ndarray, rows: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Noise of standard deviation 1 in the place of 0.1: Neal's own, at a rate of 0.05, made for his function."""
    wild, usual = NEAL
    more = np.sqrt(wild**2 - usual**2) * generator.standard_normal(len(rows))
    return X, _with(y, rows, y[rows] + more)


CORRUPTIONS: dict[str, Corruption] = {
    "uniform": uniform,
    "asymmetric": asymmetric,
    "focused": focused,
    "constant": constant,
    "student-t": student_t,
    "laplace": laplace,
    "neal": neal,
}


def _sizes(y: np.ndarray, rows: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Sizes of shifts, uniform between 3 s and 9 s."""
    return y.std() * generator.uniform(*SHIFT, len(rows))


def _with(values: np.ndarray, rows: np.ndarray, new: np.ndarray) -> np.ndarray:
    """A copy with these rows replaced."""
    replaced = values.copy()
    replaced[rows] = new
    return replaced


def _mad(values: np.ndarray) -> np.ndarray:
    """Median absolute deviation from the median, of each column."""
    return np.median(np.abs(values - np.median(values, axis=0)), axis=0)
