"""Many cells on a Dask cluster whose workers see the same folder.

A cell is a task: where its worker dies the scheduler gives it to another, which goes on from the record. Where the
client dies, the same command goes on; a worker that still has a cell keeps it, and the new one waits for it. A worker
runs one cell at a time, whatever its threads: random generators and the number of threads belong to the process.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from robustbo.errors import SpecError
from robustbo.replay.cells.cell import Cell
from robustbo.replay.execute.waiting import Waiting
from robustbo.replay.execute.work import KILLED, CellFailure, Progress, work

try:
    import distributed as dask
except ImportError:
    dask = None

TOPIC = "robustbo-trials"
POLL_S = 1.0  # workers may join at any time
ONE_AT_A_TIME = threading.Lock()


def run_cells(
    cells: Sequence[Cell], address: str, notify: Callable[[Progress], None], *, fail_fast: bool = False
) -> list[CellFailure]:
    """Run cells as `pool.run_cells` does, on the workers of a scheduler.

    Args:
        cells: Which ones; their folder must be the same place for all workers.
        address: Of the scheduler.
        notify: Called in this process after each trial.
        fail_fast: Whether the first failure stops all others.

    Raises:
        SpecError: If Dask is not installed, or no scheduler answers.
    """
    if dask is None:
        raise SpecError("--cluster needs Dask, which is not installed: pip install 'robustbo[dask]'")
    try:
        client = dask.Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SpecError(f"--cluster: no Dask scheduler answers at {address}: {error}") from None
    failures: list[CellFailure] = []
    waiting = Waiting(replace(cell, folder=cell.folder.absolute()) for cell in cells)
    running: dict[dask.Future, Cell] = {}
    with client, client.as_current():

        def hear(event: Any) -> None:
            progress = Progress(*event[1])
            waiting.note_start(progress)
            notify(progress)

        client.subscribe_topic(TOPIC, hear)
        while (waiting or running) and not (fail_fast and failures):
            places = len(client.nthreads()) + 1  # one waits: a cluster that adapts grows by what waits
            while waiting and len(running) < places:
                cell = waiting.take()
                running[client.submit(_work, cell, pure=False)] = cell
            for future in _wait_for_some(list(running)):
                cell = running.pop(future)
                if (failure := _outcome(future, cell)) is None:
                    waiting.note_end(cell)
                else:
                    failures.append(failure)
        client.cancel(list(running))
        client.unsubscribe_topic(TOPIC)
    return failures


def _wait_for_some(futures: "list[dask.Future]") -> "set[dask.Future]":
    try:
        return dask.wait(futures, timeout=POLL_S, return_when="FIRST_COMPLETED").done
    except TimeoutError:
        return set()


def _outcome(future: "dask.Future", cell: Cell) -> CellFailure | None:
    try:
        return future.result()
    except dask.scheduler.KilledWorker:
        return CellFailure(cell.method, cell.replication, KILLED)


def _work(cell: Cell) -> CellFailure | None:
    worker = dask.get_worker()
    with ONE_AT_A_TIME:
        torch.set_num_threads(1)
        return work(cell, lambda progress: worker.log_event(TOPIC, tuple(progress)))
