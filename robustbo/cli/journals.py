"""The journal of a command: a study that goes on, or a view of what is there.

Heavy imports happen inside the functions, so that ``--help`` answers at once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from robustbo.cli import terminal
from robustbo.cli.arguments import mendable

if TYPE_CHECKING:
    from robustbo.optimizer import Optimizer
    from robustbo.view.view import View


@contextmanager
def study_of(journal: str) -> Iterator["Optimizer"]:
    """The study of a journal, which goes on; what is wrong with an argument inside becomes an error in a line."""
    from robustbo.optimizer import Optimizer

    with mendable():
        yield Optimizer.resume(journal)


def view_of(journal: str) -> "View":
    """The view of a journal as it is now."""
    from robustbo.trials.codec import open_journal
    from robustbo.view.view import View

    return View(*open_journal(journal))


def say_ahead(journal: str, view: "View") -> None:
    """Say before a long fit how long it takes, and print what needs no fit."""
    from robustbo.report.summary.progress import ahead
    from robustbo.trials.storage.places import display_name

    for line in ahead(display_name(journal), view):
        terminal.log(line)
