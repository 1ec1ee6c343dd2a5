"""A cell: one replication of one method of a run, recorded in the run's folder, whatever the kind of run."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from robustbo import seeds
from robustbo.replay.cells.digest import check, digest
from robustbo.replay.cells.records import Record
from robustbo.trials.storage.journal import Journal
from robustbo.trials.storage.line import Event

CELLS = "cells"
Progress = Callable[[int, float | None], None]  # hears of the trials done, and the true value at the recommended point


@dataclass(frozen=True)
class Cell(ABC):
    """One replication of one method of a run.

    Attributes:
        method: Its name.
        replication: Which one.
        folder: Of the run.
        seed: Of the run.
        problem: Under which the times of its trials are kept.
    """

    kind: ClassVar[str]  # of run, as a spec says it
    suffix: ClassVar[str]  # of the file of its record
    lines: ClassVar[Record]  # what that consists of
    method: str
    replication: int
    folder: Path
    seed: int
    problem: str

    @property
    @abstractmethod
    def engine(self) -> str:
        """Name of the library that runs it; see `cells.engine`."""

    @property
    @abstractmethod
    def description(self) -> dict[str, Any]:
        """All settings that it depends on: it is continued only where they agree."""

    @abstractmethod
    def entries(self) -> list[dict[str, Any]]:
        """Recorded entries, one a trial or a fit.

        Raises:
            SpecError: If it was recorded with another spec; the message shows the difference.
            JournalError: If the record is damaged.
        """

    @classmethod
    @abstractmethod
    def of(cls, spec: Any, method: str, replication: int, folder: Path) -> Self:
        """A cell of a spec."""

    @classmethod
    @abstractmethod
    def from_record(cls, folder: Path, header: Mapping[str, Any], events: Sequence[Event]) -> Self:
        """A cell as it was recorded: with the description and the events that its record has."""

    @property
    def root(self) -> int:
        """The replication's seed: the same for all methods, so that they meet the same data and corruptions."""
        return seeds.derive(self.seed, self.replication, "replication")

    @property
    def record(self) -> Path:
        """The file of its record."""
        return self.folder / CELLS / f"{self.method}-{self.replication}{self.suffix}"

    @property
    def journal(self) -> Path:
        """File that exists as soon as the cell has begun."""
        return self.record

    def events(self) -> Sequence[Event]:
        """Lines of its record; raises as `entries`."""
        if not self.record.exists():
            return []
        contents = self.lines.read(self.record)
        check(self.record, contents.header, self.description)
        return contents.events

    def open_record(self) -> Journal:
        """Open its record to append to, a new one if there is none."""
        if self.record.exists():
            return Journal.resume(self.record)[0]
        return Journal.create(self.record, {"hash": digest(self.description), "cell": self.description})


C = TypeVar("C", bound=Cell)


def cells(kind: type[C], spec: Any, folder: Path) -> list[C]:
    """All cells of a run, replication by replication."""
    return [kind.of(spec, method, r, folder) for r in range(spec.replications) for method in spec.methods]


def cells_in(kind: type[C], folder: Path) -> list[C]:
    """All cells of a kind that are recorded in a folder, each with the spec that it was recorded with."""
    recorded_cells = []
    for path in (folder / CELLS).glob(f"*{kind.suffix}"):
        contents = kind.lines.read(path)
        recorded_cells.append(kind.from_record(folder, contents.header["cell"], contents.events))
    return sorted(recorded_cells, key=lambda cell: (cell.replication, cell.method))
