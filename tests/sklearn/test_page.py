"""The page on scikit-learn runs, and prints what it says."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "sklearn.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_page_runs_and_prints_what_it_says(capsys):
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, names)
        printed, said = capsys.readouterr().out.splitlines(), re.findall(r"^# (.*)$", block, re.MULTILINE)
        assert not said or printed == said


def test_nothing_is_left_to_be_filled_in():
    assert "REPLACE" not in PAGE


def test_the_page_names_every_column():
    columns = {
        *("is_failed", "n_failed_splits", "failure_looks_like", "is_outlier", "expected_test_score", "repeats"),
        *("std_expected_test_score", "evidence_test_score", "believed_test_score", "std_believed_test_score"),
        "rank_believed_test_score",
    }
    section = PAGE.split("## The columns of `cv_results_`")[1].split("\n\nWith")[0]
    assert set(re.findall(r"`(\w+_\w+|repeats)`", section)) - {"best_index_", "cv_results_"} == columns
