"""Detection of sources in error: two studies in which an older search named the wrong thing, and nothing."""

import math

import pandas as pd
import pytest

from benchmarks.sources.run import Cell, cells_of, judge, summary


def judged(problem, case, size):
    return judge(*Cell(problem, case, size, 0.02, math.inf, 60, 0))


def test_levels_that_are_all_off_by_the_same_are_no_block_effect():
    row = judged("hartmann3", "none", 0.0)  # where a warp would like all values elsewhere
    assert not row["named"]
    assert row["kinds"] == ""


def test_a_source_whose_values_are_all_taken_for_wrong_is_named_and_nobody_else():
    row = judged("branin", "offset", 1.0)
    assert row["kinds"] == "offset:W1"
    assert row["error"] == pytest.approx(1.0, abs=4 * row["sd"])
    assert row["sd"] < 0.05


def test_values_of_a_source_that_is_off_are_not_wrong_by_themselves_beside_it():
    row = judged("hartmann3", "offset", 0.5)  # beside two of its own values taken for wrong: 0.36
    assert row["kinds"] == "offset:W1"
    assert row["error"] == pytest.approx(0.5, abs=row["sd"])


def test_shares_are_of_the_studies_of_a_case():
    rows = pd.DataFrame([judged("hartmann3", "none", 0.0)] * 2).assign(others=[False, True])
    (line,) = summary(rows).to_dict("records")
    assert (line["studies"], line["named"], line["others"]) == (2, "", 0.5)


def test_replications_come_before_problems():
    cells = list(cells_of("points", ["branin", "levy"], range(2)))
    assert [cell.replication for cell in cells] == sorted(cell.replication for cell in cells)
    assert {cell.problem for cell in cells[: len(cells) // 2]} == {"branin", "levy"}


def test_of_a_worker_of_one_region_it_is_said_that_it_cannot_be_told_from_the_objective():
    row = judged("branin", "region", 1.0)
    assert not row["named"]
    assert not row["others"]
    assert not row["is_apart"]
