"""Benchmark problems: clean, deterministic objectives, found by name through entry points.

Anybody can register a problem under the entry-point group ``robustbo.problems``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from robustbo.space import Space

GROUP = "robustbo.problems"


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
    """

    name: str
    space: Space
    direction: str
    objective: Callable[[Mapping[str, Any]], float]
    optimum: float | None = None
    optimizer: Mapping[str, Any] | None = None

    def __call__(self, params: Mapping[str, Any]) -> float:
        """The clean value at a point.

        Raises:
            SpaceError: If it is no point of the space.
        """
        return float(self.objective(self.space.validate(params)))


def names() -> list[str]:
    """The registered problems."""
    return sorted(point.name for point in entry_points(group=GROUP))


def load(name: str) -> Problem:
    """The problem of that name.

    Raises:
        ValueError: If none is registered under it.
    """
    found = entry_points(group=GROUP, name=name)
    if not found:
        raise ValueError(f"problem must be one of {names()}, got {name!r}")
    return next(iter(found)).load()
