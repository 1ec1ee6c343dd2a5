"""Sources in error: one of several workers measures too high, always or since a trial; it drifts; it is broken.

Who measures a trial is drawn, in an order of its own for each round of all workers, so that no worker's trials are a
part of a space-filling sequence.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from robustbo import seeds
from robustbo.tasks.problem import Problem

KIND = "worker"  # of the sources


def worker_of(root: int, number: int, workers: int) -> int:
    """The worker that measures a trial: each once a round, in an order that is drawn for the round.

    Example:
        >>> sorted(worker_of(0, number, 4) for number in range(4, 8))
        [0, 1, 2, 3]
    """
    round_number, place = divmod(number, workers)
    return int(seeds.generator(root, round_number, "workers").permutation(workers)[place])


@dataclass(frozen=True)
class WorkerError(ABC):
    """A corruption by one of several workers, whose error is in spreads of the problem's values.

    Attributes:
        problem: Whose values are measured.
        error: How much too high the worker measures, in spreads; negative too low.
        workers: How many there are.
        worker: Which of them is in error.
        begin: The trial from which it is.
        root: The replication's seed.
        number: The trial's number.
    """

    problem: Problem
    error: float = 1.0
    workers: int = 4
    worker: int = 0
    begin: int = 0
    root: int = 0
    number: int = 0

    is_a_fault: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (isinstance(self.workers, int) and 0 <= self.worker < self.workers):
            raise ValueError(f"worker must be one of {self.workers} workers, from 0 on, got {self.worker}")

    def at(self, root: int, number: int) -> Self:
        """Return the spec at a trial of a replication."""
        return replace(self, root=root, number=number)

    @property
    def source(self) -> dict[str, str]:
        """The label of the worker that measures the trial."""
        return {KIND: f"w{worker_of(self.root, self.number, self.workers)}"}

    @property
    def is_in_error(self) -> bool:
        """Return whether the trial is measured by the worker that is in error, since it is."""
        return (
            self.error != 0
            and self.number >= self.begin
            and worker_of(self.root, self.number, self.workers) == self.worker
        )

    @property
    def spread(self) -> float:
        """The standard deviation of the problem's values."""
        return float(self.problem.sample.std())

    @abstractmethod
    def size(self, generator: np.random.Generator) -> float:
        """The error of a value that has one, in spreads."""

    def apply(self, value: float, x: Mapping[str, Any], generator: np.random.Generator) -> tuple[float, bool]:
        """The value as measured, and whether it was corrupted."""
        size = self.size(generator)
        return (value + size * self.spread, self.is_a_fault) if self.is_in_error else (value, False)


class SourceOffset(WorkerError):
    """A worker that always measures too high, by ``error``."""

    def size(self, generator: np.random.Generator) -> float:
        """Return the error."""
        return self.error


@dataclass(frozen=True)
class SourceStep(SourceOffset):
    """A worker that measures too high by ``error`` from trial ``begin`` on."""

    begin: int = 20


@dataclass(frozen=True)
class Drift(WorkerError):
    """A worker whose error grows from trial ``begin`` on, to ``error`` after ``length`` trials, and goes on to grow."""

    length: int = 40

    def size(self, generator: np.random.Generator) -> float:
        """Return the error of the trial."""
        return self.error * (self.number - self.begin) / self.length


class BrokenSource(WorkerError):
    """A worker each of whose values has a Gaussian error of its own, of standard deviation ``error``."""

    def size(self, generator: np.random.Generator) -> float:
        """Draw the error of the trial."""
        return self.error * float(generator.standard_normal())


class Block(WorkerError):
    """Workers that differ as expected, by Gaussian offsets of standard deviation ``error``: none is wrong."""

    is_a_fault: ClassVar[bool] = False

    @property
    def is_in_error(self) -> bool:
        """Return True: each worker has an offset."""
        return True

    def size(self, generator: np.random.Generator) -> float:
        """Return the offset of the worker that measures the trial."""
        offsets = seeds.generator(self.root, 0, "blocks").standard_normal(self.workers)
        return self.error * float(offsets[worker_of(self.root, self.number, self.workers)])
