"""No cell of a CSV file that we write is run by a spreadsheet program, and what is read back is what was written."""

import csv
import io

import pandas as pd
import pytest

import robustbo as rb
from robustbo.formulas import guard_text, restore_text
from robustbo.replay.output import report
from robustbo.report.summary.tables import render
from tests.trials.forged import command as run_command

TEXTS = ['=HYPERLINK("http://x","y")', "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "\t=1", "'=x", "''@"]
PLAIN = ["plain", "'tis", "", "a=1"]
RUN = ("=", "+", "-", "@", "\t", "\r", "\n")


@pytest.mark.parametrize("text", [*TEXTS, *PLAIN, "-5", "+1e3"])
def test_what_is_written_is_read_as_it_was(text):
    assert restore_text(guard_text(text)) == text


def test_a_table_has_no_formula_and_its_numbers_are_as_they_were():
    rows = [{"=name": text, "n": -1.5, "typed": "-5"} for text in TEXTS]
    header, *cells = csv.reader(io.StringIO(render(rows, "csv")))
    assert header == ["'=name", "n", "typed"]
    assert [(n, typed) for _, n, typed in cells] == [("-1.5", "-5")] * len(TEXTS)
    assert not [text for text, _, _ in cells if text.startswith(RUN)]
    assert [restore_text(text) for text, _, _ in cells] == TEXTS


def test_rows_of_a_run_are_read_as_they_were(tmp_path):
    table = pd.DataFrame(
        {"method": TEXTS, "value": [-0.1 - i / 3 for i in range(len(TEXTS))], "trial": range(len(TEXTS))}
    )
    path = tmp_path / "results.csv"
    path.write_text(report.rows_text(table), newline="")
    with path.open(newline="") as file:
        assert not [row for row in csv.reader(file) if row[0].startswith(RUN)]
    pd.testing.assert_frame_equal(report.rows_in(path), table)


def test_what_a_command_writes_another_reads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"=c": ["=1+1", "@x"], "n": [-1, 2]})
    rb.Optimizer(rb.Pool(rows), direction="minimize", journal="j.jsonl", seed=0)
    code, out, err = run_command("ask", "j.jsonl", "-n", "2", "--format", "csv")
    assert code == 0, err
    header, *cells = csv.reader(io.StringIO(out))
    assert header == ["trial", "'=c", "n", "repeats"]
    assert sorted(row[1] for row in cells) == ["'=1+1", "'@x"]
    (tmp_path / "pool.csv").write_text("".join(",".join(row[1:3]) + "\n" for row in [header, *cells]))
    assert run_command("create", "k.jsonl", "--pool", "pool.csv", "--direction", "minimize")[0] == 0
    pool = rb.Study.resume("k.jsonl").settings.space
    assert pool.names == ("=c", "n") or [*pool.names] == ["=c", "n"]
    assert sorted(params["=c"] for params in map(dict, (t.params for t in rb.Study.resume("j.jsonl").history))) == [
        "=1+1",
        "@x",
    ]
    code, out, err = run_command("ask", "k.jsonl", "-n", "2")
    assert code == 0, err
    assert '"=1+1"' in out
    assert '"@x"' in out
