"""Spaces and pools from files, and values that are fixed, at the command line."""

import csv
import io
import json

import pandas as pd
import pytest

import robustbo as rb
from robustbo.cli.typed import value_of

SPACE = """
constraints = ["temperature * time <= 3000"]

[temperature]
kind = "float"
low = 20
high = 90
step = 5

[time]
kind = "int"
low = 10
high = 120
step = 10

[dose]
kind = "ordinal"
values = [0.1, 0.2, 0.5]
log = true

[solvent]
kind = "choice"
values = ["water", "ethanol"]

[share]
kind = "float"
low = 0
high = 1
when = { solvent = ["ethanol"] }
"""
AS_PYTHON = rb.Space(
    temperature=rb.Float(20, 90, step=5),
    time=rb.Int(10, 120, step=10),
    dose=rb.Ordinal(0.1, 0.2, 0.5, log=True),
    solvent=rb.Choice("water", "ethanol"),
    share=rb.Float(0, 1, when={"solvent": "ethanol"}),
    constraints=["temperature * time <= 3000"],
)
PLATE = "acid,pH,code\nHCl,2,007\nNA,3.5,008\nHCl,4,009\nNA,5,010\n"


@pytest.fixture
def cli(monkeypatch, tmp_path, call):
    """Run the command line in a folder with space.toml and plate.csv; gives (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "space.toml").write_text(SPACE)
    (tmp_path / "plate.csv").write_text(PLATE)
    return call


@pytest.fixture
def begun(cli):
    """The same, with j.jsonl of the space and p.jsonl of the plate."""
    assert (
        cli("create", "--direction", "minimize", "j.jsonl", "space.toml", "--seed", 1, "--surrogate", "standard")[0]
        == 0
    )
    assert (
        cli(
            "create",
            "--direction",
            "minimize",
            "p.jsonl",
            "--pool",
            "plate.csv",
            "--seed",
            1,
            "--surrogate",
            "standard",
        )[0]
        == 0
    )
    return cli


def settings(journal):
    return rb.Study.resume(journal).settings


def asked(cli, journal, *arguments):
    code, out, err = cli("ask", journal, *arguments)
    assert code == 0, err
    return [json.loads(line)["params"] for line in out.splitlines()]


def test_a_file_has_all_that_a_space_has(begun, tmp_path):
    assert settings("j.jsonl").space == AS_PYTHON
    text = json.dumps(AS_PYTHON.to_dict() | {"constraints": AS_PYTHON.texts})
    (tmp_path / "space.json").write_text(text)
    assert begun("create", "--direction", "minimize", "k.jsonl", "space.json")[0] == 0
    assert settings("k.jsonl").space == AS_PYTHON


def test_a_parameter_may_be_called_constraints(cli, tmp_path):
    (tmp_path / "s.json").write_text('{"constraints": {"kind": "int", "low": 0, "high": 3}}')
    assert cli("create", "--direction", "minimize", "j.jsonl", "s.json", "--constraint", "constraints >= 2")[0] == 0
    assert settings("j.jsonl").space.texts == ["constraints >= 2"]
    assert {p["constraints"] for p in asked(cli, "j.jsonl", "-n", 2)} == {2, 3}


def test_constraints_are_typed_besides_those_of_the_file(cli):
    options = ["--constraint", "temperature <= 60", "--constraint", "time >= 20"]
    assert cli("create", "--direction", "minimize", "j.jsonl", "space.toml", *options)[0] == 0
    assert settings("j.jsonl").space.texts == ["temperature * time <= 3000", "temperature <= 60", "time >= 20"]


def test_a_pool_is_the_rows_of_a_table(begun, cli, tmp_path):
    (tmp_path / "c.toml").write_text(
        'constraints = ["pH <= 4"]\n[code]\nkind="choice"\nvalues=["007", "008", "009", "010"]'
    )
    code, out, _ = cli("create", "--direction", "minimize", "q.jsonl", "c.toml", "--pool", "plate.csv", "--seed", 1)
    assert (code, "4 rows to choose from" in out) == (0, True)
    assert settings("p.jsonl").space.point(0) == {"acid": "HCl", "pH": 2.0, "code": 7}
    assert settings("q.jsonl").space.point(1) == {"acid": "NA", "pH": 3.5, "code": "008"}  # NA is a word
    assert {p["code"] for p in asked(cli, "q.jsonl", "-n", 3)} == {"007", "008", "009"}


def test_rows_are_added(begun, tmp_path):
    (tmp_path / "more.csv").write_text("code,pH,acid\n11,4.5,HCl\n")
    assert begun("add-rows", "p.jsonl", "more.csv")[:2] == (0, "p.jsonl: 1 rows added; 5 rows to choose from\n")
    assert asked(begun, "p.jsonl", "--fixed", "pH=4.5") == [{"acid": "HCl", "pH": 4.5, "code": 11}]


def test_what_is_fixed_is_kept(begun):
    (params,) = asked(begun, "j.jsonl", "--fixed", "temperature=35", "--fixed", "solvent=ethanol")
    assert (params["temperature"], params["solvent"]) == (35.0, "ethanol")
    for value, share in ((1.0, 0.25), (2.0, 0.75)):
        point = {"temperature": 20, "time": 10, "dose": 0.1, "solvent": "ethanol", "share": share}
        assert begun("tell", "j.jsonl", "--params", json.dumps(point), value)[0] == 0
    code, out, _ = begun("best", "j.jsonl", "--fixed", "temperature=35.0")
    assert (code, json.loads(out)["params"]["temperature"]) == (0, 35.0)
    assert json.loads(out)["trial"] == 1


def test_what_does_not_exist_has_an_empty_cell(begun):
    _, out, _ = begun("ask", "j.jsonl", "-n", 6, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {(row["solvent"], row["share"] == "") for row in rows} == {("water", True), ("ethanol", False)}
    _, out, _ = begun("ask", "j.jsonl", "-n", 4, "--format", "table")
    assert "'water'" in out


@pytest.mark.parametrize(
    ("text", "parameter", "value"),
    [
        ("350", rb.Float(0, 400), 350.0),
        ("3.50e2", rb.Int(0, 400), 350),
        ("0.20", rb.Ordinal(0.1, 0.2), 0.2),
        ("1", rb.Choice("1", 1), "1"),
        ("1.0", rb.Choice("1", 1), 1),
        ("true", rb.Choice(True, False), True),
        ("null", rb.Choice("a", None), None),
        ("a=b", rb.Choice("a=b", "c"), "a=b"),
    ],
)
def test_values_are_read_by_the_kind_of_their_parameter(text, parameter, value):
    found = value_of("x", parameter, text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.few(12)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ask", "j.jsonl", "--fixed", "temperature=36"), "temperature: must lie on a step of 5 from 20, got 36.0"),
        (("ask", "j.jsonl", "--fixed", "temprature=35"), "--fixed: 'temprature' is no parameter, there are ["),
        (("ask", "j.jsonl", "--fixed", "temperature"), "--fixed must be like NAME=VALUE, such as temperature=..., got"),
        (("ask", "j.jsonl", "--fixed", "time=10", "--fixed", "time=20"), "--fixed: 'time' must be given once"),
        (("ask", "j.jsonl", "--fixed", "time=1_0"), "time: must be a finite number, got '1_0'"),
        (("ask", "j.jsonl", "--fixed", "share=0.5"), "share: exists only where solvent is 'ethanol'; give that too"),
        (("ask", "j.jsonl", "--fixed", "temperature=90", "--fixed", "time=120"), "'temperature * time <= 3000' can"),
        (
            ("ask", "j.jsonl", "--fixed", "solvent=watr"),
            "solvent: must be one of ['water', 'ethanol'], got 'watr'; did",
        ),
        (("ask", "p.jsonl", "--fixed", "pH=2.5"), "no point has {'pH': 2.5}"),
        (("best", "j.jsonl", "--fixed", "time=10", "--raw"), "best takes --raw or --fixed, got both"),
        (
            ("create", "--direction", "minimize", "k.jsonl"),
            "there must be a file with the SPACE, or --pool with a table of points, got neither",
        ),
        (
            ("create", "--direction", "minimize", "k.jsonl", "space.toml", "--constraint", "tim <= 3"),
            "--constraint 'tim <= 3': 'tim' is no parameter",
        ),
        (
            ("create", "--direction", "minimize", "k.jsonl", "space.toml", "--constraint", "open('x') <= 3"),
            "--constraint \"open('x') <= 3\": ",
        ),
        (
            ("create", "--direction", "minimize", "k.jsonl", "space.toml", "--pool", "plate.csv"),
            "plate.csv: temperature: is no column of the pool",
        ),
        (
            ("create", "--direction", "minimize", "k.jsonl", "--pool", "empty.csv"),
            "empty.csv: there must be a line with the names of the columns",
        ),
        (
            ("create", "--direction", "minimize", "k.jsonl", "--pool", "head.csv"),
            "head.csv: a pool needs at least one row, got none",
        ),
        (
            ("create", "--direction", "minimize", "k.jsonl", "--pool", "holes.csv"),
            "holes.csv: acid: every cell of a pool must have a v",
        ),
        (
            ("create", "--direction", "minimize", "k.jsonl", "--pool", "twice.csv"),
            "twice.csv: the rows of a pool must differ, row 2 and row 4",
        ),
        (
            ("create", "--direction", "minimize", "k.jsonl", "--pool", "ragged.csv"),
            "ragged.csv, line 3: must have 2 cells, as the first line",
        ),
        (
            ("create", "--direction", "minimize", "k.jsonl", "--pool", "p.jsonl.gz"),
            "p.jsonl.gz: cannot be read as CSV; save it as CSV in UTF-8",
        ),
        (("create", "--direction", "minimize", "k.jsonl", "one.json"), "one.json: constraints must be a list such as"),
        (("add-rows", "p.jsonl", "plate.csv"), "plate.csv: the rows of a pool must differ"),
        (("add-rows", "p.jsonl", "holes.csv"), "holes.csv: rows must be a data frame with the columns ['acid', 'pH', "),
        (
            ("add-rows", "j.jsonl", "plate.csv"),
            "j.jsonl: only a pool takes new rows, and this space is Space(temperature=",
        ),
    ],
)
def test_a_mistake_is_a_line_and_code_2_and_changes_nothing(begun, tmp_path, arguments, message):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "head.csv").write_text("acid,pH\n")
    (tmp_path / "holes.csv").write_text("acid,pH\nHCl,2\n,3\n")
    (tmp_path / "twice.csv").write_text("acid,pH\nHCl,2\nHCl,3\nHCl,2\n")
    (tmp_path / "ragged.csv").write_text("acid,pH\nHCl,2\nHCl\n")
    (tmp_path / "p.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00")
    (tmp_path / "one.json").write_text('{"x": {"kind": "float", "low": 0, "high": 1}, "constraints": "x <= 1"}')
    before = [(tmp_path / name).read_bytes() for name in ("j.jsonl", "p.jsonl")]
    code, out, err = begun(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert [(tmp_path / name).read_bytes() for name in ("j.jsonl", "p.jsonl")] == before
    assert not (tmp_path / "k.jsonl").exists()


def test_a_table_read_back_is_the_same_to_the_bit(cli, tmp_path):
    frame = pd.DataFrame({"x": [0.1 + 0.2, 1 / 3, 2e-300]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert cli("create", "--direction", "minimize", "t.jsonl", "--pool", "t.csv")[0] == 0
    assert [row[0] for row in settings("t.jsonl").space.rows] == frame["x"].tolist()


@pytest.mark.parametrize("table", ["speed;größe\n3,5;a, b\n4;b\n", "speed\tgröße\r\n3,5\ta, b\r\n4\tb\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_table_of_another_country_is_read(cli, tmp_path, table, encoding):
    (tmp_path / "p.csv").write_bytes(table.encode(encoding))
    assert cli("create", "--direction", "minimize", "j.jsonl", "--pool", "p.csv")[0] == 0
    pool = settings("j.jsonl").space
    assert (pool.names, pool.rows) == (["speed", "größe"], ((3.5, "a, b"), (4.0, "b")))


def test_decimal_commas_between_commas_are_refused_with_advice(cli, tmp_path):
    (tmp_path / "p.csv").write_text('speed,tip\n"3,5",a\n"4,5",b\n')
    code, _, err = cli("create", "--direction", "minimize", "j.jsonl", "--pool", "p.csv")
    message = "speed must have numbers with a decimal point, got '3,5'; save it again"
    assert (code, message in err) == (2, True), err
    assert not (tmp_path / "j.jsonl").exists()


def test_what_the_columns_were_taken_for_is_said(cli, tmp_path):
    (tmp_path / "p.csv").write_text("speed,tip\n3.5,a\n4,b\n")
    assert (
        "columns: speed (Float), tip (Choice)"
        in cli("create", "--direction", "minimize", "j.jsonl", "--pool", "p.csv")[2]
    )


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ({"kind": "float", "low": 0}, "x: high must be given, such as {'kind': 'float', 'low': 0, 'high': 1}"),
        (
            {"kind": "float", "low": 1, "high": 2, "lgo": True},
            "x: a float has ['low', 'high', 'log', 'step', 'when'], got 'lgo'",
        ),
        ({"kind": "flaot", "low": 0, "high": 1}, "x: kind must be one of ['float', 'int', 'ordinal', 'choice'], got"),
        ({"low": 0, "high": 1}, "x: must have a kind, one of ['float', 'int', 'ordinal', 'choice']"),
        ({"t": {"kind": "float"}}, "parameters stand for themselves: take ['t'] out of 'x'"),
        ({"kind": "choice"}, "x: values must be given, such as {'kind': 'choice', 'values': ['a', 'b']}"),
    ],
)
def test_the_key_of_a_parameter_that_is_wrong_is_named(cli, tmp_path, parameter, said):
    (tmp_path / "space.json").write_text(json.dumps({"x": parameter}))
    code, _, err = cli("create", "--direction", "minimize", "j.jsonl", "space.json")
    assert (code, said in err) == (2, True), err


def test_an_empty_journal_is_said_to_be_empty(cli, tmp_path):
    (tmp_path / "j.jsonl").touch()
    (tmp_path / "space.json").write_text('{"x": {"kind": "float", "low": 0, "high": 1}}')
    assert (
        "j.jsonl: exists and is empty; delete it and call create again"
        in cli("create", "--direction", "minimize", "j.jsonl", "space.json")[2]
    )


def test_units_are_said_and_a_mixed_column_is_asked_about(cli, tmp_path):
    (tmp_path / "p.csv").write_text("dose,tip\n0.1 mL,a\n2 mL,b\n")
    (tmp_path / "m.csv").write_text("dose,tip\n0.1 mL,a\n2 L,b\n")
    assert "columns: dose (mL) (Float)" in cli("create", "--direction", "minimize", "j.jsonl", "--pool", "p.csv")[2]
    code, _, err = cli("create", "--direction", "minimize", "k.jsonl", "--pool", "m.csv")
    assert (code, "m.csv: dose: cells must be numbers" in err, '{"kind": "choice"' in err) == (2, True, True)
    (tmp_path / "c.toml").write_text('[dose]\nkind="choice"\nvalues=["0.1 mL", "2 L"]')
    assert cli("create", "--direction", "minimize", "k.jsonl", "c.toml", "--pool", "m.csv")[0] == 0


def test_a_pool_may_be_a_workbook(cli, tmp_path):
    rows = {"pH": [2.0, 3.5, 4.0], "code": [7, 8, 9], "c": ["NA", "1 mL", "x"]}
    pd.DataFrame(rows).to_excel(tmp_path / "p.xlsx", index=False)
    (tmp_path / "c.toml").write_text('[code]\nkind="choice"\nvalues=["7", "8", "9", "11"]')
    assert cli("create", "--direction", "minimize", "j.jsonl", "c.toml", "--pool", "p.xlsx")[0] == 0
    assert settings("j.jsonl").space.point(1) == {"pH": 3.5, "code": "8", "c": "1 mL"}
    more = pd.DataFrame({"pH": [None, 4.5], "code": [None, 11], "c": [None, "y"]})  # an empty line is left out
    more.to_excel(tmp_path / "more.xlsx", index=False)
    assert cli("add-rows", "j.jsonl", "more.xlsx")[:2] == (0, "j.jsonl: 1 rows added; 4 rows to choose from\n")
    (tmp_path / "torn.xlsx").write_bytes(b"PK")
    code, _, err = cli("create", "--direction", "minimize", "k.jsonl", "--pool", "torn.xlsx")
    assert (code, "torn.xlsx: cannot be read as a workbook" in err) == (2, True)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_trials_are_written_as_a_table(cli, tmp_path, suffix):
    (tmp_path / "s.json").write_text('{"x": {"kind": "float", "low": 0, "high": 1}}')
    cli("create", "--direction", "minimize", "j.jsonl", "s.json")
    for i in range(3):
        cli("tell", "j.jsonl", "--params", f'{{"x": {i / 2}}}', i)
    assert cli("show", "j.jsonl", "--out", f"t{suffix}")[:2] == (0, f"t{suffix}\n")
    table = pd.read_csv(tmp_path / "t.csv") if suffix == ".csv" else pd.read_excel(tmp_path / "t.xlsx")
    assert (table["value"].tolist(), "evidence" in table.columns) == ([0, 1, 2], True)
