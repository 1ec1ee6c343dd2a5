"""A committee on a Dask cluster: shards stay on the workers, hyperparameters go out, and sums come back."""

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from torch import Tensor

from robustbo.determinism.threads import on_one_thread
from robustbo.numerics.committee import evidence as committee
from robustbo.numerics.committee.aggregation import Experts
from robustbo.numerics.committee.evidence import SharedHyperparameters, Total
from robustbo.numerics.committee.map_fit import CommitteeModel, search
from robustbo.numerics.committee.partition import Shards
from robustbo.numerics.gp.ascent import Ascent

FRESH = 16  # evaluations after which modes pass through here: their history need not be done again, nor remembered
CHUNKS = 2  # chunks of experts that are one task: fewer cost the scheduler more than the work, more leave workers idle


def search_on_cluster(address: str, model: CommitteeModel) -> Ascent:
    """Run `map_fit.search` with the evidence computed by a cluster."""
    with CommitteeCluster(address, parts_of(model.shards, model.memory), model.memory) as cluster:
        return search(model._replace(evidence=cluster.evidence))


def parts_of(shards: Shards, memory: float) -> list[Callable[[], Shards]]:
    """Return local shards as tasks for a cluster."""
    return [partial(_as_it_is, _copy_of(shards.part(rows))) for rows in shards.chunks(CHUNKS * memory)]


def _copy_of(part: Shards) -> Shards:
    """Copy shards: a view would be sent with the whole tensor that it is a view of."""
    return Shards(part.X.clone(), part.y.clone(), part.mask.clone(), None if part.s2 is None else part.s2.clone())


class CommitteeCluster:
    """The shards of a committee, held by the workers of a Dask cluster.

    Some shards, and the modes found in them, are tasks of their own: where a worker dies, the scheduler does those
    tasks again elsewhere, and the sums are the same, since they are taken in the same order.

    Args:
        address: Of the scheduler.
        parts: Each gives some shards, to the worker that is to hold them.
        memory: Bytes that a chunk of experts may take, about.

    Raises:
        ImportError: If Dask is not installed.
        OSError: If no scheduler answers there.
    """

    def __init__(self, address: str, parts: Sequence[Callable[[], Shards]], memory: float) -> None:
        try:
            dask = importlib.import_module("distributed")  # here, since it takes long and few need it
        except ImportError as error:
            raise ImportError("cluster needs Dask, which is not installed: pip install 'robustbo[dask]'") from error
        self._client, self._memory = dask.Client(address, set_as_default=False), memory
        self._shards = [self._submit(part) for part in parts]
        self._experts: list[Any] = []
        self._count = 0

    def evidence(self, shared: SharedHyperparameters, before: Sequence[Any] | None = None) -> Total:
        """Compute `evidence.evidence` on the workers; the modes that it takes and returns are handles of theirs."""
        self._count += 1
        if before and self._count % FRESH == 0:
            before = self._client.gather([self._submit(_modes, total) for total in before])
        pairs = zip(self._shards, before or [None] * len(self._shards), strict=True)
        totals = [self._submit(_evidence, *pair, shared, self._memory) for pair in pairs]
        sums = [self._submit(_sums, total) for total in totals] if len(totals) == 1 else totals
        while len(sums) > 1:  # a tree
            twos = [self._submit(_add, *sums[i : i + 2]) for i in range(0, len(sums) - 1, 2)]
            sums = twos + sums[2 * len(twos) :]
        return Total(*[*sums[0].result(), totals])

    def condition(self, shared: SharedHyperparameters) -> None:
        """Find the experts, which the workers keep for `map_parts`."""
        self._experts = [
            self._submit(committee.build_experts, part, shared, None, self._memory) for part in self._shards
        ]
        for part in self._experts:
            if (error := part.exception()) is not None:
                raise error

    def map_parts(self, tasks: Sequence[Callable[[Shards, Experts], Any]]) -> list[Any]:
        """Run tasks, one a part from the first on, on the workers' shards and experts; return the results."""
        triples = zip(tasks, self._shards, self._experts, strict=False)
        return list(self._client.gather([self._submit(*triple) for triple in triples]))

    def close(self) -> None:
        """Let go of the workers."""
        self._client.close()

    def __enter__(self) -> "CommitteeCluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _submit(self, task: Any, *arguments: Any) -> Any:
        return self._client.submit(_run, task, *arguments, pure=False)


@on_one_thread
def _run(task: Any, *arguments: Any) -> Any:
    return task(*arguments)


def _as_it_is(shards: Shards) -> Shards:
    return shards


def _evidence(shards: Shards, before: Total | Tensor | None, shared: SharedHyperparameters, memory: float) -> Total:
    return committee.evidence(shards, shared, before.f if isinstance(before, Total) else before, memory)


def _modes(total: Total) -> Tensor:
    return total.f


def _sums(total: Total) -> tuple[Any, ...]:
    return total[:-1] if isinstance(total, Total) else total


def _add(left: Any, right: Any) -> tuple[Any, ...]:
    return tuple(a + b for a, b in zip(_sums(left), _sums(right), strict=True))
