"""Progress bars of a run, one a method, for people who watch."""

import sys

import rich.progress
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from robustbo.replay.execute.work import Progress
from robustbo.replay.spec.reading import AnySpec


class Bars:
    """A progress bar a method, with the incumbent and the time left; silent when stderr is not a terminal."""

    def __init__(self, spec: AnySpec, counts: dict[tuple[str, int], int]) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bars = rich.progress.Progress(
            *columns, TextColumn("{task.fields[value]}"), console=console, disable=not sys.stderr.isatty()
        )
        self._values: dict[str, dict[int, float]] = {name: {} for name in spec.methods}
        self._tasks = {
            name: self._bars.add_task(
                name,
                total=spec.trials * spec.replications,
                completed=sum(counts[name, r] for r in range(spec.replications)),
                value="",
            )
            for name in spec.methods
        }

    def __enter__(self) -> "Bars":
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def notify(self, progress: Progress) -> None:
        """Move a bar by one trial, and show the mean true value at the recommended points."""
        if progress.value is not None:
            self._values[progress.method][progress.replication] = progress.value
        values = self._values[progress.method].values()
        shown = f"incumbent {sum(values) / len(values):.4g}" if values else ""
        self._bars.update(self._tasks[progress.method], advance=1, value=shown)
