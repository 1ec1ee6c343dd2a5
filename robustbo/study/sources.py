"""Sources as people name them, and words on all values of one, as events."""

from collections.abc import Mapping
from typing import Any

from robustbo.study.handing import TrialLike
from robustbo.trials import worker
from robustbo.trials.history import History
from robustbo.trials.sources import COMPUTER, DEFAULT_KIND, Source, labels_to_record
from robustbo.trials.storage.line import Event
from robustbo.trials.trial import Trial
from robustbo.trials.verdicts import KIND, SourceVerdict, Verdict, verdict_of
from robustbo.validation import index, nearest, short_list


def labels_of(history: History, source: Source | None) -> dict[str, str]:
    """The labels that a source has: of a mere label the only kind that has it, or the only kind, or else "source".

    Raises:
        TypeError, ValueError: If it is none, or several kinds have that label.
    """
    labels = labels_to_record(source)
    if source is None or isinstance(source, Mapping) or not labels:
        return labels
    (label,) = labels.values()
    levels_by_kind = levels_in(history)
    kinds = [kind for kind, levels in levels_by_kind.items() if label in levels]
    if len(kinds) > 1:
        examples = " or ".join(repr({kind: label}) for kind in kinds)
        raise ValueError(f"source must say of which kind {label!r} is, there are several; write {examples}")
    kinds = kinds or [kind for kind in levels_by_kind if kind != COMPUTER]  # which nobody named
    return {kinds[0] if len(kinds) == 1 else DEFAULT_KIND: label}


def check_labels(history: History, source: Source | None) -> dict[str, str]:
    """The labels that a source has, which some trial must have too.

    Raises:
        TypeError, ValueError: If it is none, or no trial has them; the message has the nearest.
    """
    labels, levels = labels_of(history, source), levels_in(history)
    for kind, label in labels.items():
        labels_of_kind = (
            [*levels.get(kind, ())] if kind in levels else [*dict.fromkeys(s for of in levels.values() for s in of)]
        )
        if label not in levels.get(kind, ()):
            rule = (
                f"source must be one that was told, {short_list(labels_of_kind)}"
                if labels_of_kind
                else "source must be told first"
            )
            raise ValueError(f"{rule}, got {label!r}{nearest(label, labels_of_kind)}")
    return labels


def levels_in(history: History) -> dict[str, list[str]]:
    """The labels of each kind of source, in the order in which they came."""
    levels: dict[str, dict[str, None]] = {}
    for trial in history:
        for kind, label in trial.sources.items():
            levels.setdefault(kind, {})[label] = None
    return {kind: [*labels] for kind, labels in levels.items()}


def verdict_event(
    history: History, verdict: Verdict, source: Source | None, since: TrialLike | None, content: Mapping[str, Any]
) -> Event:
    """The event that a word on a source is.

    Args:
        history: All trials.
        verdict: The word.
        source: Of which source; None for everything since a trial.
        since: From whose telling on; None from the beginning.
        content: The outcome, the error and the reason, as far as they are said.

    Raises:
        TypeError, ValueError: If it speaks of no value, or there is no such source or trial.
    """
    labels = check_labels(history, source)
    first = None if since is None else history[since.number if isinstance(since, Trial) else index(since)]
    event = {"event": KIND, "trial": len(history), "verdict": verdict, "source": labels, **content}
    event |= {} if first is None else {"since": first.number}
    verdict_of(event, first)  # which checks it
    return event | {"by": worker.name(), "at": worker.now()}


def trials_of(history: History, verdict: SourceVerdict) -> list[Trial]:
    """The trials that a word on a source speaks of."""
    return [trial for trial in history if trial.state in ("told", "excluded") and verdict.covers(trial)]
