"""The mathematics is checked in double precision."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    """The default for tensors whose dtype a test does not say; all other tests run with torch's own."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)
