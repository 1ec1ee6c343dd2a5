"""Processes killed at any moment: the record is that of an undisturbed run."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time

import distributed
import psutil
import pytest

from robustbo.replay.cells.cell import cells
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.execute import on_dask, pool
from robustbo.replay.score.optimization import rows
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.spec.reading import load

TOML = """problem = "hartmann6"
methods = ["sobol", "standard"]
trials = 9
num_initial = 5
replications = 3
[corruption]
kind = "uniform"
probability = 0.2
low = -3
high = 3
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory) -> RunSpec:
    path = tmp_path_factory.mktemp("spec") / "spec.toml"
    path.write_text(TOML)
    return load(path, [])


@pytest.fixture(scope="module")
def undisturbed(spec, tmp_path_factory):
    made = cells(OptimizationCell, spec, tmp_path_factory.mktemp("undisturbed"))
    assert pool.run_cells(made, 2, lambda _: None) == []
    return record(made)


def record(made):
    """All rows, but for seconds."""
    return rows(made).drop(columns=["fit_s", "acquisition_s"]).to_csv(float_format="%.17g")


@pytest.fixture
def workers():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local:
        yield local.scheduler_address


def while_killing(run, victim, times, seed=0):
    """Run in a thread; kill what `victim` finds, now and then, until it ends.

    At least one must have been killed while it ran, or nothing has been tested.
    """
    outcome, killed, moments = [], [], random.Random(seed)
    thread = threading.Thread(target=lambda: outcome.append(run()))
    thread.start()
    while thread.is_alive() and len(killed) < times:
        time.sleep(moments.uniform(0.1, 0.5))
        process = victim()
        if process is not None and process not in killed:
            os.kill(process, signal.SIGKILL)
            killed.append(process)
    thread.join()
    assert killed
    return outcome[0]


@pytest.mark.slow
def test_processes_of_the_pool(spec, tmp_path, undisturbed):
    def victim():
        children = [child.pid for child in multiprocessing.active_children() if "ForkServer" in type(child).__name__]
        return children[0] if children else None

    made = cells(OptimizationCell, spec, tmp_path)
    if while_killing(lambda: pool.run_cells(made, 2, lambda _: None), victim, 2):  # it may have been in one cell
        assert pool.run_cells(made, 2, lambda _: None) == []
    assert record(made) == undisturbed


@pytest.mark.slow
def test_the_process_that_they_are_forked_from(spec, tmp_path, undisturbed):
    def victim():
        children = psutil.Process().children()
        return next((child.pid for child in children if "forkserver" in " ".join(child.cmdline())), None)

    made = cells(OptimizationCell, spec, tmp_path)
    if while_killing(lambda: pool.run_cells(made, 2, lambda _: None), victim, 2):
        assert pool.run_cells(made, 2, lambda _: None) == []
    assert record(made) == undisturbed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_workers_of_a_cluster(spec, tmp_path, undisturbed, workers):
    from distributed import Client

    def victim():
        with Client(workers, set_as_default=False) as client:
            return next(iter(client.run(os.getpid).values()), None)

    made, heard = cells(OptimizationCell, spec, tmp_path), []
    if while_killing(lambda: on_dask.run_cells(made, workers, heard.append), victim, 2):
        assert on_dask.run_cells(made, workers, heard.append) == []
    assert record(made) == undisturbed
    assert all(cell.is_done for cell in made)
    assert heard


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_client_of_a_cluster(spec, tmp_path, undisturbed, workers):
    """What its workers still have, they keep; the new client's wait for them."""
    (tmp_path / "spec.toml").write_text(TOML)
    command = [sys.executable, "-m", "robustbo.cli", "replay", "spec.toml", "--cluster", workers, "--out", "out"]
    for begun in (1, 2):
        first = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("out/cells/*.truth.jsonl"))) < begun and time.monotonic() < deadline:
            time.sleep(0.02)
        first.kill()
        first.wait()
        assert not all(cell.is_done for cell in cells(OptimizationCell, spec, tmp_path / "out"))  # it was at work
    last = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert last.returncode == 0, last.stderr
    assert record(cells(OptimizationCell, spec, tmp_path / "out")) == undisturbed


@pytest.mark.slow
def test_the_client_of_the_pool_takes_its_processes_with_it(spec, tmp_path, undisturbed):
    (tmp_path / "spec.toml").write_text(TOML)
    command = [sys.executable, "-m", "robustbo.cli", "replay", "spec.toml", "--jobs", "2", "--out", "out"]
    first = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("out/cells/*.truth.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.05)
    children = psutil.Process(first.pid).children(recursive=True)
    assert len(children) >= 3  # the one that they are forked from, and two
    first.kill()
    first.wait()
    _, alive = psutil.wait_procs(children, timeout=30)
    assert not alive
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=True)
    assert record(cells(OptimizationCell, spec, tmp_path / "out")) == undisturbed
