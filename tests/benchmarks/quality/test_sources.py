"""Detection of sources in error: three studies in which an older search named the wrong thing, or nothing."""

import math

import pandas as pd
import pytest

from benchmarks.quality.sources import Cell, cells_of, judge, summary


def judged(problem, case, size):
    return judge(*Cell(problem, case, size, 0.02, math.inf, 60, False, 0))


def test_levels_that_are_all_off_by_the_same_are_no_block_effect():
    row = judged("hartmann3", "none", 0.0)  # where a warp would like all values elsewhere
    assert not row["named"]
    assert row["kinds"] == ""


@pytest.mark.parametrize("size", [1.0, 0.5])
def test_a_source_whose_values_are_all_taken_for_wrong_is_named_and_nobody_else(size):
    row = judged("branin", "offset", size)  # 1.0: twelve wrong values; 0.5: a step that leads to a better climb
    assert row["kinds"] == "offset:W1"
    assert row["error"] == pytest.approx(size, abs=4 * row["sd"])
    assert row["sd"] < 0.05


def test_shares_are_of_the_studies_of_a_case():
    rows = pd.DataFrame([judged("hartmann3", "none", 0.0)] * 2).assign(others=[False, True])
    (line,) = summary(rows).to_dict("records")
    assert (line["studies"], line["named"], line["others"]) == (2, "", 0.5)


def test_replications_come_before_problems():
    cells = list(cells_of("points", ["branin", "levy"], range(2)))
    assert [cell.replication for cell in cells] == sorted(cell.replication for cell in cells)
    assert {cell.problem for cell in cells[: len(cells) // 2]} == {"branin", "levy"}
