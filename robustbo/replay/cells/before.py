"""A cell's study before a trial, and of it: values of old studies, earlier asks of its point, its exclusions."""

from collections.abc import Sequence
from typing import Any

from robustbo.optimizer import Optimizer
from robustbo.trials.history import History
from robustbo.trials.trial import Trial

OldMeasurement = tuple[str, dict[str, Any], float]  # the source, the point and the value


def tell_old_studies(opt: Optimizer, measurements: Sequence[OldMeasurement]) -> None:
    """Tell a study what old studies have measured, as far as it does not have it yet."""
    for source, point, value in measurements[len(opt.history) :]:
        opt.tell(point, value, source=source)


def num_earlier_asks(history: History, number: int) -> int:
    """Number of trials before one that have the same point."""
    return sum(trial.point == history[number].point for trial in history.trials[:number])


def exclusions_of(trial: Trial) -> list[str | None]:
    """Excluded parts of a trial: all of it (None), or outcomes by name."""
    by_name = [name for name, outcome in trial.outcomes.items() if outcome.is_excluded]
    return [None] if trial.state == "excluded" else [*by_name]
