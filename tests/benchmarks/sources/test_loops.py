"""Loops of which a worker is off: which there are, and what their tables say."""

import math

import pandas as pd
import pytest

from benchmarks.sources import loops as module
from benchmarks.sources.loops import Loop, loops, run_loop, spec_of, summary


def test_replications_come_first_and_an_oracle_needs_an_error():
    listed = list(loops(["branin", "levy"], range(2)))
    assert [loop.replication for loop in listed] == sorted(loop.replication for loop in listed)
    assert {loop.method for loop in listed if loop.case == "none"} == {"told"}
    assert {loop.method for loop in listed if loop.case == "step"} == {"told", "corrected"}
    assert {loop.method for loop in listed if loop.case == "offset" and loop.size == 1.0} == {*module.METHODS}


@pytest.mark.parametrize(("problem", "error"), [("branin", -0.5), ("hartmann6", 0.5)])
def test_a_worker_is_too_good(problem, error):
    corruption = spec_of(Loop(problem, "step", 0.5, 1, "told")).build_corruption()
    assert (corruption.error, corruption.begin, corruption.workers) == (error, 20, 4)


def test_a_loop_is_scored_and_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "TRIALS", 8)
    monkeypatch.setattr(module, "HALF", 6)
    row = run_loop(Loop("branin", "offset", 1.0, 0, "hidden"), tmp_path)
    assert (row["named"], row["others"]) == (False, False)
    assert row["end"] >= row["seen"] >= -3
    assert (tmp_path / "branin-offset-1" / "cells" / "hidden-0.jsonl").exists()


def test_what_is_lacking_is_paired_with_the_oracle():
    rows = [
        Loop("branin", "offset", 1.0, r, method)._asdict()
        | {"named": method == "told", "others": False, "first": 12.0 + r, "first_other": math.nan}
        | {"half": -1.0, "end": {"told": -2.0, "hidden": -1.0 + 0.1 * r, "corrected": -2.5}[method], "average": -1.0}
        for r in range(2)
        for method in ("told", "hidden", "corrected")
    ]
    tables = summary(pd.DataFrame(rows))
    (line,) = tables["loops"].to_dict("records")
    assert (line["loops"], line["named"], line["others"], line["first named at trial"]) == (2, 1.0, 0.0, 12.5)
    end = tables["loops-regret"].set_index("lack").loc["end"]
    assert end["told more than corrected"] == "0.50 +- 0.00"
    assert end["hidden more than corrected"] == "1.55 +- 0.05"
    assert end["hidden more than told"] == "1.05 +- 0.05"
