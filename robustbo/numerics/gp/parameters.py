"""Coordinates of a search, as blocks of coordinates that are alike: each with its starts, its bounds and its prior.

Notation:
    x   p  coordinates: the parameters' logarithms, but for a mean, which is what it is
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.linalg.lapack import Array

SHORT = 3.0  # of a unit step; half as many evaluations are in vain

T = TypeVar("T", float, Tensor)


class LogNormal(NamedTuple):
    """A log-normal prior, as a density of the parameter itself (not of its logarithm)."""

    loc: float
    scale: float

    @property
    def log_mode(self) -> float:
        """Logarithm of the most probable value."""
        return self.loc - self.scale**2

    def log_density(self, log_x: T) -> T:
        """Log density at exp(log_x)."""
        return -0.5 * ((log_x - self.loc) / self.scale) ** 2 - log_x - math.log(self.scale) - 0.5 * LOG_2PI

    def slope(self, log_x: T) -> T:
        """Derivative of the log density with respect to log_x."""
        return -(log_x - self.loc) / self.scale**2 - 1

    @property
    def precision(self) -> float:
        """The negative second derivative of the log density with respect to log_x."""
        return self.scale**-2


class Normal(NamedTuple):
    """A normal prior of a coordinate itself."""

    loc: float
    scale: float

    def log_density(self, x: T) -> T:
        """Log density at x."""
        return -0.5 * ((x - self.loc) / self.scale) ** 2 - math.log(self.scale) - 0.5 * LOG_2PI

    def slope(self, x: T) -> T:
        """Derivative of the log density."""
        return -(x - self.loc) / self.scale**2

    @property
    def precision(self) -> float:
        """The negative second derivative of the log density."""
        return self.scale**-2


class Exponential(NamedTuple):
    """An exponential prior of a coordinate itself, which is not negative."""

    rate: float

    def log_density(self, x: T) -> T:
        """Log density at x."""
        return math.log(self.rate) - self.rate * x

    def slope(self, x: T) -> T:
        """Derivative of the log density."""
        return 0.0 * x - self.rate

    @property
    def precision(self) -> float:
        """A stand-in for the negative second derivative, which is zero, lest a search step too far."""
        return SHORT


class LogNormals:
    """Log-normal priors of several parameters at once."""

    def __init__(self, priors: Sequence[LogNormal]) -> None:
        self.loc, self.scale = np.array([prior.loc for prior in priors]), np.array([prior.scale for prior in priors])
        self._constant = float(np.log(self.scale).sum() + 0.5 * LOG_2PI * len(priors))

    def log_density(self, log_x: Array) -> float:
        """The sum of the log densities at exp(log_x)."""
        z = (log_x - self.loc) / self.scale
        return float(-0.5 * (z @ z) - log_x.sum()) - self._constant

    def slopes(self, log_x: Array) -> Array:
        """The derivatives of the log densities with respect to log_x."""
        return (self.loc - log_x) / np.square(self.scale) - 1


Prior = LogNormal | Normal | Exponential


class Block(NamedTuple):
    """Coordinates that are alike.

    Attributes:
        name: The parameter's name in the notation.
        starts: Values at which cold searches begin, the most plausible first; the last serves all further ones.
        bounds: Lower and upper bound.
        prior: Prior of the parameter; None where all values are as probable.
        size: Number of coordinates.
    """

    name: str
    starts: tuple[float, ...]
    bounds: tuple[float, float]
    prior: Prior | None = None
    size: int = 1


def constant_mean(y: Tensor) -> Block:
    """A mean that begins at the median of the observations, and stays among them."""
    return Block("m", (y.median().item(),), (y.min().item(), y.max().item()))


def bounds(blocks: Iterable[Block]) -> list[tuple[float, float]]:
    """Bounds of all coordinates."""
    return [block.bounds for block in blocks for _ in range(block.size)]


def starts(blocks: Sequence[Block], heads: Sequence[Tensor]) -> list[Tensor]:
    """Values of x to begin at: each head, followed by a start of each block; the last head serves all further ones."""
    count = max([len(heads), *(len(block.starts) for block in blocks)])
    tails = [[b.starts[min(i, len(b.starts) - 1)] for b in blocks for _ in range(b.size)] for i in range(count)]
    return [torch.cat([head := heads[min(i, len(heads) - 1)], head.new_tensor(tail)]) for i, tail in enumerate(tails)]


def log_prior(blocks: Iterable[Block], x: Sequence[float]) -> float:
    """The sum of the log prior densities at x."""
    return sum(prior.log_density(at) for prior, at in zip(priors(blocks), x, strict=True) if prior is not None)


def prior_slopes(blocks: Iterable[Block], x: Sequence[float]) -> list[float]:
    """Derivatives of the log prior densities at x; zero where there is no prior."""
    return [0.0 if prior is None else prior.slope(at) for prior, at in zip(priors(blocks), x, strict=True)]


def prior_precisions(blocks: Iterable[Block]) -> list[float]:
    """Negative second derivatives of the log prior densities; zero where there is no prior."""
    return [0.0 if prior is None else prior.precision for prior in priors(blocks)]


def priors(blocks: Iterable[Block]) -> list[Prior | None]:
    """Priors of all coordinates, None where there is none."""
    return [block.prior for block in blocks for _ in range(block.size)]


def by_name(blocks: Sequence[Block], x: Tensor) -> dict[str, Tensor]:
    """The coordinates of each block."""
    return dict(zip((block.name for block in blocks), x.split([block.size for block in blocks]), strict=True))
