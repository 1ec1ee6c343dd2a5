"""Benchmark problems: clean, deterministic objectives, found by name through entry points.

Anybody can register a problem under the entry-point group ``robustbo.problems``: a `Problem`, or a function that makes
one of keyword options.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from robustbo.space import Space

GROUP = "robustbo.problems"

# What is measured at a point when something goes wrong, drawn from the trial's own generator.
Failure = Callable[[Mapping[str, Any], np.random.Generator], float]


@dataclass(frozen=True)
class Problem:
    """A clean, deterministic objective with its space.

    Attributes:
        name: Under which it is registered.
        space: Where it is defined.
        direction: "minimize" or "maximize".
        objective: From a point's parameters to its value; no noise, no corruption.
        optimum: The best value there is, where known.
        optimizer: A point that attains it, where known.
        best_seen: The best value ever seen, where the optimum is not known.
        best_seen_at: The point where it was seen.
        cost_s: Seconds that one evaluation takes on one core, roughly.
        reference: Where it comes from.
        failures: What can go wrong with it in its own ways, by name: corruptions of that ``kind``.
    """

    name: str
    space: Space
    direction: str
    objective: Callable[[Mapping[str, Any]], float]
    optimum: float | None = None
    optimizer: Mapping[str, Any] | None = None
    best_seen: float | None = None
    best_seen_at: Mapping[str, Any] | None = None
    cost_s: float | None = None
    reference: str = ""
    failures: Mapping[str, Failure] = field(default_factory=dict)

    @property
    def best(self) -> tuple[str, float] | None:
        """The optimum, or the best value seen, and which of the two it is; None where neither is known."""
        if self.optimum is not None:
            return "optimum", self.optimum
        return None if self.best_seen is None else ("best seen", self.best_seen)

    @property
    def about(self) -> str:
        """In a line: inputs, direction, best value, cost, how it fails, and reference."""
        best = None if self.best is None else f"{self.best[0]} {self.best[1]:.6g}"
        cost = None if self.cost_s is None else f"{self.cost_s:.2g} s"
        failures = ", ".join(self.failures)
        parts = f"{len(self.space)} inputs, {self.direction}", best, cost, failures, self.reference
        return "; ".join(filter(None, parts))

    def __call__(self, params: Mapping[str, Any]) -> float:
        """The clean value at a point.

        Raises:
            SpaceError: If it is no point of the space.
        """
        return float(self.objective(self.space.validate(params)))


def names() -> list[str]:
    """The registered problems."""
    return sorted(point.name for point in entry_points(group=GROUP))


def load(name: str, **options: Any) -> Problem:
    """The problem of that name.

    Args:
        name: Under which it, or the function that makes it, is registered.
        options: What that function takes.

    Raises:
        ValueError: If none is registered under it, or it does not have an option, or not of that value.
    """
    found = entry_points(group=GROUP, name=name)
    if not found:
        raise ValueError(f"problem must be one of {names()}, got {name!r}")
    made: Problem | Callable[..., Problem] = next(iter(found)).load()
    known = [] if isinstance(made, Problem) else list(inspect.signature(made).parameters)
    if unknown := [option for option in options if option not in known]:
        has = f"has the options {known}" if known else "has no options"
        raise ValueError(f"problem {name!r} {has}, got {unknown[0]!r}")
    return made if isinstance(made, Problem) else made(**options)


def about(name: str) -> str:
    """What there is to say of the problem of that name; another's that cannot be loaded spoils no list."""
    try:
        return load(name).about
    except Exception as error:
        return f"cannot be loaded: {error}"
