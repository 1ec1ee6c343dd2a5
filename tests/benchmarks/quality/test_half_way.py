import pandas as pd
import pytest

from benchmarks.quality import half_way
from robustbo.loop.best import incumbent


def test_an_exact_value_that_the_surrogate_takes_for_noise_counts_by_half():
    row = half_way.row("bukin", "clean", 0)
    assert row["half-way"] < row["mean"] - 1
    assert incumbent.LASTING == 0.5


def test_differences_are_paired_and_each_function_counts_once():
    rows = [("a", "clean", s, 0.0, d) for s, d in enumerate((-2.0, 0.0))] + [("b", "clean", 0, 1.0, 2.0)] * 2
    (difference,) = half_way.differences(pd.DataFrame(rows, columns=half_way.COLUMNS))
    assert difference["half-way less mean"] == 0.0  # of -1 and 1
    assert difference["standard error"] == pytest.approx(0.5)
    assert difference["another point"] == 3
