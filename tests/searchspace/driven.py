"""An optimization in a random space, each ask of which is checked, and computed again from its journal."""

import contextlib
import json
import random
import shutil
import time
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import robustbo as rb
from robustbo.errors import ExhaustedWarning, SpaceExhausted, SpaceWarning
from robustbo.study.recomputing import recompute_asks
from robustbo.trials.codec import settings_of
from robustbo.trials.storage import places
from tests.searchspace.made import Made

NOT_DECIDED = ("by", "at", "fit_s", "acquisition_s", "unseen")  # what may differ where a decision is computed again
BATCH = 3


@dataclass
class Driven:
    """What came of it.

    Attributes:
        asks: How many trials were asked for.
        by_model: Of these, by a model.
        infeasible: Those that break a constraint.
        out_of_the_space: Those that are no points of the space, or not as it writes them.
        not_fixed: Those without a value that was fixed.
        doubled: Those of a batch that are the same, where there were others.
        not_the_same: Those that are others when resumed, or computed again.
        fell_back: Those that a simpler surrogate decided.
        exhausted: Asks for which nothing was left.
        seconds: That all asks took.
        faults: What was wrong, in words.
    """

    asks: int = 0
    by_model: int = 0
    infeasible: int = 0
    out_of_the_space: int = 0
    not_fixed: int = 0
    doubled: int = 0
    not_the_same: int = 0
    fell_back: int = 0
    exhausted: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)


def driven(made: Made, journal: Path, asks: int, *, seed: int = 0, again: bool = True, **options: Any) -> Driven:
    """Ask and tell, with something fixed now and then, in batches now and then, and points of one's own.

    Args:
        made: The space.
        journal: A file that is not there yet.
        asks: About how many trials.
        seed: Of all that is drawn.
        again: Whether each decision is computed again at last.
        options: Of the optimizer.
    """
    rng, found = random.Random(seed), Driven()
    opt = rb.Optimizer(made.space, direction="minimize", seed=seed, journal=journal, **options)
    while found.asks < asks:
        fixed = made.fixed if rng.random() < 0.5 else {}
        count = BATCH if rng.random() < 0.15 else 1
        copy = _copied(journal) if rng.random() < 0.1 else None
        with _told_of_the_end():
            trials = _asked(opt, found, count, fixed)
            if copy is not None and trials:
                _compared(found, trials, rb.Optimizer.resume(copy), fixed)
        if trials is None:
            break
        _check(made, found, trials, fixed)
        for trial in trials:
            _end(opt, rng, trial)
        if rng.random() < 0.1 and not made.space.is_pool:
            _elsewhere(opt, rng)
    if again:
        _again(found, journal)
    return found


@contextlib.contextmanager
def _told_of_the_end() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExhaustedWarning)
        yield


def _copied(journal: Path) -> Path:
    return Path(shutil.copy(journal, journal.with_suffix(".copy")))


def _asked(opt: rb.Optimizer, found: Driven, count: int, fixed: dict[str, Any]) -> list[rb.Trial] | None:
    started = time.perf_counter()
    try:
        trials = opt.ask(count, fixed=fixed)
    except SpaceExhausted:
        found.exhausted += 1
        return None if count == 1 else []
    found.seconds += time.perf_counter() - started
    found.asks += len(trials)
    found.by_model += sum(trial.origin == "model" for trial in trials)
    found.fell_back += sum(trial.fallback is not None for trial in trials)
    return trials


def _compared(found: Driven, trials: list[rb.Trial], resumed: rb.Optimizer, fixed: dict[str, Any]) -> None:
    """Compare asks with those of a study that was resumed before."""
    for trial, other in zip(trials, resumed.ask(len(trials), fixed=fixed), strict=True):
        if repr(trial.params) != repr(other.params):
            found.not_the_same += 1
            found.faults.append(f"trial {trial.number} is {trial.params}, {other.params} when resumed")


def _check(made: Made, found: Driven, trials: list[rb.Trial], fixed: dict[str, Any]) -> None:
    for trial in trials:
        params = trial.params
        if trial.fallback is not None:
            found.faults.append(f"trial {trial.number}: {trial.fallback}")
        try:
            is_written = repr(made.space.validate(params)) == repr(params)
        except rb.SpaceError as error:
            is_written, params = False, {"error": str(error)} | params
        if not is_written:
            found.out_of_the_space += 1
            found.faults.append(f"trial {trial.number}: {params} is not as the space writes it")
        if broken := made.space.broken(trial.params):
            found.infeasible += 1
            found.faults.append(f"trial {trial.number}: {params} breaks {broken}")
        if any(repr(params.get(name)) != repr(value) for name, value in fixed.items()):
            found.not_fixed += 1
            found.faults.append(f"trial {trial.number}: {params} has not {fixed}")
    new = [trial for trial in trials if trial.repeats is None]
    if len({trial.point for trial in new}) < len(new):
        found.doubled += 1
        found.faults.append(f"of one batch: {[trial.params for trial in new]}")


def _end(opt: rb.Optimizer, rng: random.Random, trial: rb.Trial) -> None:
    if rng.random() < 0.03:
        opt.fail(trial)
    else:
        opt.tell(trial, _value(trial.params) + (100.0 if rng.random() < 0.05 else 0.0))


def _value(params: dict[str, Any]) -> float:
    """A value that depends on all there is, smoothly on no scale."""
    total = 0.0
    for name, value in params.items():
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
        total += (abs(number) + 1e-3) ** 0.5 * (1 if zlib.crc32(name.encode()) % 2 else -1)
        total += zlib.crc32(repr((name, value)).encode()) % 7 / 7 if number == 0.0 else 0.0
    return total


def _elsewhere(opt: rb.Optimizer, rng: random.Random) -> None:
    """A measurement of one's own, whether it keeps the constraints or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpaceWarning)
        point = opt.settings.space.from_unit([rng.random() for _ in opt.settings.space.names])
        opt.tell(point, _value(point))


def _again(found: Driven, journal: Path) -> None:
    contents = places.contents(journal)
    for recorded, made in recompute_asks(settings_of(journal, contents.header), contents.events):
        different = [k for k in {*recorded, *made}.difference(NOT_DECIDED) if _text(recorded, k) != _text(made, k)]
        if different:
            found.not_the_same += 1
            found.faults.append(f"trial {recorded['trial']}: {different} differ when computed again")


def _text(event: dict[str, Any], key: str) -> str:
    return json.dumps(event.get(key))
