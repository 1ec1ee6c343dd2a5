"""What an optimization was told and what has happened in it: in the journal before it is in the history."""

import warnings
from dataclasses import replace
from os import PathLike
from pathlib import Path

from robustbo.errors import JournalWarning
from robustbo.trials.codec import changed_versions, fold, header
from robustbo.trials.history import Event, History, Trial
from robustbo.trials.journal import Journal
from robustbo.trials.settings import Settings


class Ledger:
    """Settings, a history that grows by events, and the journal (None without one) that each event reaches first."""

    def __init__(self, settings: Settings, history: History, journal: Journal | None) -> None:
        self.settings = settings
        self.history = history
        self._journal = journal

    @classmethod
    def create(cls, settings: Settings, journal: str | PathLike[str] | None) -> "Ledger":
        """An empty one.

        Raises:
            JournalError: If the journal exists.
        """
        return cls(settings, History(), None if journal is None else Journal.create(Path(journal), header(settings)))

    @classmethod
    def resume(cls, journal: str | PathLike[str]) -> "Ledger":
        """That of a journal, to go on with.

        Raises:
            JournalError: If the journal cannot be read; the message has the line.
        """
        file, contents = Journal.resume(Path(journal))
        ledger = cls(*fold(file.path, contents), file)
        if changed := changed_versions(contents):
            warnings.warn(
                f"{journal}: begun with other libraries, so further points may differ in the last digits: {changed}",
                JournalWarning,
                stacklevel=3,
            )
        return ledger

    def record(self, event: Event) -> None:
        """Write an event down.

        Raises:
            ValueError: If the trial's state does not allow the event, which is not written then.
        """
        history = self.history.apply(event)
        if self._journal is not None:
            self._journal.append(event)
        self.history = history

    def trial(self, number: int) -> Trial:
        """A trial as it is now; the caller's to keep."""
        trial = self.history[number]
        return replace(trial, params=dict(trial.params))
