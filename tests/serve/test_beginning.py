"""A study is begun by a form: checked as it is typed, with its first points, and as TOML."""

import shlex
import sys

import pytest

import robustbo as rb
from robustbo.cli import main
from robustbo.cli.typed import description_of
from robustbo.errors import JournalWarning
from robustbo.serve.names import read_constraint
from robustbo.serve.plan import read_plan
from robustbo.serve.server import _bench_of
from tests.serve.conftest import FORM, JSON


@pytest.fixture
def place(new_place):
    return new_place


@pytest.fixture
def client(new_client):
    return new_client


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


SEVERAL = {"o1.name": "purity", "o1.goal": "keep its bounds", "o1.least": "95,5"}


@pytest.mark.parametrize("more", [{}, SEVERAL, SEVERAL | {"o2.name": "cost of all", "o2.goal": "minimize"}])
def test_the_file_has_the_command_that_begins_the_same_study(client, place, tmp_path, monkeypatch, more):
    text = client.post("/begin", data=FORM | more | {"do": "toml"}).text
    (tmp_path / "space.toml").write_text(text)
    program, *words = shlex.split(text.splitlines()[0].removeprefix("# "))
    assert program == "robustbo"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [program, *words])
    with pytest.raises(SystemExit, match="0"):
        main()
    client.post("/begin", data=FORM | more | {"do": "begin"})
    assert rb.Study.resume(tmp_path / "JOURNAL").settings == rb.Study.resume(place).settings


@pytest.mark.parametrize(
    ("text", "space"),
    [
        ("heat + stages <= 80", "`heat (°C)` + stages <= 80"),
        ("heat (°C) + stages <= 80", "`heat (°C)` + stages <= 80"),
        ("`heat (°C)` + stages <= 80", "`heat (°C)` + stages <= 80"),
        ("heat <= 75,5 °C", "`heat (°C)` <= 75.5"),
    ],
)
def test_constraints_are_written_with_or_without_units(text, space):
    assert read_plan(FORM | {"constraints": text}).space.texts == [space]


WHEN = FORM | {"p0.when": "solvent = DMF", "constraints": "", "p4.when": "stages = 2; 3 and solvent = DMF; THF"}


def test_a_parameter_may_exist_only_where_others_have_certain_values(client, place, tmp_path):
    preview = client.post("/begin", data=WHEN, headers=JSON).json()
    at = {name: preview["names"].index(name) for name in ("heat (°C)", "solvent", "dose (mL)")}
    for row in preview["rows"]:
        assert (row[at["heat (°C)"]] == "–") == (row[at["solvent"]] == "THF")  # noqa: RUF001
    text = client.post("/begin", data=WHEN | {"do": "toml"}).text
    (tmp_path / "space.toml").write_text(text)
    with open(tmp_path / "space.toml", "rb") as file:
        space = description_of(file, None).space
    assert space == read_plan(WHEN).space
    assert dict(space.parameters)["dose (mL)"].condition == (("stages", (2, 3)), ("solvent", ("DMF", "THF")))
    client.post("/begin", data=WHEN | {"do": "begin"})
    assert rb.Study.resume(place).settings.space == space
    page = client.get("/", headers={"Accept": "text/html"})
    assert page.status_code == 200


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("always", "must begin with the name of one of"),
        ("solvent", "write such as 'solvent = DMF; THF'"),
        ("solvent = ", "must have a value"),
        ("solvent = DMSO", "DMSO"),
        ("stages = 9", "stages"),
        ("heat = 30", "must begin with the name"),
        ("stages = 1 and solvnt = DMF", "solvnt"),
    ],
)
def test_a_condition_that_cannot_be_is_said_in_its_row(client, text, message):
    answer = client.post("/begin", data=FORM | {"p0.when": text, "constraints": ""}, headers=JSON).json()
    assert answer["field"] == "p0"
    assert message in answer["error"]


def test_only_what_has_few_values_decides_whether_another_parameter_exists(client):
    answer = client.post("/begin", data=FORM | {"p4.when": "heat = 30"}, headers=JSON).json()
    assert (answer["field"], "heat (°C) must be a choice" in answer["error"]) == ("p4", True)
    stepped = FORM | {"p4.when": "heat = 30,5", "p0.step": "0,5"}
    assert dict(read_plan(stepped).space.parameters)["dose (mL)"].condition == (("heat (°C)", (30.5,)),)


def test_a_list_of_names_keeps_its_commas():
    assert read_constraint("at most 1 of x1,2x", ["x1", "2x (g)"]) == "at most 1 of x1,`2x (g)`"


def test_a_unit_may_stand_behind_the_name(client):
    written = FORM | {"o0.name": "yield (%)", "o0.unit": "", "p0.name": "heat (°C)", "p0.unit": ""}
    assert read_plan(written).options["outcome"] == read_plan(FORM).options["outcome"]
    assert read_plan(written).space == read_plan(FORM).space


def test_several_outcomes_have_goals_and_bounds():
    more = {"o1.name": "purity", "o1.goal": "keep its bounds", "o1.least": "95,5"}
    settings = read_plan(FORM | more).begin(None).settings
    assert settings.goal == "maximize yield, purity >= 95.5"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"p0.low": ""}, "heat (°C): From must be filled in"),
        ({"p0.low": "cold"}, "heat (°C): From must be a number"),
        ({"o0.high": "1OO"}, "yield: Possible: to must be a number"),
        ({"p3.values": "DMF, THF"}, "with semicolons between, got 'DMF, THF'"),
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
