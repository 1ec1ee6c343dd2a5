"""`ask` and `tell` with a sheet."""

import json

import pytest

import robustbo as rb

SPACE = """
[x]
kind = "float"
low = 0
high = 1
"""


@pytest.fixture
def begun(cli):
    """The command line, with a journal j.jsonl whose asks are quick."""
    assert (
        cli("create", "j.jsonl", "space.toml", "--seed", 1, "--acquisition", "sobol", "--direction", "maximize")[0] == 0
    )
    return cli


@pytest.fixture
def fill(tmp_path):
    """Fills in a sheet: a text behind each of its rows."""

    def filled(*texts):
        path = tmp_path / "todo.csv"
        header, *lines = path.read_text().splitlines()
        path.write_text("\n".join([header, *(line + text for line, text in zip(lines, texts, strict=True))]) + "\n")

    return filled


def test_rows_go_out_and_values_come_in_once(begun, fill, tmp_path):
    code, out, err = begun("ask", "j.jsonl", "--sheet", "todo.csv", "-n", 2)
    asked = [json.loads(line) for line in out.splitlines()]
    assert (code, err, [each["trial"] for each in asked]) == (0, "", [0, 1])
    fill("-1.5", "broke")
    code, out, err = begun("ask", "j.jsonl", "--sheet", "todo.csv", "--format", "csv")
    assert (code, out.splitlines()[0], out.splitlines()[1][:2]) == (0, "trial,x,repeats", "2,")
    first, second = err.splitlines()
    assert first == f"told: trial 0 (told, sobol), x={asked[0]['params']['x']!r}: -1.5"
    assert second == f"told: trial 1 (failed, sobol), x={asked[1]['params']['x']!r}: broke"
    fill("", "", "2")
    code, out, err = begun("tell", "j.jsonl", "--sheet", "todo.csv")
    assert (code, out.count("\n"), out[:14], err) == (0, 1, "trial 2 (told,", "")
    code, out, err = begun("tell", "j.jsonl", "--sheet", "todo.csv")
    assert (code, out, err) == (0, "", "nothing new is filled in in todo.csv\n")
    assert [t.state for t in rb.Study.resume("j.jsonl").history] == ["told", "failed", "told"]


def test_a_changed_value_needs_a_flag(begun, fill, tmp_path):
    begun("ask", "j.jsonl", "--sheet", "todo.csv", "--value", "yield")
    fill("1.5")
    assert begun("tell", "j.jsonl", "--sheet", "todo.csv", "--value", "yield")[0] == 0
    fill("5")
    for command in "ask", "tell":
        code, out, err = begun(command, "j.jsonl", "--sheet", "todo.csv", "--value", "yield")
        assert (code, out) == (2, "")
        assert (
            "trial 0 was told as 1.5, the cell has '1.55'; if the cell is right, take it as a correction (--amend,"
            in err
        )
    assert begun("tell", "j.jsonl", "--sheet", "todo.csv", "--value", "yield", "--amend")[0] == 0
    assert rb.Study.resume("j.jsonl").history[0].value == 1.55


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("tell", "j.jsonl", "--sheet", "todo.csv"),
            "todo.csv: there is no such sheet; write_sheet (robustbo ask --sh",
        ),
        (("tell", "j.jsonl", "--sheet", "todo.csv", 0, 1), "--sheet has trials and values by itself, got '0 1' too"),
        (
            ("tell", "j.jsonl", "--sheet", "todo.csv", "--sd", 1),
            "--sheet has trials and values by itself, got '--sd 1'",
        ),
        (("tell", "j.jsonl", 0, 1, "--amend"), "--amend needs --sheet"),
        (("ask", "j.jsonl", "-n", 0), "-n must be a whole number of at least 1, got 0"),
        (
            ("ask", "j.jsonl", "--sheet", "todo.ods"),
            "todo.ods: a sheet must be one of ['.csv', '.txt', '.tsv', '.xlsx']",
        ),
    ],
)
def test_a_mistake_is_a_line_and_changes_nothing(begun, arguments, message):
    code, out, err = begun(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert len(rb.Study.resume("j.jsonl").history) == 0


def test_an_impossible_value_is_refused_or_kept(cli, fill):
    said = ("--direction", "maximize", "--outcome", "0 <= yield (%) <= 100")
    assert cli("create", "j.jsonl", "space.toml", "--seed", 1, "--acquisition", "sobol", *said)[0] == 0
    cli("ask", "j.jsonl", "--sheet", "todo.csv")
    fill("820")
    code, out, err = cli("tell", "j.jsonl", "--sheet", "todo.csv")
    assert (code, out) == (2, "")
    assert "line 2: yield must be in the possible range [0, 100] %, got 820 %" in err
    code, out, _ = cli("tell", "j.jsonl", "--sheet", "todo.csv", "--out-of-range", "exclude")
    assert (code, out[:18]) == (0, "trial 0 (excluded,")
    assert "820.0 % (outside the possible range [0, 100] %)" in out
