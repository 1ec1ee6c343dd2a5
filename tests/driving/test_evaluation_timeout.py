"""A time limit for one evaluation: its process is ended, its trial has failed, and the loop's own time holds."""

import importlib
import sys
import time
from datetime import timedelta

import pytest

import robustbo as rb
from robustbo.driving.evaluators.cluster import Cluster
from robustbo.driving.plan import plan_of
from robustbo.trials.trial import Trial

SPACE = rb.Space(x=rb.Float(0.0, 1.0))
HANG_S = 600.0  # far longer than any of it may take
FUNCTIONS = f"""
import time


def hangs_above_a_half(params):
    if params["x"] > 0.5:
        time.sleep({HANG_S})
    return params["x"]


def hangs(params):
    time.sleep({HANG_S})
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    """A module that worker processes can import."""
    (tmp_path / "hanging_functions.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    yield importlib.import_module("hanging_functions")
    del sys.modules["hanging_functions"]


def study():
    return rb.Optimizer(SPACE, direction="minimize", seed=0, acquisition="sobol", surrogate="standard")


def test_what_takes_too_long_is_ended_and_is_a_failure(functions):
    opt = study()
    opt.optimize(functions.hangs_above_a_half, 4, evaluation_timeout=0.5, progress=False)
    states = {trial.params["x"] > 0.5: trial.state for trial in opt.history}
    assert states == {True: "failed", False: "told"}
    reasons = {trial.reason for trial in opt.history.having("failed")}
    assert reasons == {"took longer than 0.5 s (evaluation_timeout), and was ended"}
    assert len(opt.failures()) == opt.history.counts()["failed"] > 0  # learned like any
    assert all(not trial.sources for trial in opt.history)  # one process is no source of its own


def test_the_time_of_the_loop_holds_while_one_hangs_and_its_trial_waits(functions):
    opt, started = study(), time.monotonic()
    assert opt.optimize(functions.hangs, 3, timeout=1.0, evaluation_timeout=timedelta(hours=1), progress=False) is None
    assert time.monotonic() - started < HANG_S / 10
    assert opt.history.counts()["queued"] == 1
    assert opt.pending() == [] == opt.failures()


@pytest.mark.parametrize(
    ("limit", "error", "message"),
    [
        (0, ValueError, "evaluation_timeout must be more than 0 seconds, got 0"),
        (-1.0, ValueError, "evaluation_timeout must be at least 0 seconds, got -1.0"),
        ("1h", TypeError, "evaluation_timeout must be a number of seconds, or a timedelta, got '1h'"),
    ],
)
def test_a_limit_that_is_none_is_refused(limit, error, message):
    with pytest.raises(error, match=message):
        study().optimize(abs, 1, evaluation_timeout=limit)


def test_a_function_that_cannot_be_sent_to_a_process_is_refused():
    with pytest.raises(TypeError, match=r"func must be picklable for an evaluation_timeout, .*use none, or give"):
        study().optimize(lambda params: 0.0, 1, evaluation_timeout=1.0)


class Future:
    status = "pending"

    def add_done_callback(self, callback):
        pass


class Client:
    """As much of a Dask client as is asked for, whose tasks never end."""

    def __init__(self):
        self.cancelled = []

    def submit(self, *_, **__):
        return Future()

    def nthreads(self):
        return {"worker": 1}

    def cancel(self, futures):
        self.cancelled += futures


def test_a_task_of_a_cluster_is_given_up():
    client = Client()
    options = {"timeout": None, "jobs": 1, "catch": (), "callbacks": ()}
    cluster = plan_of(abs, 1, client=client, evaluation_timeout=0.01, **options).evaluator()
    assert isinstance(cluster, Cluster)
    cluster.submit(Trial(0, {"x": 0.5}))
    time.sleep(0.02)
    ((trial, outcome),) = cluster.take()
    assert trial.number == 0
    assert outcome.reason.startswith("took longer than 0.01 s")
    assert len(client.cancelled) == 1
    assert cluster.has_room()
