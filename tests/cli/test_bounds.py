"""Bounds at the command line, as they are written."""

import json

import pytest

import robustbo as rb


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "lab.jsonl"
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0, journal=path)
    opt.ask(2)
    return path


def test_a_bound_is_told_shown_and_corrected(cli, journal):
    assert ": <0.05" in cli("tell", journal, "0", "<0.05").stdout
    assert ": >200.0" in cli("tell", journal, "--params", '{"x": 0.9}', "> 200").stdout
    assert ": <0.04" in cli("amend", journal, "0", "<=0.04").stdout
    assert [json.loads(line).get("value") for line in journal.read_text().splitlines()[3:]] == ["<0.05", ">200.0", "<0.04"]


def test_several_outcomes_have_one_each(cli, tmp_path):
    path = tmp_path / "lab.jsonl"
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), objectives={"a": "minimize", "b": "maximize"}, journal=path, seed=0)
    opt.ask()
    assert "a <0.05, b 3.0" in cli("tell", path, "0", "a=<0.05", "b=3").stdout


def test_what_is_no_bound_is_told_in_a_line(cli, journal):
    result = cli("tell", journal, "0", "<nothing")
    assert "a bound must be < or > and a number, such as <0.05, got '<nothing'" in result.stderr
    assert "sd" in cli("tell", journal, "0", "<0.05", "--sd", "0.1").stderr
