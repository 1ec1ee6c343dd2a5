"""The value that a pruned trial would have come to: its last report, and how values change from there to the end.

An early value is biased: losses fall, sums grow, accuracies rise. How much a study's values typically change from a
step on is known from the trials that have reported there and then ran to their end: the median of these changes, which
a wrong value among them does not move much. While they are too few the report stands as it is.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from optuna.trial import FrozenTrial, TrialState

LEAST = 3  # trials that tell how values change; one of them may be wrong


def is_stand_in(trial: FrozenTrial, user_note: Mapping[str, Any]) -> bool:
    """Return whether a value is but what a pruned trial reported last: nobody has amended it, or vouched for it."""
    return (
        trial.state == TrialState.PRUNED and user_note.get("value") is None and not user_note.get("is_vouched", False)
    )


def stand_ins(trials: Sequence[FrozenTrial], user_notes: Mapping[int, Mapping[str, Any]]) -> dict[int, float]:
    """Values by number of trial: that which stands in for that of each pruned trial whose last report is finite.

    Args:
        trials: Of a study of one objective, by number.
        user_notes: What the user says of some.
    """
    ends = {trial.number: end for trial in trials if (end := _end(trial, user_notes.get(trial.number, {}))) is not None}
    changes: dict[int, float] = {}
    values: dict[int, float] = {}
    for trial in trials:
        step = trial.last_step
        if step is None or not is_stand_in(trial, user_notes.get(trial.number, {})):
            continue
        report = trial.intermediate_values[step]
        if not math.isfinite(report):
            continue
        if step not in changes:
            changes[step] = _change(step, trials, ends)
        values[trial.number] = report + changes[step]
    return values


def _end(trial: FrozenTrial, user_note: Mapping[str, Any]) -> float | None:
    """The value of a trial that ran to its end and counts."""
    if trial.state != TrialState.COMPLETE or user_note.get("is_excluded", False):
        return None
    amended = user_note.get("value")
    value = float(trial.values[0] if amended is None else amended)
    return value if math.isfinite(value) else None


def _change(step: int, trials: Sequence[FrozenTrial], ends: Mapping[int, float]) -> float:
    """Typical change of values from a step to the end; nothing where too few trials tell."""
    complete = [trial for trial in trials if trial.number in ends and step in trial.intermediate_values]
    changes = [ends[trial.number] - trial.intermediate_values[step] for trial in complete]
    finite = [change for change in changes if math.isfinite(change)]
    return median(finite) if len(finite) >= LEAST else 0.0
