"""One cell of a regression run: one replication of one method, fitted to each scenario in turn, a line a fit.

Every fit follows from the spec and the seed, so whatever a kill left out is computed again, to the same bits; the
seconds that it took alone are another's.
"""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from pydantic import ValidationError

from robustbo import seeds
from robustbo.determinism.isolation import seeded
from robustbo.errors import FitError, JournalError, RobustBOError, SpecError
from robustbo.replay.cells import records
from robustbo.replay.cells.digest import check, digest
from robustbo.replay.cells.optimization import CELLS
from robustbo.replay.spec.method import RECORDED, why_not
from robustbo.replay.spec.regression import Fitted, RegressionSpec, Scenario
from robustbo.surrogates.common.contract import diagnose, fit, outcome_class
from robustbo.surrogates.common.scoring import scores
from robustbo.surrogates.registry import model_class
from robustbo.surrogates.transforms.arcsinh import RobustArcsinh
from robustbo.tasks import regression
from robustbo.trials.storage.journal import Journal

SUFFIX = ".scores.jsonl"


@dataclass(frozen=True)
class RegressionCell:
    """One replication of one method of a regression run, recorded in a folder.

    Attributes:
        method: Its name.
        how: How it is fitted.
        replication: Which one.
        seed: Of the run.
        scenarios: What it is fitted to.
        folder: Of the run.
        problem: Under which the times of its fits are kept.
    """

    method: str
    how: Fitted
    replication: int
    seed: int
    scenarios: tuple[Scenario, ...]
    folder: Path
    problem: str = ""

    @property
    def journal(self) -> Path:
        """Its record."""
        return self.folder / CELLS / f"{self.method}-{self.replication}{SUFFIX}"

    @property
    def root(self) -> int:
        """The replication's seed: the same for all methods, so that they are fitted to the same data."""
        return seeds.derive(self.seed, self.replication, "replication")

    @property
    def description(self) -> dict[str, Any]:
        """All that this cell depends on but its scenarios, each of which is recorded with its fit."""
        how = self.how.model_dump(mode="json")
        return {"kind": "regression", "seed": self.seed, "method": self.method, "replication": self.replication, **how}


class Sample(NamedTuple):
    """What a fit made: its scores, and how its flags compare with what was corrupted."""

    n: int
    rmse: float
    mae: float
    nlpd: float
    wrong: int
    flagged: int
    hits: int
    fit_s: float


def entries(cell: RegressionCell) -> list[dict[str, Any]]:
    """The fits of its spec that are recorded, in the order of the spec.

    Raises:
        SpecError: If it was recorded with another spec; the message shows the difference.
        JournalError: If the record is damaged.
    """
    if not cell.journal.exists():
        return []
    contents = records.FITS.read(cell.journal)
    check(cell.journal, contents.header, cell.description)
    there = {_key(_scenario(event)): event for event in contents.events}
    tasks = {scenario.name: (scenario.task, scenario.options) for scenario in cell.scenarios}
    for event in contents.events:
        recorded, now = (event["task"], event["options"]), tasks.get(event["name"])
        if now not in (None, recorded):
            shown = f"{event['name']}: recorded {recorded}, now {now}"
            raise SpecError(f"{cell.journal}: recorded with another task; choose another --out or name for it: {shown}")
    return [there[key] for key in map(_key, cell.scenarios) if key in there]


def run(cell: RegressionCell, progress: Callable[[int, float | None], None]) -> None:
    """Run a cell to its last fit, from wherever it stopped.

    Args:
        cell: Which one.
        progress: Called after each fit with the number of fits done, and None.

    Raises:
        SpecError: If what is recorded belongs to another spec.
        FitError: If a surrogate could not be fitted to some scenarios, or has no finite score; the others are recorded.
    """
    done = [_key(_scenario(event)) for event in entries(cell)]
    if len(done) == len(cell.scenarios):
        return
    if cell.journal.exists():
        record, _ = Journal.resume(cell.journal)
    else:
        record = Journal.create(cell.journal, {"hash": digest(cell.description), "cell": cell.description})
    _warm_up(cell.how.surrogate)
    failures = []
    for scenario in cell.scenarios:
        if _key(scenario) in done:
            continue
        try:
            found = measure(cell.how, scenario, cell.root)
        except (RobustBOError, ValueError) as error:
            failures.append(f"{scenario.name}, {scenario.corruption}, {scenario.rate:g}: {error}")
            continue
        done.append(_key(scenario))
        record.append({"event": "fit", **scenario._asdict(), **found._asdict()})
        progress(len(done), None)
    if failures:
        raise FitError("; ".join(failures))


@lru_cache
def _warm_up(surrogate: str) -> None:
    """One fit that nobody times: the first in a process waits for libraries to get ready."""
    X = torch.linspace(0, 1, 8, dtype=torch.float64).unsqueeze(-1)
    with seeded(0), suppress(FitError):
        fit(model_class(surrogate)(X, torch.sin(6 * X)))


def measure(how: Fitted, scenario: Scenario, root: int) -> Sample:
    """Fit a surrogate to a scenario, and score it.

    Args:
        how: Which surrogate, and what it sees.
        scenario: What it is fitted to.
        root: Seed of the data and their corruption.

    Raises:
        FitError: If it cannot be fitted, or a score is not finite.
        ValueError: If the task cannot be made.
    """
    options = json.dumps(scenario.options, sort_keys=True)
    task = _task(scenario.task, scenario.corruption, scenario.rate, root, options)
    seen = ~task.is_corrupted if how.sees == "clean" else np.ones(len(task.y), dtype=bool)
    if seen.sum() < 2:
        raise FitError(f"at least 2 rows must be left to fit, got {seen.sum()}")
    X, Y = torch.from_numpy(task.X[seen]), torch.from_numpy(task.y[seen]).unsqueeze(-1)
    with seeded(seeds.derive(root, 0, "fit")):
        started = time.perf_counter()
        model = fit(model_class(how.surrogate)(X, Y, **_transform(how), **how.options))
        seconds = time.perf_counter() - started
        found = scores(model, torch.from_numpy(task.X_test), torch.from_numpy(task.y_test))
        flagged = diagnose(model).is_outlier.numpy()
    if not np.isfinite(found).all():
        raise FitError(f"scores must be finite, got {found}")
    scale, wrong = float(task.y_scaling.scale), task.is_corrupted[seen]
    return Sample(
        n=len(Y),
        rmse=scale * found.rmse,
        mae=scale * found.mae,
        nlpd=found.nlpd + float(np.log(scale)),
        wrong=int(wrong.sum()),
        flagged=int(flagged.sum()),
        hits=int((flagged & wrong).sum()),
        fit_s=round(seconds, 4),
    )


@lru_cache(maxsize=8)
def _task(name: str, corruption: str, rate: float, seed: int, options: str) -> regression.Task:
    told = json.loads(options)
    return regression.source_of(name).task(name, corruption=corruption, rate=rate, seed=seed, **told)


def _transform(how: Fitted) -> dict[str, Any]:
    """The inverse hyperbolic sine is left away unless asked for; any other transform is what its surrogate is about."""
    is_about_it = outcome_class(model_class(how.surrogate)) is not RobustArcsinh
    return {} if how.transform == "default" or is_about_it else {"outcome_transform": None}


def _scenario(event: dict[str, Any]) -> Scenario:
    return Scenario(*(event[field] for field in Scenario._fields))


def _key(scenario: Scenario) -> str:
    return json.dumps(scenario, sort_keys=True)


def cells(spec: RegressionSpec, folder: Path) -> list[RegressionCell]:
    """All cells of a run, replication by replication."""
    scenarios = tuple(spec.scenarios)
    return [
        RegressionCell(method, how, replication, spec.seed, scenarios, folder, spec.problem)
        for replication in range(spec.replications)
        for method, how in spec.methods.items()
    ]


def cells_in(folder: Path) -> list[RegressionCell]:
    """All cells recorded in a folder, with the scenarios that are recorded of each."""
    found = [_recorded_cell(folder, path) for path in (folder / CELLS).glob(f"*{SUFFIX}")]
    return sorted(found, key=lambda cell: (cell.replication, cell.method))


def _recorded_cell(folder: Path, path: Path) -> RegressionCell:
    contents = records.FITS.read(path)
    how, scenarios = dict(contents.header["cell"]), tuple(map(_scenario, contents.events))
    _, seed, method, replication = (how.pop(key) for key in ("kind", "seed", "method", "replication"))
    if len({*map(_key, scenarios)}) < len(scenarios):
        raise JournalError(f"{path}: each fit must be recorded once, some are twice")
    try:
        return RegressionCell(
            method, Fitted.model_validate(how, context={RECORDED: True}), replication, seed, scenarios, folder
        )
    except ValidationError as error:
        raise SpecError(f"{path}: {method}, replication {replication}: cannot be read: {why_not(error)}") from None
