"""Double precision, which the surrogates ask for; a real scheduler and two workers, each a process of its own."""

import distributed
import pytest
import torch


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    """The default for tensors whose dtype a test does not say; all other tests run with torch's own."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.fixture(scope="module")
def workers():
    """The scheduler's address."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local:
        yield local.scheduler_address
