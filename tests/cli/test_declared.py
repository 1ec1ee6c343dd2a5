"""Sources in the file of a space, their tables, and the commands about them."""

import io
import json

import pytest

import robustbo as rb
from robustbo.cli.declared import PriorTable, read_sources, tables_of

SPACE = """
[temperature]
kind = "float"
low = 20
high = 90

[stirring]
kind = "float"
low = 100
high = 900

[sources.lab]
target = true

[sources.simulator]
cost = 0.05
was = { stirring = 300 }

[sources.2025]
ask = false
was = { stirring = 300 }
prior_data = "old/2025.csv"
columns = { temperature = "(`T (F)` - 32) / 1.8", value = "Yield" }
"""
OLD = "T (F),Yield,operator\n104,50.5,Ann\n122,61.5,Bo\n"
OPEN = rb.Space(temperature=rb.Float(20, 90), time=rb.Float(5, 60), kind=rb.Choice("01", "02"))


@pytest.fixture
def begun(cli, tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "2025.csv").write_text(OLD)
    code, _, err = cli("create", "a.jsonl", "space.toml", "--direction", "maximize", "--seed", 1)
    assert (code, err) == (0, "")
    return cli


def test_an_old_study_is_declared_with_its_table(begun):
    first, second = rb.Study.resume("a.jsonl").history
    assert first.params == {"temperature": pytest.approx(40.0), "stirring": 300.0}
    assert (first.value, first.source, first.labels["operator"]) == (50.5, "2025", "Ann")
    assert second.params["temperature"] == pytest.approx(50.0)


def test_sources_are_asked_told_and_shown(begun):
    code, out, _ = begun("ask", "a.jsonl", "--source", "simulator")
    asked = json.loads(out)
    assert (code, asked["source"], asked["params"]["stirring"]) == (0, "simulator", 300.0)
    assert begun("tell", "a.jsonl", asked["trial"], 7.5)[0] == 0
    point = '{"temperature": 30}'
    assert "by simulator" in begun("tell", "a.jsonl", "--params", point, 8.5, "--source", "simulator")[1]
    out = begun("ask", "a.jsonl", "-n", 2, "--format", "table")[1]
    assert out.count(" lab") == 2
    code, out, _ = begun("sources", "a.jsonl")
    assert code == 0
    assert "2025: nothing is known yet" in out
    assert "other sources, by what they say of the target" in out
    first, second = map(json.loads, begun("sources", "a.jsonl", "--format", "json")[1].splitlines())
    assert (first["source"], first["relation"], first["trials"], first["cost"]) == ("simulator", None, [2, 3], 0.05)
    assert second["source"] == "2025"
    header, *rows = begun("sources", "a.jsonl", "--format", "csv")[1].splitlines()
    assert header.startswith("source,relation,b,")
    assert len(rows) == 2
    out = begun("show", "a.jsonl")[1]
    assert "simulator: nothing is known yet" in out
    assert "which source" not in out.lower()
    code, _, err = begun("ask", "a.jsonl", "--source", "2025")
    assert (code, "ask=False" in err) == (2, True)


def test_a_sheet_says_which_source_measures(begun, tmp_path):
    assert begun("ask", "a.jsonl", "--sheet", "s.csv", "-n", 1, "--source", "simulator")[0] == 0
    header, row = (tmp_path / "s.csv").read_text().splitlines()
    assert header == "trial,temperature,stirring,repeats,source,value"
    assert row.endswith(",simulator,")
    own = ["", "61", "", "", "2025", "5.5"]
    (tmp_path / "s.csv").write_text("\n".join([header, f"{row}4.5", ",".join(own), ""]))
    assert begun("tell", "a.jsonl", "--sheet", "s.csv")[0] == 0
    *_, asked, told = rb.Study.resume("a.jsonl").history
    assert (asked.source, asked.value) == ("simulator", 4.5)
    assert (told.source, told.value, told.params["stirring"]) == ("2025", 5.5, 300.0)
    assert begun("tell", "a.jsonl", "--sheet", "s.csv")[1] == ""
    (tmp_path / "s.csv").write_text("\n".join([header, ",61,200,,simulatr,5.5", ""]))
    code, _, err = begun("tell", "a.jsonl", "--sheet", "s.csv")
    assert (code, "source must be one of those declared" in err) == (2, True)


@pytest.mark.parametrize(("name", "separator"), [("p.csv", ","), ("p.tsv", "\t"), ("P.TXT", ";")])
def test_a_table_is_given_as_an_option(cli, tmp_path, name, separator):
    (tmp_path / "plain.toml").write_text(SPACE.split("[sources", maxsplit=1)[0])
    (tmp_path / name).write_text("temperature,stirring,value\n30,200,1\n".replace(",", separator))
    arguments = ("plain.toml", "--direction", "maximize", "--prior-data", name)
    assert cli("create", "b.jsonl", *arguments)[0] == 0
    assert len(rb.Study.resume("b.jsonl").history) == 1
    assert cli("create", "c.jsonl", "plain.toml", "--direction", "maximize", "--prior-data", "none.csv")[0] == 2


@pytest.mark.parametrize(
    ("entry", "match"),
    [
        ("a", "must be a table of entries"),
        ({"costs": 1}, "got 'costs'; did you mean 'cost'"),
        ({"cost": -1}, "sources: 's': cost must be a number above 0"),
        ({"prior_data": 3}, "prior_data must be the name of a file"),
        ({"columns": {"x": "y"}}, "columns need a table; add prior_data"),
        ({"prior_data": "a.csv", "columns": {"x": 3}}, "columns must be such as"),
    ],
)
def test_what_a_source_in_a_file_must_be(entry, match):
    with pytest.raises(ValueError, match=match):
        read_sources({"s": entry}, "space.toml")


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"time": "minuts"}, "needs a column 'minuts'.*did you mean 'minutes'"),
        ({"time": "minutes minutes"}, "must be the name of a column, or arithmetic"),
        ({"time": "kind * 2", "kind": "minutes"}, None),
        ({"time": "`who` * 2"}, "needs numbers in"),
    ],
)
def test_columns_of_a_table_have_other_names(tmp_path, columns, match):
    place = tmp_path / "t.csv"
    place.write_text("temperature,minutes,kind,who\n30,1.5,01,Ann\n")
    table = PriorTable(str(place), columns)
    if match is None:
        assert table.read(OPEN)["time"].tolist() == [2.0]
    else:
        with pytest.raises(ValueError, match=match):
            table.read(OPEN)


def test_a_column_of_words_stays_words_under_another_name(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("temperature,minutes,sort\n30,1.5,01\n")
    frame = PriorTable(str(place), {"kind": "sort", "time": "minutes * 60"}).read(OPEN)
    assert (frame["kind"].tolist(), frame["time"].tolist()) == (["01"], [90.0])
    assert [*frame.columns] == ["temperature", "minutes", "kind", "time"]


def test_typed_tables_name_a_source():
    sources = {"2025": rb.Source(ask=False), "lab": rb.Source(target=True)}
    assert tables_of(["2025=a=b.csv"], sources) == {"2025": PriorTable("a=b.csv", {})}
    assert tables_of(["a=b.csv"], {}) == {"": PriorTable("a=b.csv", {})}
    for texts in (["2026=a.csv"], ["2025=a.csv", "2025=b.csv"]):
        with pytest.raises(ValueError, match="--prior-data must be"):
            tables_of(texts, sources)


def test_a_parameter_may_be_called_sources():
    from robustbo.cli.typed import description_of

    file = io.BytesIO(b'{"sources": {"kind": "float", "low": 0, "high": 1}}')
    file.name = "space.json"
    described = description_of(file, None)
    assert described.space.names == ["sources"]
    assert described.sources == {}
