"""Regression tasks by name: training data of which some are wrong, and test data that are not.

Anybody can register a source of tasks under the entry-point group ``robustbo.regression``: a module, or anything else
with the functions of `TaskSource`.
"""

from importlib.metadata import entry_points
from typing import Any, Protocol

import numpy as np

from robustbo.tasks.registered import REGRESSION
from robustbo.validation import name_in_registry


class Scaling(Protocol):
    """The scaling of values: (values - center) / scale."""

    @property
    def center(self) -> Any:
        """The center that was subtracted."""

    @property
    def scale(self) -> Any:
        """The scale that the difference was divided by."""


class Task(Protocol):
    """A task, scaled: ``n x d`` inputs, ``n`` targets, which of these are corrupted, and ``m`` clean test rows."""

    @property
    def X(self) -> np.ndarray:
        """``n x d`` inputs."""

    @property
    def y(self) -> np.ndarray:
        """``n`` targets, corrupted."""

    @property
    def is_corrupted(self) -> np.ndarray:
        """``n`` truth values."""

    @property
    def X_test(self) -> np.ndarray:
        """``m x d`` inputs."""

    @property
    def y_test(self) -> np.ndarray:
        """``m`` targets, not corrupted."""

    @property
    def y_scaling(self) -> Scaling:
        """The scaling of the targets."""


class TaskSource(Protocol):
    """A source of tasks."""

    def names(self) -> list[str]:
        """The tasks that it has."""

    def corruptions(self) -> list[str]:
        """The corruptions that it has."""

    def options(self) -> list[str]:
        """The other options of a task, beside its corruption, rate and seed."""

    def task(self, name: str, *, corruption: str, rate: float, seed: int, **options: Any) -> Task:
        """One of them."""


def sources() -> list[TaskSource]:
    """The registered sources."""
    points = {point.value: point for point in entry_points(group=REGRESSION)}
    return [points[value].load() for value in sorted(points)]


def names() -> list[str]:
    """Names of the tasks."""
    return sorted({name for source in sources() for name in source.names()})


def about() -> dict[str, str]:
    """A line about each task, by its name."""
    options = {name: ", ".join(source.options()) for source in sources() for name in source.names()}
    return {name: f"regression; may be told {accepted}" for name, accepted in options.items()}


def source_of(task: str) -> TaskSource:
    """The source that has a task.

    Raises:
        ValueError: If none has, or two have.
    """
    owners = [source for source in sources() if task in source.names()]
    if len(owners) > 1:
        raise ValueError(f"task {task!r} must come from one source, {len(owners)} have it; uninstall one")
    if not owners:
        name_in_registry("task", task, names())
    return owners[0]
