"""Bounds at the command line, as they are written."""

import json
from pathlib import Path

import pytest

import robustbo as rb

SPACE = '[x]\nkind = "float"\nlow = 0\nhigh = 1\n'


@pytest.fixture
def journal(cli):
    cli("create", "lab.jsonl", "space.toml", "--direction", "minimize", "--seed", 1)
    rb.Optimizer.resume("lab.jsonl").ask(2)
    return "lab.jsonl"


def test_a_bound_is_told_and_corrected_as_it_is_written(cli, journal):
    assert ": <0.05" in cli("tell", journal, "0", "<0.05")[1]
    assert ": >200.0" in cli("tell", journal, "--params", '{"x": 0.9}', "> 200")[1]
    assert ": <0.04" in cli("amend", journal, "0", "<=0.04")[1]
    assert [repr(t.value) for t in rb.Study.resume(journal).history] == ["<0.04", "None", ">200.0"]


def test_several_outcomes_have_one_each(cli):
    cli("create", "j.jsonl", "space.toml", "--objective", "a:minimize", "--objective", "b:maximize", "--seed", 1)
    assert "a <0.05, b 3.0" in cli("tell", "j.jsonl", "--params", '{"x": 0.9}', "a=<0.05", "b=3")[1]


def test_what_is_no_bound_is_told_in_a_line(cli, journal):
    assert (
        "a bound must be < or > and a number, such as <0.05, got '<nothing'" in cli("tell", journal, "0", "<nothing")[2]
    )
    assert "the bound <0.05 must have no sd" in cli("tell", journal, "0", "<0.05", "--sd", "0.1")[2]


def test_a_table_with_bounds_is_told_and_shown(cli):
    cli("create", "j.jsonl", "space.toml", "--direction", "minimize", "--seed", 1)
    values = ["<0.2" if i / 15 < 0.2 else repr(round(i / 15 + 0.01 * (7 * i % 5 - 2), 3)) for i in range(16)]
    rows = [f",{round(i / 15, 4)},{value}" for i, value in enumerate(values)]
    Path("sheet.csv").write_text("\n".join(["trial,x,value", *rows, f",0.9,{'<-40'}", ""]))
    told = cli("tell", "j.jsonl", "--sheet", "sheet.csv")[1].splitlines()
    assert [line.endswith(": <0.2") for line in told] == [True] * 3 + [False] * 14
    code, out, _ = cli("show", "j.jsonl")
    assert code == 0
    assert "best raw value: trial 3" in out
    assert "<-40" in out
    (wrong,) = [o for o in json.loads(cli("show", "j.jsonl", "--format", "json")[1])["outliers"] if o["flagged"]]
    assert (wrong["value"], wrong["status"]) == ("<-40.0", "flagged")
    assert cli("report", "j.jsonl")[0] == 0
    assert "&lt;0.2" in next(Path().glob("*.html")).read_text()
