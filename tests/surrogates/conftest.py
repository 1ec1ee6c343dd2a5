"""Double precision, which the surrogates ask for; a real scheduler and two workers."""

import distributed
import pytest


@pytest.fixture(autouse=True, scope="module")
def precise(double_precision):
    """For all tests here."""


@pytest.fixture(scope="module")
def workers():
    """The address of a scheduler whose workers are threads: each process of its own would import torch anew."""
    with cluster(processes=False) as local:
        yield local.scheduler_address


@pytest.fixture(scope="module")
def worker_processes():
    """The address of a scheduler whose workers are processes."""
    with cluster(processes=True) as local:
        yield local.scheduler_address


def cluster(processes):
    return distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=processes, protocol="tcp", dashboard_address=None
    )
