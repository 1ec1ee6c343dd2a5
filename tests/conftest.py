"""Shared by all tests: where the fixtures are, one thread, which tests are slow, and why one may be skipped."""

import gc
import json
import os
import re
import signal
import sys
from collections import defaultdict
from pathlib import Path

# Before any library reads it: what tests call beneath the surrogates, as numerics, limits no threads by itself.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
import torch

from tests import skips

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background starts with none

# What the surrogates are compared with, by the names of their tests: others' models, which are slow.
PEERS = re.compile("botorch.?relevance.?pursuit|variational|huber", re.IGNORECASE)
FIXTURES = Path(__file__).parent / "fixtures"


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect tests without garbage collections, and keep later ones from going through what has come to stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before those are left out that are slow
def pytest_collection_modifyitems(items):
    """Mark tests of peers and of data; and as slow those of peers outside their own folder, and of many cases most."""
    cases = defaultdict(list)
    for item in items:
        if PEERS.search(item.nodeid):
            item.add_marker(pytest.mark.peer)
            if "baselines" not in item.path.parts:
                item.add_marker(pytest.mark.slow)
        if "real_data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.data)
        if few := item.get_closest_marker("few"):
            cases[item.path, item.parent.name, item.originalname, *few.args].append(item)
    for (*_, few), alike in cases.items():
        quick = {round(i * (len(alike) - 1) / max(few - 1, 1)) for i in range(few)}  # spread over all
        for i, item in enumerate(alike):
            if i not in quick:
                item.add_marker(pytest.mark.slow)


def pytest_terminal_summary(terminalreporter):
    """How long the tests took, added up over processes, and the peers' apart."""
    seconds = {True: 0.0, False: 0.0}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds["peer" in report.keywords] += report.duration
    terminalreporter.write_line(f"{seconds[False]:.0f} s of tests, and {seconds[True]:.0f} s of slow peers")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return skips.judged((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return skips.judged((yield))


@pytest.fixture(autouse=True, scope="session")
def nothing_of_the_users(tmp_path_factory, pytestconfig):
    """What is kept between runs is kept in folders of the tests'; what BoTorch compiles, in one for all processes.

    It compiles a kernel of qLogNEHVI, which takes 45 s of the processor: the slow tests have it, and the others what it
    does without one.
    """
    kernel = sys.modules.get("botorch.acquisition.multi_objective.logei")
    run = tmp_path_factory.getbasetemp()
    shared = run.parent if "PYTEST_XDIST_WORKER" in os.environ else run
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("TORCH_EXTENSIONS_DIR", str(shared / "compiled"))
        if kernel is not None and "not slow" in pytestconfig.option.markexpr:
            patch.setattr(kernel, "_load_attempted", True)
        yield


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """Blame the test that leaves torch changed, not all that come after it."""
    before = torch.get_default_dtype()
    yield
    assert torch.get_default_dtype() == before
    assert torch.overrides._len_torch_function_stack() == 0


@pytest.fixture(scope="module")
def double_precision():
    """The default for tensors whose dtype a test does not say; all other tests run with torch's own."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.fixture(params=["relevance_pursuit_fixed_01_rbf_1d", "relevance_pursuit_fixed_02_matern_2d"])
def fixed(request):
    """A reference case of relevance pursuit at fixed hyperparameters (see docs/equations.md)."""
    return json.loads((FIXTURES / f"{request.param}.json").read_text())
