"""Shared by all tests: where the fixtures are, one thread, and why a test may be skipped."""

import json
import signal
from pathlib import Path

import pytest
import torch

from tests import skips

torch.set_num_threads(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background starts with none

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return skips.judged((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return skips.judged((yield))


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """Blame the test that leaves torch changed, not all that come after it."""
    before = torch.get_default_dtype()
    yield
    assert torch.get_default_dtype() == before
    assert torch.overrides._len_torch_function_stack() == 0


@pytest.fixture(params=["relevance_pursuit_fixed_01_rbf_1d", "relevance_pursuit_fixed_02_matern_2d"])
def fixed(request):
    """A reference case of relevance pursuit at fixed hyperparameters (see docs/equations.md)."""
    return json.loads((FIXTURES / f"{request.param}.json").read_text())
