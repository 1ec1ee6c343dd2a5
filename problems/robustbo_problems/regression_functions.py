"""Functions whose data are drawn: Neal's, Friedman's, and Hartmann6, with their inputs and noise.

References:
    Neal (1997), Monte Carlo implementation of Gaussian process models for Bayesian regression and classification.
    Friedman (1991), Multivariate adaptive regression splines.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robustbo import seeds
from robustbo_problems.hartmann6 import values as hartmann6


def neal(x: np.ndarray) -> np.ndarray:
    """0.3 + 0.4 x + 0.5 sin(2.7 x) + 1.1 / (1 + x^2), for each element."""
    return 0.3 + 0.4 * x + 0.5 * np.sin(2.7 * x) + 1.1 / (1 + x**2)


def friedman(X: np.ndarray) -> np.ndarray:
    """10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 of ``... x d`` inputs; those after the fifth are idle.

    Raises:
        ValueError: If there are fewer than five inputs.
    """
    if X.shape[-1] < 5:
        raise ValueError(f"X must have at least 5 columns, got {X.shape[-1]}")
    x1, x2, x3, x4, x5 = np.moveaxis(X[..., :5], -1, 0)
    return 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5


def _cube(generator: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return generator.random(shape)


def _normal(generator: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return generator.standard_normal(shape)


class Function(NamedTuple):
    """A function whose data are drawn.

    Attributes:
        of: From ``n x d`` inputs to ``n`` values.
        d: Number of inputs.
        noise_sd: Of the Gaussian noise on training and test targets.
        num_test: Number of test rows.
        draw: Inputs of a shape.
    """

    of: Callable[[np.ndarray], np.ndarray]
    d: int
    noise_sd: float
    num_test: int
    draw: Callable[[np.random.Generator, tuple[int, int]], np.ndarray] = _cube


# Neal: inputs N(0, 1), noise 0.1, 100 + 100 rows as he has it, but without his own 5 % of noise 1, which would be
# corrupted rows that no mask marks. Friedman: Andrade and Takeda's. Hartmann6: sizes as theirs, noise a twentieth of
# the function's standard deviation (0.38) as in benchmarks/quality/selection.py; the
# relevance pursuit paper gives neither.
FUNCTIONS = {
    "neal": Function(lambda X: neal(X[:, 0]), 1, 0.1, 100, _normal),
    "friedman5": Function(friedman, 5, 1.0, 2000),
    "friedman10": Function(friedman, 10, 1.0, 2000),
    "hartmann6": Function(hartmann6, 6, 0.02, 2000),
}


def sample(function: Function, n: int, seed: int, part: str) -> tuple[np.ndarray, np.ndarray]:
    """``n x d`` inputs and ``n`` noisy values."""
    X = function.draw(seeds.generator(seed, 0, f"{part} inputs"), (n, function.d))
    noise = seeds.generator(seed, 0, f"{part} noise").standard_normal(n)
    return X, function.of(X) + function.noise_sd * noise
