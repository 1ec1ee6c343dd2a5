"""One cell of a run: one replication of one method, recorded so that it can stop at any moment and go on.

A cell has two journals. The optimizer's own holds what it was told. The truth beside it, of which the optimizer sees
nothing (but where its method knows the errors), holds for each trial the clean value, whether it was corrupted, and the
recommendation after it. Both follow from the spec and the seed, so whatever a kill left out is computed again, to the
same bits.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from robustbo import seeds
from robustbo.errors import JournalError, SpecError
from robustbo.loop.cache import FitCache
from robustbo.loop.decide import incumbent
from robustbo.loop.outliers import outliers
from robustbo.optimizer import Optimizer
from robustbo.replay.cells import records
from robustbo.replay.cells.digest import check, digest
from robustbo.replay.spec.method import RECORDED, Method, why_not
from robustbo.replay.spec.optimization import RunSpec
from robustbo.surrogates.registry import name_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings, options_text
from robustbo.trials.storage.journal import Journal

CELLS, TRUTH = "cells", ".truth.jsonl"


@dataclass(frozen=True)
class Cell:
    """One replication of one method of a run, recorded in a folder."""

    spec: RunSpec
    method: str
    replication: int
    folder: Path

    @property
    def journal(self) -> Path:
        """What the optimizer was told."""
        return self.folder / CELLS / f"{self.method}-{self.replication}.jsonl"

    @property
    def truth(self) -> Path:
        """What it was not told."""
        return self.journal.with_suffix(TRUTH)

    @property
    def problem(self) -> str:
        """Under which the times of its trials are kept."""
        return self.spec.problem

    @property
    def root(self) -> int:
        """The replication's seed: the same for all methods, so that they meet the same points and corruptions."""
        return seeds.derive(self.spec.seed, self.replication, "replication")

    @property
    def how(self) -> Method:
        """How its method decides."""
        return self.spec.methods[self.method]

    @property
    def is_ours(self) -> bool:
        """Whether our own loop decides."""
        return self.how.engine == "robustbo"

    @property
    def description(self) -> dict[str, Any]:
        """All that this cell depends on."""
        return self.spec.cell(self.method) | {"replication": self.replication}

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
            seed=self.root,
        )


class Recorded(NamedTuple):
    """What of a cell is recorded: one entry a trial, and the trials flagged after the last (None before that)."""

    entries: list[dict[str, Any]]
    flagged: list[int] | None


def recorded(cell: Cell) -> Recorded:
    """What of a cell is recorded.

    Raises:
        SpecError: If it was recorded with another spec; the message shows the difference.
        JournalError: If the record is damaged.
    """
    if not cell.truth.exists():
        return Recorded([], None)
    contents = records.TRUTH.read(cell.truth)
    check(cell.truth, contents.header, cell.description)
    entries = [event for event in contents.events if event["event"] == "trial"]
    for number, entry in enumerate(entries):
        if entry["trial"] != number or (entry["recommended"] or 0) > number:
            raise JournalError(f"{cell.truth}: trial {number} is recorded as {entry}, which cannot be")
    flags = [
        event["trials"] for event in contents.events if event["event"] == "flags" and event["after"] == len(entries)
    ]
    return Recorded(entries, flags[-1] if flags else None)


def run(cell: Cell, progress: Callable[[int, float | None], None]) -> None:
    """Run a cell to its last trial, from wherever it stopped.

    Args:
        cell: Which one.
        progress: Called after each trial with the number of trials done and the true value at the recommended point.

    Raises:
        SpecError: If what is recorded belongs to another spec.
        FitError: If a surrogate cannot be fitted; what was recorded before stays.
    """
    if is_done(cell):
        return
    entries, _ = recorded(cell)
    problem, corruption = cell.spec.load_problem(), cell.spec.build_corruption()
    opt, truth = _open(cell)
    clean = [entry["clean"] for entry in entries]
    for number in range(len(entries), cell.spec.trials):
        trial = opt.history[number] if number < len(opt.history) else opt.ask()
        clean.append(problem(trial.params))
        value, is_corrupted = cell.spec.measure(corruption, trial.params, clean[-1], root=cell.root, number=number)
        if trial.state == "pending":
            opt.tell(trial, told_value(cell, clean[-1], value))
        if excludes(cell, is_corrupted) and opt.history[number].state == "told":
            opt.exclude(trial)
        made = recommend(cell, opt.history, number, opt.fits)
        truth.append(truth_of(number, clean[-1], value, is_corrupted, made))
        progress(number + 1, None if made is None else clean[made])
    truth.append(flagged_of(cell, flags(cell, opt.history, opt.fits)))


def is_done(cell: Cell) -> bool:
    """Whether a cell has been run to its last trial."""
    entries, flagged = recorded(cell)
    return len(entries) > cell.spec.trials or (len(entries) == cell.spec.trials and flagged is not None)


def begin_truth(cell: Cell) -> Journal:
    """A new record of what the optimizer is not told."""
    return Journal.create(cell.truth, {"hash": digest(cell.description), "cell": cell.description})


def truth_of(number: int, clean: float, value: float, is_corrupted: bool, recommended: int | None) -> dict[str, Any]:
    """What that record has of a trial."""
    measured = {"event": "trial", "trial": number, "clean": clean, "value": value, "corrupted": is_corrupted}
    return measured | {"recommended": recommended}


def flagged_of(cell: Cell, trials: list[int]) -> dict[str, Any]:
    """What it has of the end: the trials whose values were flagged."""
    return {"event": "flags", "after": cell.spec.trials, "trials": trials}


def told_value(cell: Cell, clean: float, measured: float) -> float:
    """What the optimizer is told: the measured value, unless the method is an oracle."""
    return clean if cell.how.sees == "clean" else measured


def excludes(cell: Cell, is_corrupted: bool) -> bool:
    """Whether a value is excluded as soon as it has been told: a wrong one, by a method that sees the errors."""
    return is_corrupted and cell.how.sees == "errors"


def flags(cell: Cell, history: History, fits: FitCache) -> list[int]:
    """The trials whose values the surrogate takes for outliers after a history."""
    return sorted(o.trial.number for o in outliers(cell.settings, history, fits, is_weighed=False) if o.flagged)


def recommend(cell: Cell, history: History, number: int, fits: FitCache) -> int | None:
    """The trial whose point is recommended after a trial; None within the initial phase, or where nothing is told."""
    known = History(history.trials[: number + 1])
    if number + 1 < min(cell.spec.num_initial, cell.spec.trials) or not known.having("told"):
        return None
    return incumbent(cell.settings, known, fits).trial.number


def _open(cell: Cell) -> tuple[Optimizer, Journal]:
    if not cell.truth.exists():
        truth = begin_truth(cell)
    else:
        truth, _ = Journal.resume(cell.truth)
    if cell.journal.exists():
        return Optimizer.resume(cell.journal), truth
    return Optimizer.begin(cell.settings, cell.journal), truth


def cells(spec: RunSpec, folder: Path) -> list[Cell]:
    """All cells of a run, replication by replication."""
    return [Cell(spec, method, r, folder) for r in range(spec.replications) for method in spec.methods]


def cells_in(folder: Path) -> list[Cell]:
    """All cells recorded in a folder, each with the spec that it was recorded with."""
    found = [
        _recorded_cell(folder, records.TRUTH.read(path).header["cell"]) for path in (folder / CELLS).glob(f"*{TRUTH}")
    ]
    return sorted(found, key=lambda cell: (cell.replication, cell.method))


def _recorded_cell(folder: Path, description: Mapping[str, Any]) -> Cell:
    rest = dict(description)
    known = [key for key in Method.model_fields if key in rest or key not in Method.later]
    if missing := [key for key in known if key not in rest]:
        raise SpecError(f"{folder}: recorded before methods had {', '.join(missing)}; record it again")
    name, replication = rest.pop("method"), rest.pop("replication")
    method = {key: rest.pop(key) for key in known}
    described = {**rest, "methods": {name: method}, "trials": 1, "replications": 1}
    try:
        spec = RunSpec.model_validate(described, context={RECORDED: True})
    except ValidationError as error:
        raise SpecError(f"{folder}: {name}, replication {replication}: cannot be read: {why_not(error)}") from None
    draft = Cell(spec, name, replication, folder)
    trials = max(1, len(recorded(draft).entries))
    return Cell(spec.model_copy(update={"trials": trials}), name, replication, folder)
