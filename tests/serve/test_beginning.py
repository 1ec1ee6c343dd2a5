"""A study is begun by a form: checked as it is typed, with its first points, and as TOML."""

import pytest
from starlette.testclient import TestClient

import robustbo as rb
from robustbo.cli.typed import description_of
from robustbo.errors import JournalWarning
from robustbo.serve.access import Access
from robustbo.serve.app import application
from robustbo.serve.plan import read_plan
from robustbo.serve.server import _bench_of
from tests.serve.conftest import JSON

FORM = {
    "p0.name": "heat", "p0.unit": "°C", "p0.low": "20", "p0.high": "80,5",
    "p1.name": "stages", "p1.kind": "int", "p1.low": "1", "p1.high": "8",
    "p3.name": "solvent", "p3.kind": "choice", "p3.values": "DMF; THF",
    "p4.name": "dose", "p4.kind": "ordinal", "p4.values": "0,1; 0,5; 2", "p4.unit": "mL",
    "constraints": "stages + stages <= 14\n\n",
    "o0.name": "yield", "o0.unit": "%", "o0.goal": "maximize", "o0.low": "0", "o0.high": "100",
    "seed": "7",
}  # fmt: skip


@pytest.fixture
def place(tmp_path):
    return tmp_path / "new.jsonl"


@pytest.fixture
def client(place):
    with TestClient(
        application(None, Access(80, None), place), "http://127.0.0.1:80", follow_redirects=False
    ) as client:
        yield client


def test_until_there_is_a_study_its_form_is_all(client):
    assert client.get("/").headers["location"] == "/begin"
    assert client.post("/trials/0/tell", json={"value": 1}).headers["location"] == "/begin"
    page = client.get("/begin").text
    assert "Begin a study" in page
    assert "p0.name" in page


def test_the_form_shows_the_first_points_which_are_those_of_the_study(client, place):
    preview = client.post("/begin", data=FORM, headers=JSON).json()
    assert (preview["goal"], preview["names"][0]) == ("maximize yield", "heat (°C)")
    assert not place.exists()
    assert client.post("/begin", data=FORM | {"do": "begin"}).headers["location"] == "/"
    study = rb.Study.resume(place)
    assert study.settings.space.names == ["heat (°C)", "stages", "solvent", "dose (mL)"]
    assert dict(study.settings.space.parameters)["dose (mL)"].values == (0.1, 0.5, 2.0)
    assert study.settings.quantity == rb.Outcome("yield", unit="%", low=0, high=100)
    trials = client.post("/ask", json={"n": 1}).json()["trials"]
    assert f"{trials[0]['params']['heat (°C)']:.6g}" == preview["rows"][0][0]
    assert client.post("/begin", data=FORM | {"do": "begin"}, headers=JSON).status_code == 409


def test_the_same_is_a_file_for_the_command_line(client, tmp_path):
    text = client.post("/begin", data=FORM | {"do": "toml"}).text
    (tmp_path / "space.toml").write_text(text)
    with open(tmp_path / "space.toml", "rb") as file:
        space, outcomes, _ = description_of(file, None)
    plan = read_plan(FORM)
    assert (space, outcomes) == (plan.space, plan.options["outcome"])
    assert space.texts == ["stages + stages <= 14"]


def test_a_space_of_few_points_has_a_preview_of_these(client):
    few = {"p0.name": "acid", "p0.kind": "choice", "p0.values": "HCl; HNO3", "o0.name": "yield"}
    assert len(client.post("/begin", data=few | {"o0.goal": "minimize"}, headers=JSON).json()["rows"]) == 2


@pytest.mark.parametrize(
    ("text", "space"),
    [
        ("heat + stages <= 80", "`heat (°C)` + stages <= 80"),
        ("heat (°C) + stages <= 80", "`heat (°C)` + stages <= 80"),
        ("`heat (°C)` + stages <= 80", "`heat (°C)` + stages <= 80"),
    ],
)
def test_constraints_are_written_with_or_without_units(text, space):
    assert read_plan(FORM | {"constraints": text}).space.texts == [space]


def test_several_outcomes_have_goals_and_bounds():
    more = {"o1.name": "purity", "o1.goal": "keep its bounds", "o1.least": "95,5"}
    settings = read_plan(FORM | more).begin(None).settings
    assert settings.goal == "maximize yield, purity >= 95.5"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"p0.low": ""}, "heat (°C): From must be filled in"),
        ({"p0.low": "cold"}, "must be a number"),
        ({"p0.low": "90"}, "heat (°C)"),
        ({"p1.name": "heat", "p1.unit": "°C"}, "name of its own"),
        ({"constraints": "stages <= heat +"}, "stages <= `heat (°C)` +"),
        ({"o0.name": ""}, "there must be an outcome"),
        ({"o0.goal": "keep its bounds"}, "must be a bound"),
        ({"o0.goal": "win"}, "maximized or minimized"),
        ({f"p{i}.name": "" for i in range(5)}, "there must be a parameter"),
    ],
)
def test_what_is_wrong_is_said_as_it_is_typed(client, place, change, text):
    answer = client.post("/begin", data=FORM | change, headers=JSON)
    assert (answer.status_code, text in answer.json()["error"]) == (422, True)
    page = client.post("/begin", data=FORM | change | {"do": "begin"}, headers={"Accept": "text/html"})
    assert page.status_code == 422
    assert "80,5" in page.text  # what was typed is still there
    assert not place.exists()


TABLE = "Säure;Dosis (mL)\nHCl;0,5\nHNO3;0,25\nHCl;1\n".encode("cp1252")
MEASURED = {name: text for name, text in FORM.items() if name.startswith("o") or name == "seed"}


def with_table(client, fields, content=TABLE, name="Katalog.csv", **options):
    return client.post("/begin", data=fields, files={"pool": (name, content)}, **options)


def test_a_study_chooses_from_the_rows_of_a_table_that_is_sent_once(client, place):
    preview = with_table(client, MEASURED, headers=JSON).json()
    assert (preview["size"], preview["names"]) == (3, ["Säure", "Dosis (mL)"])
    assert preview["columns"] == ["Säure: one of several", "Dosis (mL): a number"]
    again = client.post("/begin", data=MEASURED | {"table": preview["table"]}, headers=JSON).json()
    assert again == preview
    client.post("/begin", data=MEASURED | {"table": preview["table"], "do": "begin"})
    assert rb.Study.resume(place).settings.space.rows == (("HCl", 0.5), ("HNO3", 0.25), ("HCl", 1.0))


def test_a_row_of_the_form_says_what_a_column_is_and_the_file_has_that_alone(client, tmp_path):
    row = {"p0.name": "Dosis", "p0.unit": "mL", "p0.low": "0,1", "p0.high": "10", "p0.log": "yes"}
    text = with_table(client, MEASURED | row | {"do": "toml", "constraints": "Dosis <= 0.6"}).text
    (tmp_path / "space.toml").write_text(text)
    (tmp_path / "Katalog.csv").write_bytes(TABLE)
    with open(tmp_path / "space.toml", "rb") as file, open(tmp_path / "Katalog.csv", "rb") as table:
        space = description_of(file, table).space
    assert dict(space.parameters)["Dosis (mL)"] == rb.Float(0.1, 10, log=True)
    assert space.texts == ["`Dosis (mL)` <= 0.6"]


@pytest.mark.parametrize(
    ("content", "name", "text"),
    [
        (b"", "empty.csv", "table.csv: there must be a line with the names"),
        (TABLE + b"HCl;1\n", "twice.csv", "the rows of a pool must differ"),
        (TABLE, "table.exe", "a table must be one of .csv"),
        (b"\x00\x01", "broken.csv", "cannot be read as CSV"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_there(client, content, name, text):
    answer = with_table(client, MEASURED, content, name, headers=JSON)
    assert (answer.status_code, answer.json()["field"]) == (422, "pool")
    assert text in answer.json()["error"]


def test_a_table_that_is_not_kept_any_more_is_said_and_an_empty_choice_is_none(client):
    answer = client.post("/begin", data=MEASURED | {"table": "gone"}, headers=JSON)
    assert "choose it again" in answer.json()["error"]
    assert client.post("/begin", data=FORM, files={"pool": ("", b"")}, headers=JSON).json()["table"] == ""


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"p3.values": ""}, "p3"),
        ({"p1.name": "heat", "p1.unit": "°C"}, "p1"),
        ({"constraints": "stages <= 3\nnothing <= 2"}, "constraints"),
        ({"o0.low": "high"}, "o0"),
        ({"o0.name": ""}, "o0"),
    ],
)
def test_what_is_wrong_is_said_with_the_row_that_it_is_of(client, change, field):
    assert client.post("/begin", data=FORM | change, headers=JSON).json()["field"] == field
    typed = client.post("/begin", data=FORM | change | {"do": "look"}, headers=JSON)
    assert (typed.status_code, typed.json()["field"]) == (200, field)


def test_a_name_that_may_be_mistyped_is_warned_of(place):
    with pytest.warns(JournalWarning, match="begins a new study there"):
        assert _bench_of(place) is None
