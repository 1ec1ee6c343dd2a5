"""Every record is listed, with the command that makes it again; the page is that of the lines."""

import pandas as pd
import pytest


@pytest.fixture(scope="module")
def records(load):
    return load("common.records")


def test_every_folder_of_runs_has_a_line_and_every_line_is_there(records):
    assert records.missing_names(records.table()) == []


def test_the_page_is_that_of_the_lines(records):
    assert (records.RUNS / "README.md").read_text(encoding="utf-8") == records.page(records.table())


def test_every_line_says_command_version_and_date(records):
    found = records.table()
    assert found[["command", "code", "date"]].notna().all().all()
    assert found["command"].str.match(r"(robustbo replay|python (-m benchmarks\.|tests/))").all()


def test_what_lacks_a_line_or_a_file_is_named(records, tmp_path):
    for name in ("listed", "forgotten"):
        (tmp_path / name).mkdir()
    lines = pd.DataFrame({"command": ["a", "b"]}, index=["listed", "gone"])
    assert records.missing_names(lines, tmp_path) == ["forgotten", "gone"]


def test_a_record_made_anew_takes_its_line(records):
    line = {"command": "python -m benchmarks.a", "code": "abc", "date": "2026-01-01", "core_hours": None}
    once = records.add_line(pd.DataFrame(index=pd.Index([], name="record")), "a", line)
    again = records.add_line(once, "a", line | {"code": "def", "core_hours": 2.0})
    assert list(again.index) == ["a"]
    assert again.loc["a", "code"] == "def"
    assert "| a | `python -m benchmarks.a` | def | 2026-01-01 | 2 |" in records.page(again)
    assert "| a | `python -m benchmarks.a` | abc | 2026-01-01 | - |" in records.page(once)
