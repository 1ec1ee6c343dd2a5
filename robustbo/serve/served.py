"""An optimizer of several people at once: a word is recorded only where nothing has changed since somebody looked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from robustbo.errors import RobustBOError, SheetError
from robustbo.optimizer import Optimizer
from robustbo.sheets.changes import Changes, RowRules, changes
from robustbo.sheets.filled import FilledRow
from robustbo.sheets.sheet import read_sheet
from robustbo.study.possible import check_possible, value_check, with_exclusions
from robustbo.trials.history import History, Trial
from robustbo.trials.storage.line import Event
from robustbo.trials.store import State

MEND = "look at it again; where it was measured so, write the reason in the place of the value"
LETTERS = 12  # of a stamp
TELLING = frozenset({"tell", "fail"})  # events with labels of who typed them
EMPTY: Mapping[str, str] = MappingProxyType({})


class TrialStamp(NamedTuple):
    """The trial that somebody looks at, as it was then."""

    number: int
    stamp: str


class ChangedMeanwhile(RobustBOError):
    """A trial is not any more as somebody saw it: nothing was recorded.

    Attributes:
        trial: As it is now.
    """

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        super().__init__(f"trial {trial.number} has been changed meanwhile, and nothing was recorded: look at it again")


def stamp(trial: Trial) -> str:
    """A word that is another one after somebody has told, judged or amended a trial; "open" until then.

    Example:
        >>> stamp(Trial(3, {"x": 0.5}))
        'open'
    """
    if trial.is_open:
        return "open"
    outcomes = [(name, vars(measured)) for name, measured in sorted(trial.outcomes.items())]
    parts = trial.state, trial.value, trial.sd, trial.n, trial.is_vouched, trial.note, trial.reason, outcomes
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:LETTERS]


_requirement: ContextVar[TrialStamp | None] = ContextVar("requirement", default=None)


class Served(Optimizer):
    """An optimizer that several people use at once, who each see the study as it was a while ago."""

    @contextmanager
    def require(self, requirement: TrialStamp | None) -> Iterator[None]:
        """Within it nothing is recorded if a trial is not as it was seen; None: whatever it is.

        The trial is looked at in the same turn in which the journal is written, so no other process comes between.

        Raises:
            ChangedMeanwhile: From the call that would have recorded something.
        """
        token = _requirement.set(requirement)
        try:
            yield
        finally:
            _requirement.reset(token)

    def _commit(self, decide: Callable[[State], Sequence[Event]]) -> list[Trial]:
        requirement = _requirement.get()

        def decide_unless_changed(state: State) -> Sequence[Event]:
            if requirement is not None and stamp(state.history[requirement.number]) != requirement.stamp:
                raise ChangedMeanwhile(state.history[requirement.number])
            return decide(state)

        return super()._commit(decide_unless_changed)

    def record_row(self, row: FilledRow) -> Trial | None:
        """Record what somebody has typed for a trial, as a row of a sheet; None where that is known already.

        Raises:
            ValueError: If it cannot be recorded, or outcomes are missing; the message says which.
        """
        settings = self.settings
        possible = value_check(settings, "raise", MEND), check_possible(settings, MEND)
        rules = RowRules(settings.space, ".", self._value_content, *possible, amends=False, declared=settings.sources)

        def events_of(state: State) -> list[Event]:
            result = changes(state.history, [row], rules)
            if wrong := [*result.errors, *result.waiting]:
                raise ValueError(wrong[0].removeprefix(f"{row.label}: "))
            return with_exclusions(settings, state.history, result.events)

        trials = self._commit(events_of)
        return trials[-1] if trials else None

    def read_changes(self, name: str, data: bytes, amends: bool) -> Callable[[History], Changes]:
        """Return what gives the difference between an uploaded sheet and a history; nothing is recorded.

        Raises:
            SheetError: If it cannot be read, or is no sheet of this study.
        """
        sheet = read_sheet(Path(name), data, self.settings)
        return self._reader_of(sheet, amends, "raise", is_written=False)

    def record_sheet(
        self,
        name: str,
        data: bytes,
        amends: bool,
        is_as_shown: Callable[[Sequence[Event]], bool],
        labels: Mapping[str, str] = EMPTY,
    ) -> list[Trial]:
        """Record an uploaded sheet, all of it or nothing.

        Args:
            name: The file's, whose suffix says what it is.
            data: Its contents.
            amends: Whether values that have changed are corrected.
            is_as_shown: Says whether its events are those that somebody has seen.
            labels: Of the values that it tells, where the sheet has no others.

        Raises:
            SheetError: If a row breaks a rule, or others have recorded something meanwhile.
        """
        read, settings = self.read_changes(name, data, amends), self.settings

        def events_of(state: State) -> list[Event]:
            result = read(state.history)
            if result.errors:
                raise SheetError("; ".join(result.errors))
            if not is_as_shown(result.events):
                raise SheetError("others have recorded something meanwhile, and nothing was recorded; upload it again")
            return with_exclusions(settings, state.history, [_with_labels(event, labels) for event in result.events])

        return self._commit(events_of)


def _with_labels(event: Event, labels: Mapping[str, str]) -> Event:
    """An event that tells a value, with more labels; any other as it is."""
    own = {**labels, **event.get("labels", {})}
    return {**event, "labels": own} if event["event"] in TELLING and own else event
