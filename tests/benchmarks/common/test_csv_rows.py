import os
from pathlib import Path

import pytest

from benchmarks.common.csv_rows import append_row, read, record_missing, row_writer
from benchmarks.common.tables import round_row


def test_rows_that_are_there_are_not_computed_again(tmp_path):
    path, cases = tmp_path / "new" / "rows.csv", []

    def run(name, number):
        cases.append((name, number))
        return {"name": name, "number": number, "square": number**2}

    record_missing(path, ["name", "number"], [("a", 2)], run)
    record_missing(path, ["name", "number"], [("a", 2), ("b", 2), ("a", 3)], run)
    assert cases == [("a", 2), ("b", 2), ("a", 3)]
    assert [row["square"] for row in read(path)] == ["4", "4", "9"]


def test_a_row_that_fails_leaves_those_before_it(tmp_path):
    def run(number):
        return {"number": number, "inverse": 1 / number}

    with pytest.raises(ZeroDivisionError):
        record_missing(tmp_path / "rows.csv", ["number"], [(1,), (0,)], run)
    assert len(read(tmp_path / "rows.csv")) == 1


def test_a_header_is_written_once(tmp_path):
    for number in (1, 2):
        append_row({"number": number}, tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == "number\n1\n2\n"


def test_rows_may_be_written_nowhere():
    with row_writer(Path(os.devnull), ["a"]) as append:
        append({"a": 1})


def test_the_header_decides_the_order_of_columns(tmp_path):
    append_row({"a": 1, "b": 2}, tmp_path / "rows.csv")
    append_row({"b": 4, "a": 3}, tmp_path / "rows.csv")
    assert read(tmp_path / "rows.csv")[1] == {"a": "3", "b": "4"}
    with pytest.raises(ValueError, match="must have the columns a, c, got a, b"):
        append_row({"a": 5, "c": 6}, tmp_path / "rows.csv")


def test_fractions_have_four_digits():
    assert round_row({"a": 1.23456, "b": 7, "c": "x"}) == {"a": 1.235, "b": 7, "c": "x"}
