"""Recording of many cells: those that are not done are run, in as many processes as are allowed."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

import torch

from robustbo.replay.cells.cell import Cell
from robustbo.replay.execute.work import CellFailure, work

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def run_cell(cell: Cell) -> tuple[str, CellFailure | None]:
    """Run a cell to its end, on one thread: its record, and why it failed if it did."""
    torch.set_num_threads(1)
    return str(cell.record), work(cell, lambda progress: None)


def run_all(run: Callable[[Argument], Result], todo: Iterable[Argument], jobs: int) -> Iterator[Result]:
    """Results of a function, in the order of its arguments; of one process only this one is."""
    if jobs == 1:
        yield from map(run, todo)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield from pool.map(run, todo)


def record(todo: Iterable[Cell], jobs: int, run: Callable[..., tuple[str, CellFailure | None]] = run_cell) -> None:
    """Run cells, those of the first replication first if they are given so, and print why any failed."""
    for path, failure in run_all(run, todo, jobs):
        if failure is not None:
            print(f"{path}: {failure.reason}", flush=True)


def replications(text: str) -> range:
    """A range of replications (or of what else is repeated), written first:end."""
    first, _, end = text.partition(":")
    return range(int(first), int(end))
