"""Values as an optimization has measured them, half spread out and half about the optimum, some of them wrong.

The functions are BoTorch's test functions on the unit cube, minimized. A value goes wrong in one of three ways: uniform
in the range of a thousand random points' values, the value of an earlier point, or one constant, half the range below.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from botorch.test_functions import Ackley, Branin, Griewank, Hartmann, Levy, Rosenbrock, SyntheticTestFunction

from robustbo import seeds
from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space

Values = dict[str, float]
FUNCTIONS: dict[str, Callable[[], SyntheticTestFunction]] = {
    "levy": lambda: Levy(dim=6),
    "ackley": lambda: Ackley(dim=6),
    "rosenbrock": lambda: Rosenbrock(dim=6),
    "hartmann6": lambda: Hartmann(dim=6),
    "griewank": lambda: Griewank(dim=6),
    "branin": Branin,
}
WRONG = ("uniform", "random-point", "constant")
RATE = 0.1  # of the values are wrong
REACH = 0.2  # standard deviation about the optimum, of each coordinate


class Data(NamedTuple):
    """Measured points and values.

    Attributes:
        X: ``n x d`` points of the unit cube.
        y: ``n`` measured values.
        clean: ``n`` true ones.
        is_wrong: ``n``.
    """

    X: np.ndarray
    y: np.ndarray
    clean: np.ndarray
    is_wrong: np.ndarray


@lru_cache
def function(name: str) -> SyntheticTestFunction:
    """A function, in double precision."""
    return FUNCTIONS[name]().to(torch.float64)


def values(name: str, X: np.ndarray) -> np.ndarray:
    """True values at ``n x d`` points of the unit cube."""
    of = function(name)
    low, high = of.bounds
    return of(low + torch.from_numpy(X) * (high - low)).numpy()


@lru_cache
def extent(name: str) -> tuple[float, float]:
    """The range of a thousand random points' values."""
    y = values(name, np.random.default_rng(0).random((1000, function(name).dim)))
    return float(y.min()), float(y.max())


def points(name: str, n: int, seed: int) -> np.ndarray:
    """Points of the unit cube, by turns anywhere and about an optimum; of more points the first are the same."""
    of = function(name)
    low, high = of.bounds
    optimum = ((torch.tensor(of._optimizers[0], dtype=torch.float64) - low) / (high - low)).numpy()
    X = seeds.generator(seed, 0, f"{name}: anywhere").random((n, of.dim))
    about = optimum + REACH * seeds.generator(seed, 0, f"{name}: about").standard_normal((n // 2, of.dim))
    X[1::2] = np.clip(about, 0, 1)
    return X


def data(name: str, n: int, seed: int, wrong: str = "uniform") -> Data:
    """Points and values with which an optimization goes on; of more values the first are the same."""
    X = points(name, n, seed)
    clean, (low, high) = values(name, X), extent(name)
    is_hit, instead = (seeds.generator(seed, 0, f"{name}: {purpose}").random(n) for purpose in ("wrong", "instead"))
    is_wrong = is_hit < RATE
    other = {
        "uniform": low + (high - low) * instead,
        "random-point": clean[(instead * np.arange(n)).astype(int)],
        "constant": np.full(n, low - (high - low) / 2),
    }[wrong]
    return Data(X, np.where(is_wrong, other, clean), clean, is_wrong)


def space(name: str) -> Space:
    """The unit cube of a function."""
    return Space(**{f"x{i}": Float(0.0, 1.0) for i in range(1, function(name).dim + 1)})


def told(name: str, n: int, seed: int) -> list[tuple[Values, float]]:
    """Points and measured values, to be told to an optimizer."""
    dataset = data(name, n, seed)
    names = space(name).names
    return [(dict(zip(names, x, strict=True)), y) for x, y in zip(dataset.X.tolist(), dataset.y.tolist(), strict=True)]


def measure(name: str, params: Values, generator: np.random.Generator) -> float:
    """The value of one more point, or by chance a uniform one."""
    value, instead = values(name, np.array([list(params.values())])).item(), float(generator.uniform(*extent(name)))
    return instead if generator.random() < RATE else value
