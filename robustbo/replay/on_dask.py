"""Many cells on a Dask cluster whose workers see the same folder.

A cell is a task: where its worker dies the scheduler gives it to another, which goes on from the record. Where the
client dies, the same command goes on; a worker that still has a cell keeps it, and the new one waits for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from robustbo.errors import SpecError
from robustbo.replay.engine import AnyCell
from robustbo.replay.work import KILLED, Failure, Progress, work

try:
    import distributed as dask
except ImportError:
    dask = None

TOPIC = "robustbo-trials"


def run_cells(
    cells: Sequence[AnyCell], address: str, notify: Callable[[Progress], None], *, fail_fast: bool = False
) -> list[Failure]:
    """As `pool.run_cells`, on the workers of a scheduler.

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
    failures = []
    with client:
        client.subscribe_topic(TOPIC, lambda event: notify(Progress(*event[1])))
        here = [replace(cell, folder=cell.folder.absolute()) for cell in cells]
        futures = {client.submit(_work, cell, pure=False, priority=-i): cell for i, cell in enumerate(here)}
        for future in dask.as_completed(futures, loop=client.loop):
            failure = _outcome(future, futures[future])
            failures += [] if failure is None else [failure]
            future.release()
            if failure is not None and fail_fast:
                client.cancel(list(futures))
                break
        client.unsubscribe_topic(TOPIC)
    return failures


def _outcome(future: "dask.Future", cell: AnyCell) -> Failure | None:
    try:
        return future.result()
    except dask.scheduler.KilledWorker:
        return Failure(cell.method, cell.replication, KILLED)


def _work(cell: AnyCell) -> Failure | None:
    torch.set_num_threads(1)
    worker = dask.get_worker()
    return work(cell, lambda progress: worker.log_event(TOPIC, tuple(progress)))
