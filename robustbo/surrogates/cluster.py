"""A committee's evidence on a Dask cluster: shards stay on the workers, hyperparameters go out, and sums come back."""

from collections.abc import Sequence
from typing import Any

import torch

from robustbo.numerics import committee
from robustbo.numerics.committee import Shared, Total
from robustbo.numerics.committee_search import CommitteeFit, CommitteeModel, search
from robustbo.numerics.shards import Shards

try:
    import distributed as dask
except ImportError:
    dask = None


def search_there(address: str, model: CommitteeModel) -> CommitteeFit:
    """`committee_search.search` with the evidence done by a cluster."""
    with Cluster(address, model.shards, model.memory) as cluster:
        return search(model._replace(evidence=cluster.evidence))


class Cluster:
    """The shards of a committee, held by the workers of a Dask cluster.

    A shard, and the modes found in it, are tasks of their own: where a worker dies, the scheduler does those tasks
    again elsewhere, and the sums are the same, since they are taken in the same order.

    Args:
        address: Of the scheduler.
        shards: The observations.
        memory: Bytes that a chunk of experts may take, about.

    Raises:
        ImportError: If Dask is not installed.
    """

    def __init__(self, address: str, shards: Shards, memory: float) -> None:
        if dask is None:
            raise ImportError("cluster needs Dask, which is not installed: pip install 'robustbo[dask]'")
        self._client = dask.Client(address, set_as_default=False)
        self._shards = [self._submit(_keep, shards.part(rows)) for rows in shards.chunks(memory)]

    def evidence(self, shared: Shared, modes: Sequence[Any] | None = None) -> Total:
        """As `committee.evidence`; the modes, in and out, are handles of what the workers hold."""
        before = modes or [None] * len(self._shards)
        found = [self._submit(_evidence, *pair, shared) for pair in zip(self._shards, before, strict=True)]
        sums = [self._submit(_without_modes, total) for total in found]
        while len(sums) > 1:  # a tree
            pairs = [self._submit(_add, *sums[i : i + 2]) for i in range(0, len(sums) - 1, 2)]
            sums = pairs + sums[2 * len(pairs) :]
        handles: Any = [self._submit(_modes, total) for total in found]
        return Total(*[*sums[0].result(), handles])

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def _submit(self, task: Any, *arguments: Any) -> Any:
        return self._client.submit(task, *arguments, pure=False)


def _keep(shards: Shards) -> Shards:
    return shards


def _evidence(shards: Shards, f: Any, shared: Shared) -> Total:
    torch.set_num_threads(1)
    return committee.evidence(shards, shared, f)


def _without_modes(total: Total) -> tuple[Any, ...]:
    return tuple(total[:-1])


def _modes(total: Total) -> Any:
    return total.f


def _add(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))
