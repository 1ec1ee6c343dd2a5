"""A journal that one process writes: for records of which nobody else adds to; a study's is shared, see `store`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robustbo.errors import JournalError, JournalExists
from robustbo.trials.storage.journal_file import JournalFile
from robustbo.trials.storage.log import Mark
from robustbo.trials.storage.reading import Contents


class Journal:
    """A journal with one writer, who is told if there is another; make one with `create` or `resume`."""

    def __init__(self, log: JournalFile, mark: Mark) -> None:
        self._log, self._mark = log, mark

    @property
    def path(self) -> Path:
        """The file."""
        return self._log.path

    @classmethod
    def create(cls, path: str | os.PathLike[str], header: Mapping[str, Any]) -> "Journal":
        """Begin a journal.

        Raises:
            JournalError: If the file exists.
        """
        try:
            return cls(*JournalFile.create(path, header))
        except FileExistsError:
            raise JournalExists(f"{path}: exists; resume it, or name a new file") from None

    @classmethod
    def resume(cls, path: str | os.PathLike[str]) -> tuple["Journal", Contents]:
        """Open a journal to append to it; see `JournalFile.resume`."""
        log, contents = JournalFile.resume(path)
        return cls(log, contents.mark), contents

    def append(self, event: Mapping[str, Any]) -> None:
        """Write one event; it is on the disk when this returns.

        Raises:
            JournalError: If somebody else has written to the file since it was opened.
        """
        with self._log.turn() as turn:
            unread, mark = turn.behind(self._mark)
            if unread:
                raise JournalError(
                    f"{self.path}: must end where this process left it, but another process writes to it; resume it "
                    "again, and use one process for it"
                )
            self._mark = turn.append([event], mark)
