"""Rows of runs: those that a machine recorded take the place of the same methods', and those of others stay."""

from argparse import Namespace

import pandas as pd
import pytest

SPEC = """
title = "Two methods"
problem = "branin"
trials = 4
num_initial = 4
replications = 3
seed = 1
methods = ["standard", "oracle", "sobol"]
"""


@pytest.fixture
def replays(load, monkeypatch, tmp_path):
    module = load("common.replays")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "two.toml").write_text(SPEC, encoding="utf-8")
    monkeypatch.setattr(module, "RUNS", tmp_path / "runs")
    return module


def options(folder, **changes):
    given = {"work": folder / "W", "out": folder / "runs", "runs": ["two"], "methods": ["standard"], "jobs": 1}
    return Namespace(**{**given, "replications": range(2), "least": 2, **changes})


def counts(folder):
    rows = pd.read_csv(folder / "runs" / "two" / "results.csv.gz")
    return rows.groupby("method")["replication"].nunique().to_dict()


def test_rows_of_methods_that_another_machine_recorded_stay(replays, tmp_path):
    replays.record(options(tmp_path))
    replays.keep(options(tmp_path))
    elsewhere = options(tmp_path, work=tmp_path / "V", methods=["oracle"])
    replays.record(elsewhere)
    replays.keep(elsewhere)
    assert counts(tmp_path) == {"standard": 2, "oracle": 2}
    assert set(pd.read_csv(tmp_path / "runs" / "two" / "summary.csv")["method"]) == {"standard", "oracle"}


def test_methods_with_few_replications_are_left_out_and_take_no_place(replays, tmp_path):
    replays.record(options(tmp_path))
    replays.keep(options(tmp_path))
    once = options(tmp_path, work=tmp_path / "V", methods=["standard", "sobol"], replications=range(1))
    replays.record(once)
    replays.keep(once)
    assert counts(tmp_path) == {"standard": 2}


def test_what_is_kept_and_too_few_goes(replays, tmp_path):
    replays.record(options(tmp_path))
    replays.record(options(tmp_path, methods=["oracle"], replications=range(3)))
    replays.keep(options(tmp_path))
    replays.keep(options(tmp_path, work=tmp_path / "nothing", least=3))
    assert counts(tmp_path) == {"oracle": 3}


def test_rows_written_again_are_the_same_to_the_bit(replays, tmp_path):
    replays.record(options(tmp_path))
    replays.keep(options(tmp_path))
    written = (tmp_path / "runs" / "two" / "results.csv.gz").read_bytes()
    replays.keep(options(tmp_path, work=tmp_path / "nothing"))
    assert (tmp_path / "runs" / "two" / "results.csv.gz").read_bytes() == written
