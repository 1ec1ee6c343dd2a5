import csv
import io
import json
import math

import numpy as np
import pandas as pd
import pytest

from robustbo.report.summary import tables as tables
from robustbo.report.summary.heading import Name

ROWS = [{"method": "gp", "mean_regret": 0.123456789, "n": 3}, {"method": "a,b", "mean_regret": None, "n": 12}]


def test_json_keeps_rows_as_they_are():
    text = tables.render(ROWS, "json")
    assert json.loads(text) == ROWS
    assert text.endswith("\n")


def test_csv_has_a_header_and_a_line_a_row():
    text = tables.render(ROWS, "csv")
    assert text.splitlines()[0] == "method,mean_regret,n"
    assert list(csv.DictReader(io.StringIO(text))) == [
        {"method": "gp", "mean_regret": "0.123456789", "n": "3"},
        {"method": "a,b", "mean_regret": "", "n": "12"},
    ]


def test_a_table_is_for_reading():
    title, *_ = lines = tables.render(ROWS, "table", title="Results").splitlines()
    assert title.strip() == "Results"
    assert [sum(word in line for line in lines) for word in ("mean regret", "0.1235", "a,b")] == [1, 1, 1]
    assert any(line.split() == ["a,b", "-", "12"] for line in lines)


def test_a_table_without_a_title_has_no_line_for_it():
    assert len(tables.render(ROWS, "table").splitlines()) == len(tables.render(ROWS, "table", "T").splitlines()) - 1


@pytest.mark.parametrize("columns", ["10", "80"])
def test_a_name_of_the_users_heads_its_column_as_it_is_written(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    text = tables.render([{Name("learning_rate"): 0.1, "mean_regret": 1, "third": "w" * 20}], "table")
    assert "learning_rate" in text
    assert "mean regret" in text


@pytest.mark.parametrize("text", ["[bold]", "[/x]", "[1, 2]"])
def test_brackets_are_shown_as_they_are(text):
    assert text in tables.render([{"a": text}], "table")
    assert text in tables.render([{text: 1}], "table")


def test_a_long_cell_is_folded_and_not_cut(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    shown = tables.render([{"a": "0123456789" * 4}], "table")
    assert sum(letter.isdigit() for letter in shown) == 40


@pytest.mark.parametrize(("count", "columns"), [(12, "40"), (30, "80"), (50, None)])
def test_beyond_what_fits_a_cell_has_a_line(monkeypatch, count, columns):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    row = {"trial": 3} | {f"x{i}": repr(i + 1 / 3) for i in range(count)}
    shown = tables.render([row, {**row, "trial": 4}], "table", "asked").splitlines()
    assert shown[0] == "asked"
    assert [line.split() for line in shown if line.startswith("trial")] == [["trial", "3"], ["trial", "4"]]
    for i in range(count):
        assert [line.split() for line in shown].count([f"x{i}", repr(i + 1 / 3)]) == 2


@pytest.mark.parametrize(("form", "text"), [("json", "[]\n"), ("csv", ""), ("table", "\n")])
def test_no_rows_are_no_error(form, text):
    assert tables.render([], form) == text


def test_records_are_plain_values_without_nan():
    frame = pd.DataFrame({"x": [0.5, math.nan], "n": np.array([1, 2]), "s": ["a", None], "b": [True, False]})
    assert tables.records(frame) == [
        {"x": 0.5, "n": 1, "s": "a", "b": True},
        {"x": None, "n": 2, "s": None, "b": False},
    ]


@pytest.mark.parametrize("value", [0.1 + 0.2, 1 / 3, 1e-20, 1.2345678901234567e-05, 1.2345678901234567e20])
def test_records_keep_every_digit(value):
    assert tables.records(pd.DataFrame({"x": [value]})) == [{"x": value}]
