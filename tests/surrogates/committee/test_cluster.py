"""A real scheduler and two workers; in the slow tests each a process of its own."""

import os
import signal
import sys
import threading
import time
from functools import partial

import distributed
import pytest
import torch

from robustbo.numerics.committee import evidence
from robustbo.numerics.committee.evidence import SharedHyperparameters
from robustbo.numerics.committee.partition import random_parts, shard
from robustbo.surrogates.committee import cluster as on_cluster
from robustbo.surrogates.committee.cluster import CommitteeCluster
from robustbo.surrogates.committee.model import CommitteeGP
from robustbo.surrogates.common.contract import fit
from tests.surrogates.test_contract import data

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own, of ports and unclosed files


def shared(factor=1.0):
    l, *numbers = (torch.tensor(x) for x in ([0.6 * factor, 0.6], 1.3, 0.02, 4.0, 0.5))
    return SharedHyperparameters("matern52", l, *numbers)


def shards():
    X, Y = data(90, outliers=0.1)
    return shard(X, Y.squeeze(-1), random_parts(90, 6, torch.Generator().manual_seed(0)))


@pytest.mark.slow
def test_sums_are_those_of_one_machine(worker_processes):
    parts = [partial(shards().part, slice(start, start + 2)) for start in (0, 2, 4)]
    with CommitteeCluster(worker_processes, parts, 1.0) as cluster:
        there = cluster.evidence(shared())
        again = cluster.evidence(shared(1.1), there.f)
    here = evidence.evidence(shards(), shared())
    after = evidence.evidence(shards(), shared(1.1), here.f)
    for found, wanted in ((there, here), (again, after)):
        for one, other in zip(found[:-1], wanted[:-1], strict=True):
            torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def test_modes_that_pass_through_here_change_nothing(workers, monkeypatch):
    def path():
        with CommitteeCluster(
            workers, [partial(shards().part, slice(0, 3)), partial(shards().part, slice(3, 6))], 1.0
        ) as cluster:
            modes = None
            for factor in (1.0, 1.1, 1.2, 1.3):
                total = cluster.evidence(shared(factor), modes)
                modes = total.f
        return total

    straight = path()
    monkeypatch.setattr(on_cluster, "FRESH", 2)
    for one, other in zip(path()[:-1], straight[:-1], strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.slow
def test_a_fit_is_that_of_one_machine_and_a_killed_worker_does_not_change_it(worker_processes):
    X, Y = data(90, outliers=0.1)
    options = {"num_experts": 6, "memory_mib": 1}
    undisturbed = fit(CommitteeGP(X, Y, cluster=worker_processes, **options))
    here = fit(CommitteeGP(X, Y, **options))
    killed = threading.Thread(target=kill_one, args=(worker_processes,))
    killed.start()
    disturbed = fit(CommitteeGP(X, Y, cluster=worker_processes, **options))
    killed.join()
    for one, other in zip(undisturbed.state_dict().values(), disturbed.state_dict().values(), strict=True):
        torch.testing.assert_close(one, other)
    torch.testing.assert_close(undisturbed.posterior(X).mean, here.posterior(X).mean, rtol=1e-3, atol=1e-3)


def kill_one(address):
    """Kill a worker's process soon after now."""
    time.sleep(0.5)
    with distributed.Client(address, set_as_default=False) as client:
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def test_without_dask_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'robustbo\[dask\]'"):
        CommitteeCluster("tcp://nowhere:1", [shards], 1.0)
