"""Corruptions: wrong measurements, injected on purpose and drawn from the trial's own generator.

Each spec draws in the same order whatever happens, so that every method meets the same corruption at the same trial.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

from robustbo import seeds
from robustbo.tasks.by_chance import ByChance
from robustbo.tasks.failing import InjectedFailure
from robustbo.tasks.problem import Problem
from robustbo.tasks.ranged import Crash, InRange, TooGood
from robustbo.tasks.repeats import Repeats
from robustbo.tasks.sources import Block, BrokenSource, Drift, SourceOffset, SourceStep, WorkerError
from robustbo.tasks.sticking import Sticks
from robustbo.validation import one_of


class Corruption(Protocol):
    """The protocol of every corruption spec."""

    def apply(self, value: float, x: Mapping[str, Any], generator: np.random.Generator) -> tuple[float, bool]:
        """The value as measured at a point (NaN where the trial fails), and whether it was corrupted."""


@dataclass(frozen=True)
class Constant(ByChance):
    """A corruption that replaces the value by a constant, with a probability."""

    value: float = 100.0

    def wrong_value(self, value: float, x: Mapping[str, Any], draw: None) -> float:
        """Return the constant."""
        return self.value


@dataclass(frozen=True)
class Uniform(ByChance):
    """A corruption that replaces the value by one drawn uniformly from [low, high], with a probability."""

    low: float = -3.0
    high: float = 3.0

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"low must not exceed high, got low={self.low!r}, high={self.high!r}")

    def draw(self, generator: np.random.Generator) -> float:
        """Draw from [low, high]."""
        return float(generator.uniform(self.low, self.high))

    def wrong_value(self, value: float, x: Mapping[str, Any], draw: float) -> float:
        """Return the draw."""
        return draw


@dataclass(frozen=True)
class Shift(Uniform):
    """A corruption that adds an error drawn uniformly from [low, high] to the value, with a probability."""

    low: float = 1.0
    high: float = 2.0

    def wrong_value(self, value: float, x: Mapping[str, Any], draw: float) -> float:
        """Return the value and the error."""
        return value + draw


@dataclass(frozen=True)
class RandomPoint(ByChance):
    """A corruption that replaces the value by the objective's at a random point of the space, with a probability."""

    problem: Problem

    def draw(self, generator: np.random.Generator) -> np.ndarray:
        """Draw a point of the unit cube."""
        return generator.random(len(self.problem.space))

    def wrong_value(self, value: float, x: Mapping[str, Any], draw: np.ndarray) -> float:
        """Return the objective's value at the point drawn."""
        return self.problem(self.problem.space.from_unit(draw.tolist()))


@dataclass(frozen=True)
class Persistent:
    """A corruption that replaces every value in a region of the space by a constant, replicates included.

    The region is a cube in the unit cube, somewhere in it, and takes a share of ``probability`` of its volume.
    """

    probability: float
    problem: Problem
    value: float = 100.0
    place: int = 0  # which of the regions of that size; they are drawn from it

    def apply(self, value: float, x: Mapping[str, Any], generator: np.random.Generator) -> tuple[float, bool]:
        """The value as measured, and whether it was corrupted."""
        u = np.array(self.problem.space.to_unit(x))
        side = self.probability ** (1 / len(u))
        low = (1 - side) * seeds.generator(self.place, 0, "region").random(len(u))
        is_corrupted = side > 0 and bool(((low <= u) & (u <= low + side)).all())
        return (self.value, True) if is_corrupted else (value, False)


@dataclass(frozen=True)
class Own(ByChance):
    """A corruption by the problem's own failure of that name, with a probability."""

    problem: Problem
    kind: str

    def draw(self, generator: np.random.Generator) -> np.random.Generator:
        """Return the generator: what the failure draws comes last."""
        return generator

    def wrong_value(self, value: float, x: Mapping[str, Any], draw: np.random.Generator) -> float:
        """Return the measurement of the failure at the point."""
        return self.problem.fail(self.kind, x, draw)


SOURCES: dict[str, type[WorkerError]] = {
    "source-offset": SourceOffset,
    "source-step": SourceStep,
    "drift": Drift,
    "broken-source": BrokenSource,
    "block": Block,
}
FAILURE, REPEATS, STICKS = "failure", "repeats", "sticks"
CORRUPTIONS: dict[str, Any] = {
    "constant": Constant,
    "uniform": Uniform,
    "shift": Shift,
    "random-point": RandomPoint,
    "persistent": Persistent,
    FAILURE: InjectedFailure,
    REPEATS: Repeats,
    "crash": Crash,
    "in-range": InRange,
    "too-good": TooGood,
    STICKS: Sticks,
    **SOURCES,
}
NO_OPTIONS = ("problem", "root", "replicate", "last", "number")  # fields that the problem and the trial fill in


def build(kind: str, problem: Problem, **options: Any) -> Corruption:
    """A corruption spec by name, for a problem.

    Args:
        kind: "constant" (value), "uniform" and "shift" (low, high), "random-point", "persistent" (value, place),
            "failure" (region, and the region's options), "repeats" (of a problem that has some; wrong ones are
            mix-ups), "crash", "in-range", "too-good" (ranges), "sticks", or the name of one of the problem's own
            failures; of one of several workers (error in spreads, workers, worker, begin) "source-offset",
            "source-step", "drift" (length), "broken-source" and "block".
        problem: Whose values are corrupted.
        options: ``probability`` (by default 0 for a "failure" and for "repeats"; none of workers), and what the kind
            takes.

    Raises:
        ValueError: If there is no such kind, an option is unknown, the probability is not in [0, 1], or a failure of
            the problem has the name of another kind.

    Example:
        >>> from robustbo_problems.hartmann6 import hartmann6
        >>> build("constant", hartmann6, probability=1.0).apply(3.0, {}, np.random.default_rng(0))
        (100.0, True)
    """
    one_of("kind", kind, sorted([*CORRUPTIONS, *problem.failures]))
    inside = options.pop("region", None) if kind == FAILURE else None
    probability = options.get("probability", 0.0 if kind in (FAILURE, REPEATS, *SOURCES) else None)
    if isinstance(probability, bool) or not isinstance(probability, int | float) or not 0 <= probability <= 1:
        raise ValueError(f"probability must lie in [0, 1], got {probability!r}")
    if wrong := [key for key, value in options.items() if not isinstance(value, int | float)]:
        raise ValueError(f"{wrong[0]} must be a number, got {options[wrong[0]]!r}")
    if not isinstance(inside, str | None):
        raise ValueError(f"region must be a name, got {inside!r}")
    if both := sorted({*CORRUPTIONS} & {*problem.failures}):
        raise ValueError(f"{problem.name}'s failures must have names of their own, got {both[0]!r}; rename it")
    if kind in problem.failures:
        if set(options) != {"probability"}:
            raise ValueError(f"{kind} has the option 'probability' alone, got {sorted(options)}")
        return Own(problem=problem, kind=kind, **options)
    if kind == FAILURE:
        return InjectedFailure.of(problem, region_name=inside, **options)
    names = [field.name for field in fields(CORRUPTIONS[kind])]
    accepted = [name for name in names if name not in NO_OPTIONS]
    if unknown := [key for key in options if key not in accepted]:
        raise ValueError(f"{kind} has the options {accepted}, got {unknown[0]!r}")
    return CORRUPTIONS[kind](**{"problem": problem} if "problem" in names else {}, **options)
