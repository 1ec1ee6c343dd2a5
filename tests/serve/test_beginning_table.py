"""A study is begun with the points of a table that is sent with the form."""

import pytest

import robustbo as rb
from robustbo.cli.typed import description_of
from tests.serve.conftest import FORM, JSON


@pytest.fixture
def place(new_place):
    return new_place


@pytest.fixture
def client(new_client):
    return new_client


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
