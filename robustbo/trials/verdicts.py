"""Words of people on a source of measurements: all its values are excluded, corrected, or neither, from a trial on.

They stand: a value that the source gives later is judged by the last word that speaks of it. Each is taken back by
another, after which the values are as they were told, to the bit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, TypeVar, get_args

from robustbo.censored import CensoredValue, value_at_limit
from robustbo.trials.sources import has_labels, source_text
from robustbo.trials.storage.line import Event
from robustbo.trials.trial import Measured, Trial

Verdict = Literal["exclude", "include", "correct"]
VERDICTS: tuple[str, ...] = get_args(Verdict)
KIND = "verdict"  # of the events that these are
RAW = "raw"  # of an amendment: its value is as the source showed it; those of old journals are final
WORDS = {"exclude": "excluded", "correct": "corrected", "include": "believed again"}

Value = TypeVar("Value", Trial, Measured)


@dataclass(frozen=True)
class SourceVerdict:
    """A word on a source.

    Attributes:
        kind: "exclude" its values, "correct" them, or "include" them as they were told.
        source: The label of each kind that they must have; empty for all values.
        since: The trial from whose telling on; None from the beginning.
        order: The place of that trial in the order of telling.
        time: When it was measured, or else told.
        is_timed: Whether it was told when it was measured.
        error: How much too high its values read, which a correction takes off.
        outcome: Which of several outcomes; all where it is None.
        reason: Why, for people.
    """

    kind: Verdict
    source: Mapping[str, str]
    since: int | None = None
    order: int = 0
    error: float = 0.0
    outcome: str | None = None
    reason: str | None = None
    time: datetime | None = field(default=None, compare=False)
    is_timed: bool = False

    @property
    def text(self) -> str:
        """The word as a sentence.

        Example:
            >>> SourceVerdict("correct", {"reactor": "R3"}, since=41, error=4.8).text
            'reactor R3 is corrected by -4.8 since trial 41'
        """
        error = f" by {-self.error:+.6g}" if self.kind == "correct" else ""
        since = "" if self.since is None else f" since trial {self.since}"
        of = f"{self.outcome} of " if self.outcome else ""
        return f"{of}{source_text(self.source) or 'everything'} is {WORDS[self.kind]}{error}{since}"

    def covers(self, trial: Trial) -> bool:
        """Return whether a trial that has ended is one that it speaks of."""
        return self._is_before(trial) and (not self.source or has_labels(trial.sources, self.source))

    def replaces(self, earlier: "SourceVerdict") -> bool:
        """Return whether nothing is left of an earlier word."""
        is_wider = self.outcome in (None, earlier.outcome) and self.source.items() <= earlier.source.items()
        if self.since is None or not is_wider:
            return is_wider
        return earlier.since is not None and earlier.order >= self.order and earlier.is_timed == self.is_timed

    def overlaps(self, other: "SourceVerdict") -> bool:
        """Return whether another may speak of the same values."""
        is_same_source = all(other.source.get(kind, label) == label for kind, label in self.source.items())
        return is_same_source and (None in (self.outcome, other.outcome) or self.outcome == other.outcome)

    def _is_before(self, trial: Trial) -> bool:
        """Return whether it holds for what was measured when a trial was, where that was told, or told when it was."""
        if trial.order is None:
            return False
        is_timed = self.is_timed or trial.measured_at is not None
        if self.time is None or trial.time is None or not is_timed:
            return trial.order >= self.order
        return (trial.time, trial.order) >= (self.time, self.order)


def verdict_of(event: Event, since: Trial | None) -> SourceVerdict:
    """The word that an event is.

    Args:
        event: It.
        since: The trial from which it holds.

    Raises:
        ValueError: If that trial has not ended, or nothing says which values are meant.
    """
    if since is not None and since.order is None:
        raise ValueError(f"since must be a trial that was told, trial {since.number} is {since.state}")
    if since is None and not event["source"]:
        raise ValueError("a verdict must name a source, or the trial since which it holds, got neither")
    order = 0 if since is None or since.order is None else since.order
    number = None if since is None else since.number
    rest = {key: event[key] for key in ("error", "outcome", "reason") if key in event}
    if since is not None:
        rest |= {"time": since.time, "is_timed": since.measured_at is not None}
    return SourceVerdict(event["verdict"], dict(event["source"]), number, order, **rest)


def standing(verdicts: Sequence[SourceVerdict]) -> list[SourceVerdict]:
    """The words that hold: of each values the last, without an "include" that takes no word back.

    Example:
        >>> words = [SourceVerdict("exclude", {"reactor": "R3"}, since=41, order=41), SourceVerdict("include", {})]
        >>> standing(words[:1]) == words[:1], standing([*words, SourceVerdict("include", {"reactor": "R3"})])
        (True, [])
    """
    words: list[SourceVerdict] = []
    for verdict in verdicts:
        words = [earlier for earlier in words if not verdict.replaces(earlier)]
        if verdict.kind != "include" or any(earlier.overlaps(verdict) for earlier in words):
            words.append(verdict)
    return words


def judge(trial: Trial, verdicts: Sequence[SourceVerdict]) -> Trial:
    """A trial by the last word that speaks of it, and of each outcome of it."""
    for verdict in verdicts:
        if verdict.covers(trial):
            trial = _judge(trial, verdict)
    return trial


def judge_event(trial: Trial, event: Event, verdicts: Sequence[SourceVerdict]) -> Trial:
    """A trial that was told or amended by an event, by the words on its source that stand."""
    if event["event"] == "tell":
        return judge(trial, verdicts)
    if "source" in event:  # of an amendment: the words on the former one hold no more
        return judge(_judge(trial, SourceVerdict("include", {})), verdicts)
    return _correct(trial, verdicts) if event.get(RAW) else trial


def _correct(trial: Trial, verdicts: Sequence[SourceVerdict]) -> Trial:
    """A trial with its values by the last word on them; whether it is excluded is left as it is."""
    for verdict in verdicts:
        if verdict.covers(trial):
            names = [name for name in trial.outcomes if verdict.outcome in (None, name)]
            outcomes = {name: _with_value(trial.outcomes[name], verdict) for name in names}
            trial = replace(_with_value(trial, verdict), outcomes=trial.outcomes | outcomes)
    return trial


def _judge(trial: Trial, verdict: SourceVerdict) -> Trial:
    if trial.state not in ("told", "excluded"):
        return trial
    outcomes = trial.outcomes
    if outcomes and (verdict.kind != "exclude" or verdict.outcome is not None):
        names = outcomes if verdict.outcome is None else {verdict.outcome} & {*outcomes}
        judged = {name: _judge_outcome(outcomes[name], verdict) for name in names}
        trial = replace(trial, outcomes=outcomes | judged)
    elif not outcomes:
        trial = _with_value(trial, verdict)
    if verdict.outcome is None:
        trial = _with_state(trial, verdict)
    return trial


def _with_state(trial: Trial, verdict: SourceVerdict) -> Trial:
    """A trial that is excluded as a whole, or no more; one that people have excluded by itself stays so."""
    if verdict.kind == "exclude" and trial.state == "told":
        note = verdict.reason or verdict.text
        return replace(trial, state="excluded", is_vouched=False, is_source_excluded=True, note=note)
    if verdict.kind != "exclude" and trial.is_source_excluded:
        return replace(trial, state="told", is_source_excluded=False, note=None)
    return trial


def _judge_outcome(outcome: Measured, verdict: SourceVerdict) -> Measured:
    if outcome.value is None:
        return outcome
    if verdict.kind == "exclude" and not outcome.is_excluded:
        note = verdict.reason or verdict.text
        return replace(outcome, is_excluded=True, is_vouched=False, is_source_excluded=True, note=note)
    if verdict.kind != "exclude" and outcome.is_source_excluded:
        outcome = replace(outcome, is_excluded=False, is_source_excluded=False, note=None)
    return _with_value(outcome, verdict)


def _with_value(measured: Value, verdict: SourceVerdict) -> Value:
    """A value that is corrected, or as it was told; one that is only excluded stays as it is."""
    if verdict.kind == "exclude" or measured.value is None:
        return measured
    value = measured.value if measured.as_told is None else measured.as_told
    changes: dict[str, Any] = {"value": value, "as_told": None}
    if verdict.kind == "correct":
        number = float(value) - verdict.error
        changes = {
            "value": value_at_limit(value.sign, number) if isinstance(value, CensoredValue) else number,
            "as_told": value,
        }
    return replace(measured, **changes)
