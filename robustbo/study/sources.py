"""Sources as people name them, and words on all values of one, as events."""

from collections.abc import Iterable, Mapping
from typing import Any

from robustbo.errors import SourceWarning, warn
from robustbo.study.handing import TrialLike, first_and_latest
from robustbo.trials import worker
from robustbo.trials.declared import Declared, check_source_name
from robustbo.trials.events import find_trial
from robustbo.trials.history import History
from robustbo.trials.sources import COMPUTER, DEFAULT_KIND, Source, labels_to_record
from robustbo.trials.storage.line import Event
from robustbo.trials.trial import Trial
from robustbo.trials.verdicts import KIND, SourceVerdict, Verdict, verdict_of
from robustbo.validation import index, near, nearest, short_list

ALIKE = 0.75  # of names of kinds, from which on one may be the other mistyped: "plate" and "plates", not "date"


def labels_of(trials: Iterable[Trial], source: Source | None, argument: str = "source") -> dict[str, str]:
    """The labels that a source has: of a mere label the only kind that has it, or the only kind, or else "source".

    Args:
        trials: Those whose kinds there are.
        source: The source.
        argument: The name of the argument that it is.

    Raises:
        TypeError, ValueError: If it is none, or several kinds have that label.
    """
    labels = labels_to_record(source)
    if source is None or isinstance(source, Mapping) or not labels:
        return labels
    (label,) = labels.values()
    levels_by_kind = levels_in(trials)
    kinds = [kind for kind, levels in levels_by_kind.items() if label in levels]
    if len(kinds) > 1:
        examples = " or ".join(repr({kind: label}) for kind in kinds)
        raise ValueError(f"{argument} must name the kind of {label!r}, which several kinds have; write {examples}")
    kinds = kinds or [kind for kind in levels_by_kind if kind != COMPUTER]  # which nobody named
    return {kinds[0] if len(kinds) == 1 else DEFAULT_KIND: label}


def labels_to_tell(history: History, source: Source | None, argument: str = "source") -> dict[str, str]:
    """The labels of what measures, as `labels_of`; all trials are looked at only where several kinds may have a label.

    Where another kind begins, and may be one of those that there are, a warning says so.

    Raises:
        TypeError, ValueError: As `labels_of`.
    """
    if source is None:
        return {}
    trials: Iterable[Trial] = first_and_latest(history)
    kinds = {kind: None for trial in trials for kind in trial.sources if kind != COMPUTER}
    labels = labels_of(history if len(kinds) > 1 and not isinstance(source, Mapping) else trials, source, argument)
    for kind in labels.keys() - kinds if kinds else ():
        meant, label = near(kind, kinds, ALIKE), labels[kind]
        if not isinstance(source, Mapping) and not any(kind in trial.sources for trial in history):
            why = (
                f"{label!r} is of none of the kinds {short_list([*kinds])}; write {{{next(iter(kinds))!r}: {label!r}}}"
            )
        elif meant is not None:
            why = f"did you mean {meant!r}?"
        else:
            continue
        warn(f"{argument} begins a kind of source, {kind!r}: {why}", SourceWarning)
    return labels


def labels_by_declaration(declared: Declared, history: History, source: Source | None) -> dict[str, str]:
    """The labels of what measures, as `labels_to_tell`; where sources are declared a mere label is one of these.

    Raises:
        TypeError, ValueError: As `labels_of`, or if there is no such source.
    """
    is_declared = bool(declared) and not isinstance(source, Mapping)
    labels = labels_to_record(source) if is_declared else labels_to_tell(history, source)
    check_source_name(declared, labels)
    return labels


def check_labels(history: History, source: Source | None, argument: str = "source") -> dict[str, str]:
    """The labels that a source has, which some trial must have too.

    Raises:
        TypeError, ValueError: If it is none, or no trial has them; the message has the nearest.
    """
    labels, levels = labels_of(history, source, argument), levels_in(history)
    for kind, label in labels.items():
        if not levels:
            raise ValueError(f"{argument} must be told first, got {label!r}")
        if isinstance(source, Mapping) and kind not in levels:
            rule = f"{argument} must be of a kind that was told, {short_list([*levels])}"
            raise ValueError(f"{rule}, got {kind!r}{nearest(kind, levels, cutoff=ALIKE)}")
        of_kind = levels.get(kind) or list(dict.fromkeys(label for of in levels.values() for label in of))
        if label not in levels.get(kind, ()):
            of = f" of the kind {kind!r}" if len(levels) > 1 and kind in levels else ""
            rule = f"{argument} must be one that was told{of}, {short_list(of_kind)}"
            raise ValueError(f"{rule}, got {label!r}{nearest(label, of_kind)}")
    return labels


def levels_in(trials: Iterable[Trial]) -> dict[str, list[str]]:
    """The labels of each kind of source, in the order in which they came."""
    levels: dict[str, dict[str, None]] = {}
    for trial in trials:
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
    first = None if since is None else _first_trial(history, since)
    event = {"event": KIND, "trial": len(history), "verdict": verdict, "source": labels, **content}
    event |= {} if first is None else {"since": first.number}
    verdict_of(event, first)  # which checks it
    return event | {"by": worker.name(), "at": worker.now()}


def _first_trial(history: History, since: TrialLike) -> Trial:
    """The trial since which a word holds."""
    return find_trial(history.trials, since.number if isinstance(since, Trial) else index(since, "since"), "since")


def trials_of(history: History, verdict: SourceVerdict) -> list[Trial]:
    """The trials that a word on a source speaks of."""
    return [trial for trial in history if trial.state in ("told", "excluded") and verdict.covers(trial)]
