from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest


def rows(method, replications, **changes):
    """Of each replication (what is told of each trial, None for a failure): the best told so far is recommended."""
    made = []
    for replication, values in enumerate(replications):
        best = None
        for trial, value in enumerate(values):
            if value is not None and (best is None or value < values[best]):
                best = trial
            inference = np.nan if best is None else values[best]
            row = {"method": method, "replication": replication, "trial": trial, "failed": value is None}
            made.append(row | {"recommended": best, "inference": inference} | changes)
    timed = {"origin": "x", "fit_s": 1.0, "acquisition_s": 0.5}
    found = pd.DataFrame(made).assign(**timed)
    return found.assign(recommended=pd.array(found["recommended"], dtype="Int64"))


@pytest.fixture
def failures(load):
    return load("quality.failures")


def test_regret_is_from_the_best_that_does_not_fail_and_nothing_is_the_worst(failures):
    table = pd.concat([rows("ours", [[None, 1.1, 1.01]]), rows("peer", [[2.0, None, None], [None, None, None]])])
    assert failures.regrets(table, 1.0).loc[("ours", 0)].round(6).tolist()[1:] == [0.1, 0.01]
    found = failures.final(table, 1.0)
    assert found["ours"][0] == pytest.approx(-2.0)
    assert found["peer"].tolist() == pytest.approx([0.0, 0.0])
    exact = failures.final(rows("ours", [[1.0]]), 1.0)
    assert exact["ours"][0] == pytest.approx(-6)


def test_what_is_not_finished_counts_not(failures):
    table = pd.concat([rows("ours", [[1.1, 1.1], [1.1]]), rows("peer", [[None]])])
    found = failures.complete_replications(table, 2)
    assert found[["method", "replication"]].drop_duplicates().to_numpy().tolist() == [["ours", 0]]


def test_what_failed_is_no_recommendation(failures):
    table = rows("peer", [[2.0, None]], recommended=1, inference=1.5)
    assert failures.regrets(table, 1.0).isna().loc[("peer", 0)].tolist() == [True, True]


def test_a_summary_counts_failures_and_compares_pairs(failures, monkeypatch):
    monkeypatch.setattr(failures, "best_feasible", lambda spec: 1.0)
    ours, peer = [[None, 1.1, 1.01], [1.1, None, 1.001]], [[None, None, 1.1], [None, None, 1.01], [2.0, 2.0, 2.0]]
    table = pd.concat([rows("ours", ours), rows("optuna-gp", peer), rows("optuna-tpe", [[3.0, 3.0, 3.0]])])
    spec = SimpleNamespace(methods=["ours", "optuna-gp", "optuna-tpe"], num_initial=1)
    mine, first, other = failures.summary("disc", table, spec)
    assert mine["failed"] == 1.0
    assert mine["best_peer"] == "optuna-gp"
    assert mine["difference"] == pytest.approx(-1.0)
    assert mine["difference_error"] == pytest.approx(0.0, abs=1e-9)
    assert mine["log10_regret"] == pytest.approx(-2.5)
    assert first["failed"] == pytest.approx(4 / 3, rel=1e-3)
    assert first["failed_of_best_peer"] is None  # one peer had none
    assert (first["replications"], other["replications"]) == (3, 1)
    assert mine["ask_s"] == 1.5


def test_flakes_are_compared_after_as_many_told_values(failures, monkeypatch):
    monkeypatch.setattr(failures, "COUNTS", (2,))
    flaky = rows("ours", [[1.1, None, 1.01, None], [1.1, 1.1, None, 1.001]])
    clean = rows("ours", [[1.1, 1.1, 1.0001, 1.0], [1.1, 1.01, 1.01, 1.0]])
    two, end = failures.flakes(flaky, clean, 1.0)
    assert (two["told"], two["replications"]) == (2, 2)
    assert (two["with_flakes"], two["without"]) == pytest.approx((-1.5, -1.5))
    assert (end["told"], end["with_flakes"], end["without"]) == ("all", -2.5, -1.5)
