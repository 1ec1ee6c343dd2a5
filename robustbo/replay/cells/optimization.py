"""A cell of an optimization run: trials of one method, recorded so that it can stop at any moment and go on.

A cell has two journals. The optimizer's own holds what it was told. The truth beside it, of which the optimizer sees
nothing (but where its method knows the errors), holds for each trial the clean value, the measured one (null where the
trial failed), whether that was corrupted, and the recommendation after it. Both follow from the spec and the seed, so
whatever a kill left out is computed again, to the same bits.

With several outcomes values are by name, what is corrupted is a list of names, and where there are several objectives a
recommendation is a list of trials, those of the believed front.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from robustbo.errors import JournalError, SpecError
from robustbo.lazy import cached_property
from robustbo.replay.cells import records
from robustbo.replay.cells.before import OldMeasurement
from robustbo.replay.cells.cell import CELLS, Cell
from robustbo.replay.cells.events import outcome_names
from robustbo.replay.cells.recommendation import Flagged, trials_of
from robustbo.replay.spec.method import RECORDED, Method, why_not
from robustbo.replay.spec.old_study import old_measurements, sources_of_method
from robustbo.replay.spec.optimization import RunSpec
from robustbo.surrogates.registry import name_of
from robustbo.tasks.several import SeveralProblem
from robustbo.trials.former_names import in_new_names
from robustbo.trials.outcome import Outcome
from robustbo.trials.settings import Settings, options_text
from robustbo.trials.storage.line import Event

OURS = "robustbo"  # the engine


@dataclass(frozen=True)
class OptimizationCell(Cell):
    """One replication of one method of a run.

    Attributes:
        spec: Of the run.
    """

    kind, suffix, lines = "optimization", ".truth.jsonl", records.TRUTH
    spec: RunSpec

    @property
    def journal(self) -> Path:
        """Journal of all that the optimizer was told; the record has the rest."""
        return self.folder / CELLS / f"{self.method}-{self.replication}.jsonl"

    @property
    def how(self) -> Method:
        """Settings by which its method decides."""
        return self.spec.methods[self.method]

    @property
    def engine(self) -> str:
        """Name of the engine that decides: our own loop, or another library's."""
        return self.how.engine

    @property
    def is_ours(self) -> bool:
        """True if our own loop decides."""
        return self.engine == OURS

    @property
    def is_told_sources(self) -> bool:
        """True if its method is told which worker measures."""
        return self.how.sources == "told" and bool(self.spec.source(self.spec.build_corruption(), self.root, 0))

    @property
    def is_told_old_studies(self) -> bool:
        """True if its method is told of old studies."""
        return self.how.sources == "told" and bool(self.spec.old_studies)

    @cached_property
    def old_measurements(self) -> list[OldMeasurement]:
        """The values that its study is told first: so many trials of the journal are not of the record."""
        problem, of = self.spec.load_problem(), self.spec.old_studies if self.is_told_old_studies else {}
        return old_measurements(of, problem, self.spec.noise, self.root)

    def source(self, corruption: Any, number: int) -> dict[str, str]:
        """The label of the worker that measures a trial, where its method is told."""
        return self.spec.source(corruption, self.root, number) if self.how.sources == "told" else {}

    @property
    def description(self) -> dict[str, Any]:
        """All that this cell depends on."""
        return self.spec.cell(self.method) | {"replication": self.replication}

    @classmethod
    def of(cls, spec: RunSpec, method: str, replication: int, folder: Path) -> Self:
        """A cell of a spec."""
        return cls(method, replication, folder, spec.seed, spec.problem, spec)

    @classmethod
    def from_record(cls, folder: Path, header: Mapping[str, Any], events: Sequence[Event]) -> Self:
        """A cell as it was recorded, of as many trials."""
        try:
            rest = in_new_names(header)
        except TypeError as error:
            raise SpecError(f"{folder}: {error}") from None
        keys = [key for key in Method.model_fields if key in rest or key not in Method.later]
        if missing := [key for key in keys if key not in rest]:
            raise SpecError(f"{folder}: recorded before methods had {', '.join(missing)}; record it again")
        name, replication = rest.pop("method"), rest.pop("replication")
        method = {key: rest.pop(key) for key in keys}
        trials = max(1, sum(event["event"] == "trial" for event in events))
        described = {**rest, "methods": {name: method}, "trials": trials, "replications": 1}
        try:
            spec = RunSpec.model_validate(described, context={RECORDED: True})
        except ValidationError as error:
            raise SpecError(f"{folder}: {name}, replication {replication}: cannot be read: {why_not(error)}") from None
        cell = cls.of(spec, name, replication, folder)
        cell.entries()  # raises where they are damaged
        return cell

    def entries(self) -> list[dict[str, Any]]:
        """Recorded entries, one a trial."""
        entries = [dict(event) for event in self.events() if event["event"] == "trial"]
        first = outcome_names(entries[0]) if entries else None
        for number, entry in enumerate(entries):
            is_out_of_turn = entry["trial"] != number or max(trials_of(entry["recommended"]), default=0) > number
            if is_out_of_turn or first == set() or outcome_names(entry) != first:
                raise JournalError(f"{self.record}: trial {number} is recorded as {entry}, which cannot be")
        return entries

    def flags(self) -> Flagged | None:
        """The trials flagged after the last that is recorded; None before that."""
        end = self._end()
        return None if end is None else end["trials"]

    def sources_in_doubt(self) -> list[str] | None:
        """The labels of the sources in doubt then; None where the method is not told of sources."""
        end = self._end()
        return None if end is None else end.get("sources")

    def _end(self) -> Event | None:
        """The event after the last trial that is recorded; None before that."""
        events = self.events()
        count = sum(event["event"] == "trial" for event in events)
        ends = [event for event in events if event["event"] == "flags" and event["after"] == count]
        return ends[-1] if ends else None

    @property
    def is_done(self) -> bool:
        """True if it has been run to its last trial."""
        count = len(self.entries())
        return count > self.spec.trials or (count == self.spec.trials and self.flags() is not None)

    @cached_property
    def settings(self) -> Settings:
        """The optimizer's settings."""
        problem, method = self.spec.load_problem(), self.how
        several: dict[str, Any] = {}
        if self.is_told_old_studies:
            several = {"sources": sources_of_method(self.spec.old_studies)}
        if method.negligible_error:
            several |= {"outcome": Outcome(negligible_error=method.negligible_error)}
        if isinstance(problem, SeveralProblem):
            several = {
                "objectives": tuple(problem.objectives.items()),
                "outcome_constraints": problem.outcome_constraints,
                "reference_point": tuple(problem.reference_point.items()),
            }
        return Settings(
            space=problem.space,
            direction=problem.direction,
            surrogate=name_of(method.surrogate),
            options=options_text(method.options),
            acquisition=method.acquisition,
            num_initial=self.spec.num_initial,
            replicate=method.replicate,
            max_replicates=method.max_replicates,
            quarantine=method.quarantine,
            failures=method.failures if self.spec.has_failures else "ignore",
            seed=self.root,
            **several,
        )
