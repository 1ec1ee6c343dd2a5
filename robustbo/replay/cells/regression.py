"""One cell of a regression run: one replication of one method, fitted to each scenario in turn, a line a fit.

Every fit follows from the spec and the seed, so whatever a kill left out is computed again, to the same bits; the
seconds that it took alone are another's.
"""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from pydantic import ValidationError

from robustbo import seeds
from robustbo.determinism.isolation import seed_everything
from robustbo.errors import FitError, JournalError, RobustBOError, SpecError
from robustbo.foreign import access
from robustbo.replay.cells import records
from robustbo.replay.cells.cell import Cell, Progress
from robustbo.replay.spec.method import RECORDED, why_not
from robustbo.replay.spec.regression import FitMethod, RegressionSpec, Scenario
from robustbo.surrogates.common.contract import diagnose, fit, outcome_class
from robustbo.surrogates.common.scoring import scores
from robustbo.surrogates.registry import model_class
from robustbo.surrogates.transforms.arcsinh import RobustArcsinh
from robustbo.surrogates.transforms.learned_warp import LearnedWarp
from robustbo.tasks import regression
from robustbo.trials.storage.line import Event


@dataclass(frozen=True)
class RegressionCell(Cell):
    """One replication of one method of a regression run.

    Attributes:
        how: How the method is fitted.
        scenarios: What it is fitted to.
    """

    kind, suffix, lines, engine = "regression", ".scores.jsonl", records.FITS, "fits"
    how: FitMethod
    scenarios: tuple[Scenario, ...]

    @property
    def description(self) -> dict[str, Any]:
        """All that this cell depends on but its scenarios, each of which is recorded with its fit."""
        how = self.how.model_dump(mode="json")
        return {"kind": "regression", "seed": self.seed, "method": self.method, "replication": self.replication, **how}

    @classmethod
    def of(cls, spec: RegressionSpec, method: str, replication: int, folder: Path) -> Self:
        """A cell of a spec."""
        how, scenarios = spec.methods[method], tuple(spec.scenarios)
        return cls(method, replication, folder, spec.seed, spec.problem, how, scenarios)

    @classmethod
    def from_record(cls, folder: Path, header: Mapping[str, Any], events: Sequence[Event]) -> Self:
        """A cell as it was recorded, of the scenarios that are."""
        how, scenarios = dict(header), tuple(map(_scenario, events))
        _, seed, method, replication = (how.pop(key) for key in ("kind", "seed", "method", "replication"))
        where = f"{folder}: {method}, replication {replication}"
        if len({*map(_key, scenarios)}) < len(scenarios):
            raise JournalError(f"{where}: each fit must be recorded once, but some are recorded twice")
        try:
            fitted = FitMethod.model_validate(how, context={RECORDED: True})
        except ValidationError as error:
            raise SpecError(f"{where}: cannot be read: {why_not(error)}") from None
        return cls(method, replication, folder, seed, "", fitted, scenarios)

    def entries(self) -> list[dict[str, Any]]:
        """The fits of its spec that are recorded, in the order of the spec."""
        events = self.events()
        fits = {_key(_scenario(event)): dict(event) for event in events}
        tasks = {scenario.name: (scenario.task, scenario.options) for scenario in self.scenarios}
        for event in events:
            recorded, now = (event["task"], event["options"]), tasks.get(event["name"])
            if now not in (None, recorded):
                shown = f"{event['name']}: recorded {recorded}, now {now}"
                raise SpecError(
                    f"{self.record}: recorded with another task; choose another --out or name for it: {shown}"
                )
        return [fits[key] for key in map(_key, self.scenarios) if key in fits]


class Sample(NamedTuple):
    """Results of a fit: its scores, and how its flags compare with the corrupted values."""

    n: int
    rmse: float
    mae: float
    nlpd: float
    wrong: int
    flagged: int
    hits: int
    fit_s: float


def run(cell: RegressionCell, progress: Progress) -> None:
    """Run a cell to its last fit, from wherever it stopped.

    Args:
        cell: Which one.
        progress: Called after each fit.

    Raises:
        SpecError: If what is recorded belongs to another spec.
        FitError: If a surrogate could not be fitted to some scenarios, or has no finite score; the others are recorded.
    """
    finished = [_key(_scenario(event)) for event in cell.entries()]
    if len(finished) == len(cell.scenarios):
        return
    record = cell.open_record()
    _warm_up(cell.how.surrogate)
    failures = []
    for scenario in cell.scenarios:
        if _key(scenario) in finished:
            continue
        try:
            sample = measure(cell.how, scenario, cell.root)
        except (RobustBOError, ValueError) as error:
            failures.append(f"{scenario.name}, {scenario.corruption}, {scenario.rate:g}: {error}")
            continue
        finished.append(_key(scenario))
        record.append({"event": "fit", **scenario._asdict(), **sample._asdict()})
        progress(len(finished), None)
    if failures:
        raise FitError("; ".join(failures))


@lru_cache
def _warm_up(surrogate: str) -> None:
    """One fit that nobody times: the first in a process waits for libraries to get ready."""
    X = torch.linspace(0, 1, 8, dtype=torch.float64).unsqueeze(-1)
    with seed_everything(0), suppress(FitError):
        fit(model_class(surrogate)(X, torch.sin(6 * X)))


def measure(how: FitMethod, scenario: Scenario, root: int) -> Sample:
    """Fit a surrogate to a scenario, and score it.

    Args:
        how: Which surrogate, and what it sees.
        scenario: What it is fitted to.
        root: Seed of the data and their corruption.

    Raises:
        FitError: If it cannot be fitted, or a score is not finite.
        ValueError: If the task cannot be made.
    """
    access.check_paths(scenario.options)
    options = json.dumps(scenario.options, sort_keys=True)
    task = _task(scenario.task, scenario.corruption, scenario.rate, root, options)
    visible = ~task.is_corrupted if how.sees == "clean" else np.ones(len(task.y), dtype=bool)
    if visible.sum() < 2:
        raise FitError(f"at least 2 rows must be left to fit, got {visible.sum()}")
    X, Y = torch.from_numpy(task.X[visible]), torch.from_numpy(task.y[visible]).unsqueeze(-1)
    with seed_everything(seeds.derive(root, 0, "fit")):
        started = time.perf_counter()
        model = fit(model_class(how.surrogate)(X, Y, **_transform(how), **how.options))
        seconds = time.perf_counter() - started
        test_scores = scores(model, torch.from_numpy(task.X_test), torch.from_numpy(task.y_test))
        flagged = diagnose(model).is_outlier.numpy()
    if not np.isfinite(test_scores).all():
        raise FitError(f"scores must be finite, got {test_scores}")
    scale, wrong = float(task.y_scaling.scale), task.is_corrupted[visible]
    return Sample(
        n=len(Y),
        rmse=scale * test_scores.rmse,
        mae=scale * test_scores.mae,
        nlpd=test_scores.nlpd + float(np.log(scale)),
        wrong=int(wrong.sum()),
        flagged=int(flagged.sum()),
        hits=int((flagged & wrong).sum()),
        fit_s=round(seconds, 4),
    )


@lru_cache(maxsize=8)
def _task(name: str, corruption: str, rate: float, seed: int, options: str) -> regression.Task:
    told = json.loads(options)
    return regression.source_of(name).task(name, corruption=corruption, rate=rate, seed=seed, **told)


def _transform(how: FitMethod) -> dict[str, Any]:
    """The inverse hyperbolic sine is left away unless asked for; any other transform is what its surrogate is about."""
    is_about_it = outcome_class(model_class(how.surrogate)) not in (RobustArcsinh, LearnedWarp)
    return {} if how.transform == "default" or is_about_it else {"outcome_transform": None}


def _scenario(event: Event) -> Scenario:
    return Scenario(*(event[field] for field in Scenario._fields))


def _key(scenario: Scenario) -> str:
    return json.dumps(scenario, sort_keys=True)
