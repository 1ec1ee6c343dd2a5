"""A cell of an optimization run: trials of one method, recorded so that it can stop at any moment and go on.

A cell has two journals. The optimizer's own holds what it was told. The truth beside it, of which the optimizer sees
nothing (but where its method knows the errors), holds for each trial the clean value, the measured one (null where the
trial failed), whether that was corrupted, and the recommendation after it. Both follow from the spec and the seed, so
whatever a kill left out is computed again, to the same bits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from robustbo.errors import JournalError, SpecError
from robustbo.loop.cache import FitCache
from robustbo.loop.decide import incumbent
from robustbo.loop.outliers import outliers
from robustbo.optimizer import Optimizer
from robustbo.replay.cells import records
from robustbo.replay.cells.cell import CELLS, Cell, Progress
from robustbo.replay.spec.method import RECORDED, Method, why_not
from robustbo.replay.spec.optimization import RunSpec
from robustbo.surrogates.registry import name_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings, options_text
from robustbo.trials.storage.line import Event

OURS = "robustbo"  # the engine
FAILED = "no value"  # the reason that a failed trial is told with


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
        """What the optimizer was told; the record is what it was not told."""
        return self.folder / CELLS / f"{self.method}-{self.replication}.jsonl"

    @property
    def how(self) -> Method:
        """How its method decides."""
        return self.spec.methods[self.method]

    @property
    def engine(self) -> str:
        """Who decides: our own loop, or another's."""
        return self.how.engine

    @property
    def is_ours(self) -> bool:
        """Whether our own loop decides."""
        return self.engine == OURS

    @property
    def description(self) -> dict[str, Any]:
        """All that this cell depends on."""
        return self.spec.cell(self.method) | {"replication": self.replication}

    @classmethod
    def of(cls, spec: RunSpec, method: str, replication: int, folder: Path) -> Self:
        """A cell of a spec."""
        return cls(method, replication, folder, spec.seed, spec.problem, spec)

    @classmethod
    def recorded(cls, folder: Path, header: Mapping[str, Any], events: Sequence[Event]) -> Self:
        """A cell as it was recorded, of as many trials."""
        rest = dict(header)
        known = [key for key in Method.model_fields if key in rest or key not in Method.later]
        if missing := [key for key in known if key not in rest]:
            raise SpecError(f"{folder}: recorded before methods had {', '.join(missing)}; record it again")
        name, replication = rest.pop("method"), rest.pop("replication")
        method = {key: rest.pop(key) for key in known}
        trials = max(1, sum(event["event"] == "trial" for event in events))
        described = {**rest, "methods": {name: method}, "trials": trials, "replications": 1}
        try:
            spec = RunSpec.model_validate(described, context={RECORDED: True})
        except ValidationError as error:
            raise SpecError(f"{folder}: {name}, replication {replication}: cannot be read: {why_not(error)}") from None
        made = cls.of(spec, name, replication, folder)
        made.entries()  # raises where they are damaged
        return made

    def entries(self) -> list[dict[str, Any]]:
        """What is recorded of each trial."""
        entries = [dict(event) for event in self.events() if event["event"] == "trial"]
        for number, entry in enumerate(entries):
            if entry["trial"] != number or (entry["recommended"] or 0) > number:
                raise JournalError(f"{self.record}: trial {number} is recorded as {entry}, which cannot be")
        return entries

    def flagged(self) -> list[int] | None:
        """The trials flagged after the last that is recorded; None before that."""
        events = self.events()
        count = sum(event["event"] == "trial" for event in events)
        flags = [event["trials"] for event in events if event["event"] == "flags" and event["after"] == count]
        return flags[-1] if flags else None

    @property
    def is_done(self) -> bool:
        """Whether it has been run to its last trial."""
        count = len(self.entries())
        return count > self.spec.trials or (count == self.spec.trials and self.flagged() is not None)

    @cached_property
    def settings(self) -> Settings:
        """The optimizer's settings."""
        problem, method = self.spec.load_problem(), self.how
        return Settings(
            space=problem.space,
            direction=problem.direction,
            surrogate=name_of(method.surrogate),
            options=options_text(method.options),
            acquisition=method.acquisition,
            num_initial=self.spec.num_initial,
            remeasure=method.remeasure,
            max_repeats=method.max_repeats,
            set_aside=method.set_aside,
            failures=method.failures if self.spec.has_failures else "ignore",
            seed=self.root,
        )


def run(cell: OptimizationCell, progress: Progress) -> None:
    """Run a cell to its last trial, from wherever it stopped.

    Args:
        cell: Which one.
        progress: Called after each trial.

    Raises:
        SpecError: If what is recorded belongs to another spec.
        FitError: If a surrogate cannot be fitted; what was recorded before stays.
    """
    if cell.is_done:
        return
    entries, truth = cell.entries(), cell.opened()
    problem, corruption = cell.spec.load_problem(), cell.spec.build_corruption()
    is_begun = cell.journal.exists()
    opt = Optimizer.resume(cell.journal) if is_begun else Optimizer.begin(cell.settings, cell.journal)
    clean = [entry["clean"] for entry in entries]
    for number in range(len(entries), cell.spec.trials):
        trial = opt.history[number] if number < len(opt.history) else opt.ask()
        clean.append(problem(trial.params))
        where = {"root": cell.root, "number": number, "asked": asked_before(opt.history, number)}
        value, is_corrupted = cell.spec.measure(corruption, trial.params, clean[-1], **where)
        if trial.state == "pending":
            told = told_value(cell, clean[-1], value)
            if told is None:
                opt.fail(trial, FAILED)
            else:
                opt.tell(trial, told)
        if excludes(cell, is_corrupted) and opt.history[number].state == "told":
            opt.exclude(trial)
        made = recommend(cell, opt.history, number, opt.fits)
        truth.append(truth_of(number, clean[-1], value, is_corrupted, made))
        progress(number + 1, None if made is None else clean[made])
    truth.append(flagged_of(cell, flags(cell, opt.history, opt.fits)))


def asked_before(history: History, number: int) -> int:
    """How many trials before one have the same point."""
    return sum(trial.point == history[number].point for trial in history.trials[:number])


def truth_of(
    number: int, clean: float, value: float | None, is_corrupted: bool, recommended: int | None
) -> dict[str, Any]:
    """What that record has of a trial."""
    measured = {"event": "trial", "trial": number, "clean": clean, "value": value, "corrupted": is_corrupted}
    return measured | {"recommended": recommended}


def flagged_of(cell: OptimizationCell, trials: list[int]) -> dict[str, Any]:
    """What it has of the end: the trials whose values were flagged."""
    return {"event": "flags", "after": cell.spec.trials, "trials": trials}


def told_value(cell: OptimizationCell, clean: float, measured: float | None) -> float | None:
    """What the optimizer is told: the measured value (None of a failed trial), unless the method is an oracle."""
    return clean if cell.how.sees == "clean" else measured


def excludes(cell: OptimizationCell, is_corrupted: bool) -> bool:
    """Whether a value is excluded as soon as it has been told: a wrong one, by a method that sees the errors."""
    return is_corrupted and cell.how.sees == "errors"


def flags(cell: OptimizationCell, history: History, fits: FitCache) -> list[int]:
    """The trials whose values the surrogate takes for outliers after a history."""
    return sorted(o.trial.number for o in outliers(cell.settings, history, fits, is_weighed=False) if o.flagged)


def recommend(cell: OptimizationCell, history: History, number: int, fits: FitCache) -> int | None:
    """The trial whose point is recommended after a trial; None within the initial phase, or where nothing is told."""
    known = History(history.trials[: number + 1])
    if number + 1 < min(cell.spec.num_initial, cell.spec.trials) or not known.having("told"):
        return None
    return incumbent(cell.settings, known, fits).trial.number
