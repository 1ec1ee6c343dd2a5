"""Display of how far a fit is: a stage after the other, on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class Stage:
    """A stage that is under way."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar, self._task = bar, task

    def advance(self, rows: int) -> None:
        """Show that so many more rows are done."""
        self._bar.advance(self._task, rows)


class FitProgress:
    """Stages of a fit: a bar while a stage lasts on a terminal, a line after it elsewhere.

    Args:
        is_shown: Whether anything is shown.
        console: The console that shows them, by default one on standard error.
    """

    def __init__(self, is_shown: bool, console: Console | None = None) -> None:
        self._is_shown = is_shown
        self._console = console or Console(stderr=True)

    @contextmanager
    def stage(self, title: str, rows: int | None = None) -> Iterator[Stage]:
        """Show a stage while it lasts, with its seconds.

        Args:
            title: What is done.
            rows: How many rows will be advanced, by which the remaining time is known; None where nobody counts.
        """
        shape = BarColumn(bar_width=20), TimeElapsedColumn()
        columns = TextColumn("{task.description}"), *shape, *([] if rows is None else [TimeRemainingColumn()])
        with Progress(*columns, console=self._console, disable=not self._is_shown) as bar:
            task = bar.add_task(title, total=rows)
            yield Stage(bar, task)
            bar.update(task, total=rows or 1, completed=rows or 1)
