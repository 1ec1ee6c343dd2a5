"""Reports on the sources of measurements: which is in error, by how much, since when; each is a sentence too."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from robustbo.numerics.sources.errors import SourceError
from robustbo.trials.outcome import Outcome
from robustbo.trials.sources import DEFAULT_KIND, source_text
from robustbo.trials.tree import Trials
from robustbo.trials.trial import Trial
from robustbo.trials.verdicts import SourceVerdict

EVEN = 0.5  # probability above which a source is in doubt
PLAUSIBLE = 0.2  # likewise where its error may be the objective's shape: that is at least twice as probable then
BLOCK = "block"
UNNAMED = Outcome()
Status = Literal["fine", "in doubt", "not distinguishable", "block", "excluded", "corrected", "not judged"]
NOT_JUDGED: Status = "not judged"
SHOWN = 5  # sources that are not judged, of which there may be one a value
REGIONAL = "it measured one region only, where no error of it could be told from the objective: another should, too"
APART = "it measured one region only, where its error and the objective cannot be told apart: measure there by another"
ELSEWHERE = "what was measured since lies elsewhere, so that it may be the objective: measure an earlier point again"


@dataclass(frozen=True)
class SourceReport:
    """A report on one source, or on everything since a trial.

    Attributes:
        source: The kind of source, such as "reactor"; empty for everything since a trial.
        level: The member of that kind, such as "R3"; None for everything since a trial.
        kind: "offset" (always), "step" (since a trial), "drift" (growing since a trial), "broken" (each value has an
            error of its own) or "block" (an expected difference); "" if only people have judged it. error: By how much
            its values read too high, in their unit; for a drift the last error, for a broken source the standard
            deviation of its errors. sd: Standard deviation of ``error``. since: The trial with which the error begins,
            in the order of telling; None from the beginning. since_at: The time at which that trial was measured, or
            else told. evidence: Evidence for the error, in nats. probability: Probability that the source has an error.
        status: "fine", "in doubt" (more probable than not), "not distinguishable" (it measured one region only, so
            that an error of it and the objective's shape look the same), "block", what people have said of it
            ("excluded", "corrected"), or "not judged".
        trials: The trials concerned.
        outcome: Which of several outcomes; None where there is only one.
        quantity: What is measured, with its unit.
        why_not: Why it is not judged.
        also: The other outcomes in which it is in doubt.

    Example:
        >>> at = datetime(2026, 11, 24, 14, 10, tzinfo=UTC)
        >>> print(SourceReport("reactor", "R3", "step", 4.8, 0.6, 41, at, 12.0, 0.998, "in doubt", (41, 45)).text)
        reactor R3 reads 4.8 +- 0.6 too high since trial 41 (Tue 24 Nov 2026, 14:10 UTC), probability 0.998
    """

    source: str
    level: str | None
    kind: str
    error: float
    sd: float
    since: int | None
    since_at: datetime | None
    evidence: float
    probability: float
    status: Status
    trials: tuple[int, ...]
    outcome: str | None = None
    quantity: Outcome = field(default=Outcome(), repr=False)
    why_not: str = ""
    also: tuple[str, ...] = ()

    @property
    def is_doubtful(self) -> bool:
        """Return whether an error, somebody's fault, is more probable than not, or plausible and not told apart."""
        return self.status == "in doubt" or (self.status == "not distinguishable" and self.probability > PLAUSIBLE)

    @property
    def name(self) -> str:
        """The source in words: "reactor R3"."""
        return "everything" if self.level is None else source_text({self.source or DEFAULT_KIND: self.level})

    @property
    def text(self) -> str:
        """The report as a sentence."""
        of = f"{self.quantity.name or self.outcome}: " if self.outcome else ""
        if self.status in ("excluded", "corrected"):
            return f"{of}{self.name} is {self.status} by your word{self._since}"
        if self.status == NOT_JUDGED:
            return f"{of}{self.name} is not judged: {self.why_not}"
        chance = f", probability {probability_text(self.probability)}"
        if self.status == "not distinguishable" and not self.is_doubtful:
            return f"{of}{self.name}: nothing wrong is known, but {REGIONAL}"
        if not self.is_doubtful and self.kind != BLOCK:
            return f"{of}{self.name}: nothing wrong is known{chance}"
        is_apart = self.status != "not distinguishable"
        apart = "" if is_apart else f"; {APART if self.level is not None else ELSEWHERE}"
        also = f"; it errs in {' and '.join(self.also)}, too" if self.also else ""
        return f"{of}{self.name} {self._claim}{chance}{also}{apart}"

    @property
    def _claim(self) -> str:
        size = self.quantity.with_unit(f"{digits(abs(self.error), self.sd)} +- {self.sd:.1g}")
        direction = "high" if self.error >= 0 else "low"
        if self.kind == BLOCK:
            return f"reads {size} {direction}er than the others of its kind, as expected"
        if self.kind == "broken":
            return f"is broken{self._since}: each of its values has an error of its own, of sd {size}"
        if self.kind == "drift":
            return f"drifts{self._since}: it reads {size} too {direction} by now"
        return f"reads {size} too {direction}{self._since}"

    @property
    def _since(self) -> str:
        if self.since is None:
            return ""
        at = "" if self.since_at is None else f" ({self.since_at.astimezone(UTC):%a %d %b %Y, %H:%M} UTC)"
        return f" since trial {self.since}{at}"


def digits(error: float, sd: float) -> str:
    """An error to the place of the first digit of its standard deviation.

    Example:
        >>> digits(4.8312, 0.61), digits(1234.0, 300.0), digits(0.25, 0.0)
        ('4.8', '1200', '0.25')
    """
    if not (math.isfinite(sd) and sd > 0 and math.isfinite(error)):
        return f"{error:.3g}"
    place = -math.floor(math.log10(sd))
    return f"{round(error, place):.{max(place, 0)}f}"


def probability_text(probability: float) -> str:
    """A probability that is not rounded to 1."""
    return f"{min(probability, 0.9999):.4f}" if probability > 0.999 else f"{probability:.3g}"


def sentences(texts: Iterable[tuple[str, str]]) -> list[str]:
    """The texts of reports, each with its status; of those not judged the first, and how many there are more.

    Example:
        >>> sentences([("fine", "A is fine")] + [("not judged", f"B{i} is not judged") for i in range(9)])[4:]
        ['B3 is not judged', 'B4 is not judged', '4 more sources are not judged']
    """
    pairs = [*texts]
    unjudged = [text for status, text in pairs if status == NOT_JUDGED]
    left = len(unjudged) - SHOWN
    more = [f"{left} more source{'s are' if left > 1 else ' is'} not judged"] if left > 0 else []
    return [*(text for status, text in pairs if status != NOT_JUDGED), *unjudged[:SHOWN], *more]


def source_reports(
    errors: Sequence[SourceError],
    numbers: Sequence[int],
    trials: Trials,
    verdicts: Sequence[SourceVerdict] = (),
    outcome: str | None = None,
    quantity: Outcome = UNNAMED,
) -> list[SourceReport]:
    """Reports on the errors of sources, and on those that people have spoken of; the most probable error first.

    Args:
        errors: The model's.
        numbers: The trials of the rows that these speak of.
        trials: All trials.
        verdicts: The words of people on sources.
        outcome: Which of several outcomes.
        quantity: What is measured.
    """
    words = {tuple(word.source.items()): word for word in verdicts if word.outcome in (None, outcome)}
    reports = []
    for error in errors:
        key = () if error.level is None else ((error.source, error.level),)
        since = None if error.since is None else trials[numbers[error.since]]
        concerned = tuple(sorted(numbers[row] for row in error.rows))
        number, at = (None, None) if since is None else (since.number, since.time)
        size = (error.error, error.sd, number, at)
        status = _status(error, words.pop(key, None))
        evidence = (error.evidence, error.probability, status, concerned)
        reports.append(SourceReport(error.source, error.level, error.kind, *size, *evidence, outcome, quantity))
    reports.sort(key=lambda report: (not report.is_doubtful, -report.probability, -report.evidence))
    spoken = [_report_of_word(word, trials, outcome, quantity) for word in words.values() if word.kind != "include"]
    return [*reports, *spoken]


def _status(error: SourceError, word: SourceVerdict | None) -> Status:
    """The status of a source: a word of people's holds, unless an error is left after it."""
    is_block = error.kind == BLOCK
    is_doubtful = not is_block and error.probability > (EVEN if error.distinguishable else PLAUSIBLE)
    if word is not None and word.kind != "include" and not is_doubtful:
        return "excluded" if word.kind == "exclude" else "corrected"
    if is_block:
        return "block"
    if not is_doubtful:
        return "not distinguishable" if error.is_regional else "fine"
    return "in doubt" if error.distinguishable else "not distinguishable"


def _report_of_word(word: SourceVerdict, trials: Trials, outcome: str | None, quantity: Outcome) -> SourceReport:
    """A report on a source of which the model says nothing: its values are excluded, or corrected."""
    since: Trial | None = None if word.since is None else trials[word.since]
    concerned = tuple(trial.number for trial in trials if trial.state in ("told", "excluded") and word.covers(trial))
    kinds, labels = ", ".join(word.source), ", ".join(word.source.values()) or None
    status: Status = "excluded" if word.kind == "exclude" else "corrected"
    at = None if since is None else since.time
    size = (word.error if word.kind == "correct" else math.nan, math.nan, word.since, at)
    return SourceReport(kinds, labels, "", *size, math.nan, math.nan, status, concerned, outcome, quantity)
