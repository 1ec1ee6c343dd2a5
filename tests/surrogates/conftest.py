"""Double precision, which the surrogates ask for; a real scheduler and two workers, each a process of its own."""

import distributed
import pytest


@pytest.fixture(autouse=True, scope="module")
def precise(double_precision):
    """For all tests here."""


@pytest.fixture(scope="module")
def workers():
    """The scheduler's address."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local:
        yield local.scheduler_address
