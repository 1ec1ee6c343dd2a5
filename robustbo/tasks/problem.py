"""Benchmark problems: clean, deterministic objectives, found by name through entry points.

Anybody can register a problem under the entry-point group ``robustbo.problems``: a `Problem`, or a function that makes
one of keyword options.
"""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from robustbo.errors import DataError, ProblemError
from robustbo.foreign import access
from robustbo.lazy import Module, cached_property
from robustbo.searchspace.parameters import Choice, Ordinal, Parameter
from robustbo.searchspace.space import Space
from robustbo.tasks.registered import PROBLEMS
from robustbo.validation import name_in_registry

if TYPE_CHECKING:
    from robustbo.searchspace.region import factory, sampling
else:
    factory, sampling = (Module(f"robustbo.searchspace.region.{name}") for name in ("factory", "sampling"))

FEW = 6  # entries that are shown of a longer list
SAMPLED = 200  # points
UNLOADED = "cannot be loaded"  # is how a line begins about what cannot

_BUILT: dict[tuple[Callable[..., Any], str], Any] = {}  # problems by who made them and of which options

# What is measured at a point when something goes wrong, drawn from the trial's own generator.
FailureMode = Callable[[Mapping[str, Any], np.random.Generator], float]


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
        regions: Where its trials fail, by name: a "failure" of that ``region``.
        repeats: The values that were really measured at a point, at least one, where there are any: "repeats".
    """

    name: str
    space: Space
    direction: Literal["minimize", "maximize"]
    objective: Callable[[Mapping[str, Any]], float]
    optimum: float | None = None
    optimizer: Mapping[str, Any] | None = None
    best_seen: float | None = None
    best_seen_at: Mapping[str, Any] | None = None
    cost_s: float | None = None
    reference: str = ""
    failures: Mapping[str, FailureMode] = field(default_factory=dict)
    regions: Mapping[str, Callable[[Mapping[str, Any]], bool]] = field(default_factory=dict)
    repeats: Callable[[Mapping[str, Any]], Sequence[float]] | None = None

    @property
    def best(self) -> tuple[str, float] | None:
        """The optimum, or the best value seen, and which of the two it is; None where neither is known."""
        if self.optimum is not None:
            return "optimum", self.optimum
        return None if self.best_seen is None else ("best seen", self.best_seen)

    @property
    def about(self) -> str:
        """A line about the problem: space, direction, best value and where, cost, how it fails, and reference."""
        named = dict(self.space.parameters)
        ranges = _few([f"{name} {_range(parameter)}" for name, parameter in named.items()])
        parts = [f"{len(named)} inputs ({ranges}), {self.goal}", *_limits(self.space)]
        if self.best is not None:
            at = self.optimizer if self.optimum is not None else self.best_seen_at
            point = "" if at is None else f" at {_few([_short(at[name]) for name in named if name in at])}"
            parts.append(f"{self.best[0]} {self.best[1]:.6g}{point}")
        if self.cost_s is not None:
            parts.append(f"about {self.cost_s:.2g} s")
        if self.failures:
            parts.append(f"fails by {', '.join(self.failures)}")
        if self.regions:
            parts.append(f"fails where {', '.join(self.regions)}")
        return "; ".join(filter(None, [*parts, self.reference]))

    def __call__(self, params: Mapping[str, Any]) -> float:
        """The clean value at a point.

        Raises:
            SpaceError: If it is no point of the space.
            ProblemError: If the value is not finite.
        """
        return self.finite(self.objective(self.space.validate(params)), params)

    @cached_property
    def sample(self) -> np.ndarray:
        """The values at `SAMPLED` fixed Sobol points, which corruptions are scaled with; raises as the call.

        They keep the space's constraints; of a pool they are the nearest rows.
        """
        points = sampling.sobol_points(factory.region_of(self.space), 0, 0, SAMPLED)
        return np.array([self(params) for params in points])

    def truth(self, params: Mapping[str, Any]) -> Any:
        """Return the measurement without noise and corruption at a point; raises as the call."""
        return self(params)

    def worth(self, truths: Sequence[Any]) -> float:
        """The quality of a recommendation, by the truth at its points: here the value at the one; NaN without any."""
        return float(truths[0]) if truths else math.nan

    @property
    def goal(self) -> str:
        """The goal in words."""
        return self.direction

    @property
    def maximizes(self) -> bool:
        """Return whether more worth is better."""
        return self.direction == "maximize"

    def fail(self, kind: str, params: Mapping[str, Any], generator: np.random.Generator) -> float:
        """Return the measurement at a point where the problem fails in one of its own ways.

        Raises:
            ProblemError: If that is not finite.
        """
        return self.finite(self.failures[kind](params, generator), params)

    def finite(self, value: Any, params: Mapping[str, Any]) -> float:
        """A value as a number, if it is a finite one."""
        if not math.isfinite(number := float(value)):
            raise ProblemError(f"{self.name} must give a finite value, got {number} at {dict(params)}")
        return number


def names() -> list[str]:
    """The registered problems."""
    return sorted({point.name for point in entry_points(group=PROBLEMS)})


def load(name: str, **options: Any) -> Problem:
    """The problem of that name.

    Args:
        name: Under which it, or the function that makes it, is registered.
        options: What that function takes.

    Raises:
        ValueError: If none is registered under it, or it does not have an option, or not of that value.
        DataError: If a recorded run is read, and an option names a file that it must not reach.
    """
    registration = _find_registration(name)
    accepted = _options(registration)
    if unknown := [option for option in options if option not in accepted]:
        has = f"has the options {accepted}" if accepted else "has no options"
        raise ValueError(f"problem {name!r} {has}, got {unknown[0]!r}")
    access.check_paths(options)
    try:
        return registration if isinstance(registration, Problem) else _build(registration, options)
    except TypeError as error:
        raise ValueError(f"problem {name!r} has the options {accepted}, got {options!r}: {error}") from error


def _build(make: Callable[..., Problem], options: Mapping[str, Any]) -> Problem:
    """Build the problem of these options, once: what it computes about itself is computed once."""
    key = make, repr(sorted(options.items()))
    if key not in _BUILT:
        _BUILT[key] = make(**options)
    return _BUILT[key]


def about(name: str) -> str:
    """A line about the problem of that name; one that cannot be loaded says so, and spoils no list."""
    try:
        options = _options(_find_registration(name))
        return load(name).about + (f"; options {', '.join(options)}" if options else "")
    except DataError:  # which names folders of this machine, as whoever loads it is told
        return f"{UNLOADED}: its data are not on this machine"
    except Exception as error:
        return f"{UNLOADED}: {error}"


def _find_registration(name: str) -> "Problem | Callable[..., Problem]":
    """Return the object that one package has registered under a name.

    Raises:
        ValueError: If that is nothing, or two things, or cannot be imported.
    """
    points = {point.value: point for point in entry_points(group=PROBLEMS, name=name)}
    if not points:
        name_in_registry("problem", name, names())
    if len(points) > 1:
        raise ValueError(f"problem {name!r} must be registered once, got {sorted(points)}; uninstall one")
    ((value, point),) = points.items()
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        raise ValueError(f"problem {name!r} must be importable from {value}: {error}") from error


def _options(registration: "Problem | Callable[..., Problem]") -> list[str]:
    return [] if isinstance(registration, Problem) else list(inspect.signature(registration).parameters)


def _few(entries: list[str]) -> str:
    return ", ".join(entries if len(entries) <= FEW else [*entries[: FEW - 1], "...", entries[-1]])


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)


def _limits(space: Space) -> list[str]:
    """The restrictions of a space's points, in words."""
    listed = [f"{space.size} listed points"] if space.is_pool else []
    constrained = [f"{len(space.texts)} constraint{'s' * (len(space.texts) > 1)}"] if space.constraints else []
    return [*listed, *constrained, *(["conditional"] if space.is_conditional else [])]


def _range(parameter: Parameter) -> str:
    if isinstance(parameter, Choice | Ordinal):
        return f"of {len(parameter.values)}"
    return f"{parameter.low:g}..{parameter.high:g}{' log' if parameter.log else ''}"
