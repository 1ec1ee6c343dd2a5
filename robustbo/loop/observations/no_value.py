"""The message that no value counts, and what to do about it."""

from collections.abc import Iterable

from robustbo.trials.tree import Trials
from robustbo.trials.trial import Trial


def no_value(trials: Trials | Iterable[Trial], subject: str, outcomes: Iterable[str] = ()) -> str:
    """The message that something needs a value, where none was told, or all are excluded.

    Args:
        trials: All trials.
        subject: What needs one.
        outcomes: Of which of several outcomes there is none.

    Example:
        >>> no_value([], "the best")
        'the best needs at least one told value, got none; tell one first'
        >>> trials = [Trial(i, {"x": 0.5}, "excluded", 1.0) for i in range(3)]
        >>> no_value(trials, "the best")
        'the best needs at least one told value, got 3 that are all excluded; include one, or tell another'
    """
    names = [*outcomes]
    of = f" of {names}" if names else ""
    excluded = sum(_is_excluded(trial, names) for trial in trials)
    if not excluded:
        return f"{subject} needs at least one told value{of}, got none; tell one first"
    count = f"{excluded} that are all excluded" if excluded > 1 else "one that is excluded"
    include = "include one" if excluded > 1 else "include it"
    return f"{subject} needs at least one told value{of}, got {count}; {include}, or tell another"


def _is_excluded(trial: Trial, names: list[str]) -> bool:
    """Return whether a trial has a value, of one of some outcomes if there are several, that is excluded."""
    if trial.outcomes and names:
        measured = [trial.outcomes[name] for name in names if name in trial.outcomes]
        return any(m.value is not None and (m.is_excluded or trial.state == "excluded") for m in measured)
    return trial.state == "excluded" or any(m.is_excluded for m in trial.outcomes.values())
