"""A journal that is looked at while others write to it: in the terminal, or as a page that a browser shows.

The last fits are kept from one look to the next, so that a look after one more trial takes one fit more.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from robustbo.cli import terminal
from robustbo.cli.bounded import BoundedServer
from robustbo.loop.surrogate.cache import FitCache
from robustbo.report.page import journal_page
from robustbo.report.summary.overview import overview
from robustbo.trials.codec import open_journal
from robustbo.trials.storage.places import is_address
from robustbo.view.view import View

EVERY_S = 1.0  # between two looks at whether a journal has changed
CLEAR = "\x1b[2J\x1b[H"
VERSION = "version"


def version(journal: str) -> str:
    """A word that is another one after the journal has changed."""
    if is_address(journal):
        return str(len(repr(open_journal(journal)[1])))
    status = Path(journal).stat()
    return f"{status.st_size}-{status.st_mtime_ns}"


def watch(journal: str, draw: Callable[[dict[str, Any]], None], *, is_terminal: bool) -> None:
    """Draw a journal, and again whenever it has changed, until an interrupt, which ends it.

    Args:
        journal: Its place.
        draw: Prints an overview of it.
        is_terminal: Whether the screen is to be cleared before.
    """
    fits, last = FitCache(), ""
    try:
        while True:
            if (now := version(journal)) != last:
                last, summary = now, overview(View(*open_journal(journal), fits))
                if is_terminal:
                    terminal.clear(CLEAR)
                draw(summary)
            time.sleep(EVERY_S)
    except KeyboardInterrupt:
        return


class Server(BoundedServer):
    """Serves a journal's page to this machine alone."""

    def __init__(self, journal: str, name: str, port: int = 0) -> None:
        self._journal, self._name, self._fits, self._lock = journal, name, FitCache(), Lock()
        self._made: tuple[str, str] = ("", "")
        super().__init__({"": (self.page, "text/html"), VERSION: (self.version, "text/plain")}, port)

    def version(self) -> str:
        """The version of the journal as it is now."""
        return version(self._journal)

    def page(self) -> str:
        """The page, made anew where the journal has changed."""
        with self._lock:
            now = self.version()
            if self._made[0] != now:
                self._made = now, self._draw(now)
            return self._made[1]

    def _draw(self, now: str) -> str:
        view = View(*open_journal(self._journal), self._fits)
        return journal_page.page(self._name, view, version=now, place=self._name, made_at=datetime.now(UTC))
