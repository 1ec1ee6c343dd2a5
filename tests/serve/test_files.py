"""Sheets go out and come in: what would be recorded is shown before anything is."""

import io
import re

import pytest

import robustbo as rb
from robustbo.serve.uploads import MOST, Uploads, plain_name
from tests.serve.conftest import JSON


def upload(client, text, name="plate.csv", **fields):
    return client.post("/sheet", files={"file": (name, text.encode())}, data=fields, headers=JSON)


@pytest.fixture
def sheet(client):
    """The sheet of what is to be measured, as it is downloaded."""
    return client.get("/download/to-measure.csv").text


def filled(sheet, *values):
    head, *rows = sheet.strip().splitlines()
    return "\n".join([head, *(row + value for row, value in zip(rows, values, strict=True))])


def test_a_sheet_is_shown_before_it_is_recorded(client, place, sheet):
    answer = upload(client, filled(sheet, "51", "the pump failed")).json()
    assert [(row["trial"], row["kind"], row["text"]) for row in answer["rows"]] == [
        (4, "new", "51 %"),
        (5, "failed", "the pump failed"),
    ]
    assert len(rb.Study.resume(place).history.having("pending")) == 2
    client.post("/sheet", data={"upload": answer["upload"], "shown": answer["digest"], "who": "Ann"})
    assert [rb.Study.resume(place).history[i].state for i in (4, 5)] == ["told", "failed"]
    assert [rb.Study.resume(place).history[i].labels["entered by"] for i in (4, 5)] == ["Ann", "Ann"]
    again = client.post("/sheet", data={"upload": answer["upload"], "shown": answer["digest"]}, headers=JSON)
    assert again.status_code == 410


def test_what_others_have_recorded_meanwhile_stops_it(client, place, sheet):
    answer = upload(client, filled(sheet, "51", "52")).json()
    client.post("/trials/4/tell", json={"value": 51})
    late = client.post("/sheet", data={"upload": answer["upload"], "shown": answer["digest"]}, headers=JSON)
    assert (late.status_code, "meanwhile" in late.json()["error"]) == (422, True)
    assert rb.Study.resume(place).history[5].state == "pending"


def test_a_value_that_has_changed_is_a_question_or_a_correction(client, place, sheet):
    client.post("/trials/4/tell", json={"value": 51})
    changed = filled(sheet, "53", "")
    assert "was told as 51.0" in upload(client, changed).json()["errors"][0]
    answer = upload(client, changed, amend="yes").json()
    assert answer["rows"][0]["kind"] == "correction"
    fields = {"upload": answer["upload"], "shown": answer["digest"], "amend": "yes"}
    client.post("/sheet", data=fields)
    assert rb.Study.resume(place).history[4].value == 53


def test_rows_of_somebodys_own_are_new_measurements(client, place, sheet):
    answer = upload(client, filled(sheet, "", "") + "\n,33.5,A,,44\n").json()
    assert answer["rows"][0]["kind"] == "new, not asked for"
    client.post("/sheet", data={"upload": answer["upload"], "shown": answer["digest"]})
    assert rb.Study.resume(place).history[6].params == {"heat (°C)": 33.5, "acid": "A"}


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("../../etc/passwd", "trial", "no suffix"),
        ("a.exe", "trial", "must be one of"),
        ("a.csv", "x,y\n1,2\n", "column 'trial'"),
        ("a.xlsx", "no workbook", "cannot be read as a workbook"),
        ("a.csv", "\0\0", "cannot be read as CSV"),
    ],
)
def test_what_is_no_sheet_is_refused(client, name, text, error):
    answer = upload(client, text, name)
    assert answer.status_code == 422
    assert error in answer.json()["error"]


def test_a_name_of_the_client_is_never_a_path():
    assert plain_name("..\\..\\lab.XLSX") == "sheet.xlsx"


def test_the_last_few_sheets_wait():
    uploads = Uploads()
    words = [uploads.keep("sheet.csv", b"%d" % i) for i in range(MOST + 1)]
    assert uploads.get(words[0]) is None
    assert uploads.get(words[-1]) == ("sheet.csv", b"%d" % MOST)


def test_the_preview_is_a_page_with_a_button(client, sheet):
    page = client.post("/sheet", files={"file": ("p.csv", filled(sheet, "51", "").encode())}).text
    assert re.search(r'name="shown" value="\w{16}"', page)


def test_all_trials_are_a_table(client):
    openpyxl = pytest.importorskip("openpyxl")
    answer = client.get("/download/trials.xlsx")
    assert answer.headers["content-disposition"] == 'attachment; filename="trials.xlsx"'
    rows = [*openpyxl.load_workbook(io.BytesIO(answer.content)).active.iter_rows(values_only=True)]
    assert len(rows) == 7
    assert client.get("/download/trials.csv").text.startswith("trial,")
