"""Cells that wait for their turn: a longest-processing-time-first queue."""

import math
import time
from collections.abc import Iterable

from robustbo.replay.cells.cell import Cell
from robustbo.replay.execute.work import Progress


class Waiting:
    """Longest processing time first: next is a cell of the method whose cells have taken longest so far.

    A method of which no time is known goes before all others. So the last cell that runs, alone, is a short one.
    """

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._cells = list(cells)
        self._taken: dict[tuple[str, int], float] = {}
        self._begun = set[tuple[str, int]]()
        self._took: dict[str, list[float]] = {}

    def __len__(self) -> int:
        return len(self._cells)

    def note_start(self, progress: Progress) -> None:
        """Note that a cell has begun: it has made a trial."""
        self._begun.add((progress.method, progress.replication))

    def note_end(self, cell: Cell) -> None:
        """Keep how long a cell took since it was taken, unless nothing was heard of it: it was done before."""
        if (key := (cell.method, cell.replication)) in self._begun:
            self._took.setdefault(cell.method, []).append(time.perf_counter() - self._taken[key])

    def take(self) -> Cell:
        """Take the next cell, which waits no longer."""
        means = {method: sum(took) / len(took) for method, took in self._took.items()}
        next_cell = max(self._cells, key=lambda cell: means.get(cell.method, math.inf))
        self._cells.remove(next_cell)
        self._taken[next_cell.method, next_cell.replication] = time.perf_counter()
        return next_cell

    def again(self, cell: Cell) -> None:
        """Let a cell that was cut short wait again."""
        self._cells.append(cell)
