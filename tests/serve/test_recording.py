"""What is entered is recorded once, on the disk, and whoever comes second is told."""

import threading

import pytest

import robustbo as rb
from robustbo.serve.bench import Bench
from robustbo.serve.served import Served
from robustbo.serve.undo import events_of, last_word, take_back
from tests.serve.conftest import JSON


def recorded(place, number):
    """A trial as another process sees it."""
    return rb.Study.resume(place).history[number]


def test_a_form_records_what_people_write(client, place):
    fields = {"value.0": "61,5 %", "sd.0": "0,4", "note": "cloudy", "who": "Ana", "page": "work"}
    answer = client.post("/trials/4/tell", data=fields)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    trial = recorded(place, 4)
    assert (trial.value, trial.sd) == (61.5, 0.4)
    assert trial.labels == {"entered by": "Ana", "note": "cloudy"}


def test_a_bound_and_grouped_thousands_are_recorded_as_they_were_typed(client, place):
    answer = client.post("/trials/4/tell", data={"value.0": "<0,5"}, headers=JSON).json()
    assert (answer["value"], answer["text"]) == ("<0.5", "<0.5 %")
    assert str(recorded(place, 4).value) == "<0.5"
    answer = client.post("/trials/5/tell", data={"value.0": "1.234,5"}, headers=JSON).json()
    assert "got 1234.5 %" in answer["error"]  # which is beyond the possible range


def test_a_word_in_the_place_of_a_value_says_why_there_is_none(client, place):
    assert client.post("/trials/4/tell", data={"value.0": "the pump failed"}, headers=JSON).json()["state"] == "failed"
    assert recorded(place, 4).reason == "the pump failed"


def test_a_program_tells_a_number_and_where_it_was_measured(client, place):
    content = {"value": 61.5, "sd": 0.5, "n": 4, "source": {"reactor": "R3"}, "params": {"heat (°C)": 41.5}}
    answer = client.post("/trials/4/tell", json=content).json()
    assert (answer["value"], answer["source"], answer["n"]) == (61.5, {"reactor": "R3"}, 4)
    assert recorded(place, 4).params["heat (°C)"] == 41.5


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"value.0": ""}, "not filled in"),
        ({"value.0": "1,234"}, "may be 1.234 or 1234"),
        ({"value.0": "120"}, "possible range"),
        ({"value.0": "12 mg"}, "must be a number"),
        ({"value.0": "12", "sd.0": "wide"}, "must be a number"),
        ({"value.0": "12", "source": "a=1, a=2"}, "each kind once"),
    ],
)
def test_what_cannot_be_recorded_is_answered_by_what_to_do(client, place, fields, text):
    answer = client.post("/trials/4/tell", data=fields, headers=JSON)
    assert answer.status_code == 422
    assert text in answer.json()["error"]
    assert recorded(place, 4).state == "pending"
    page = client.post("/trials/4/tell", data=fields, headers={"Accept": "text/html"})
    assert (page.status_code, "Nothing was recorded" in page.text) == (422, True)


@pytest.mark.parametrize("is_program", [True, False])
def test_whoever_comes_second_is_told_and_nothing_is_lost(client, place, is_program):
    def tell(value):
        content = {"json": {"value": value}} if is_program else {"data": {"value.0": str(value)}}
        return client.post("/trials/4/tell", headers=JSON, **content)

    assert [tell(40.0).status_code, tell(40.0).status_code, tell(50.0).status_code] == [200, 200, 409]
    assert recorded(place, 4).value == 40.0
    assert tell(50.0).json()["recorded"]["value"] == 40.0
    more = client.post("/measurements", data={"trial": "4", "value.0": "50"}, headers=JSON).json()
    assert recorded(place, more["trial"]).value == 50.0
    assert recorded(place, more["trial"]).point == recorded(place, 4).point


def test_a_page_without_scripts_tells_the_second_what_they_typed(client):
    client.post("/trials/4/tell", data={"value.0": "40"})
    page = client.post("/trials/4/tell", data={"value.0": "51"}, headers={"Accept": "text/html"})
    assert page.status_code == 409
    assert all(text in page.text for text in ("Somebody was there before", "40 %", "51"))


def test_of_two_at_once_one_is_recorded_and_the_other_told(client, place):
    barrier, codes = threading.Barrier(2), []

    def tell(value):
        barrier.wait()
        codes.append(client.post("/trials/4/tell", json={"value": value}).status_code)

    threads = [threading.Thread(target=tell, args=(value,)) for value in (40.0, 50.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [200, 409]
    assert recorded(place, 4).value in (40.0, 50.0)


def test_a_trial_fails_is_withdrawn_and_waits_again(client, place):
    assert client.post("/trials/4/fail", data={"reason": ""}, headers=JSON).status_code == 422
    client.post("/trials/4/fail", data={"reason": "no flow", "who": "Ana", "because": "flake"})
    assert (recorded(place, 4).reason, recorded(place, 4).retry) == ("no flow (Ana)", True)
    client.post("/trials/5/withdraw", data={"reason": "used up"})
    assert recorded(place, 5).state == "withdrawn"
    answer = client.post("/trials/5/take-back", data={}, headers=JSON)
    assert (answer.status_code, answer.text) == (200, answer.text)
    assert recorded(place, 5).state == "queued"


def test_words_on_a_value_are_events_that_can_be_taken_back(client, place):
    for action, state, is_vouched in [("exclude", "excluded", False), ("include", "told", True)]:
        client.post(f"/trials/2/{action}", data={"reason": "the bottle leaked", "who": "Bo"})
        trial = recorded(place, 2)
        assert (trial.state, trial.is_vouched, trial.note) == (state, is_vouched, "the bottle leaked (Bo)")
        client.post("/trials/2/take-back", data={"who": "Bo"})
        assert (recorded(place, 2).state, recorded(place, 2).is_vouched) == ("told", False)
    before = recorded(place, 2).value
    client.post("/trials/2/amend", data={"value.0": "7,5", "reason": "a slip"})
    assert (recorded(place, 2).value, recorded(place, 2).note) == (7.5, "a slip")
    client.post("/trials/2/take-back", data={})
    assert recorded(place, 2).value == before
    assert client.post("/trials/3/take-back", data={}, headers=JSON).status_code == 422


def test_a_word_on_what_has_changed_meanwhile_is_not_recorded(client, place):
    seen = client.get("/trials/2", headers=JSON).json()["seen"]
    client.post("/trials/2/amend", data={"value.0": "7", "reason": "a slip", "seen": seen})
    answer = client.post("/trials/2/amend", data={"value.0": "8", "reason": "another", "seen": seen}, headers=JSON)
    assert (answer.status_code, recorded(place, 2).value) == (409, 7.0)


def test_a_point_is_measured_again_where_somebody_says_why(client, place):
    number = client.post("/trials/2/measure-again", data={"reason": "odd"}, headers=JSON).json()["trial"]
    assert recorded(place, number).params == recorded(place, 2).params
    assert recorded(place, number).labels["why"] == "trial 2 again: odd"


@pytest.mark.parametrize(
    ("address", "content", "status"),
    [
        ("/trials/99/tell", {"value": 1}, 404),
        ("/trials/-1/tell", {"value": 1}, 404),
        ("/trials/4/delete", {}, 404),
        ("/trials/4/tell", {}, 422),
        ("/trials/4/tell", {"value": True}, 422),
        ("/trials/4/tell", {"value": [1]}, 422),
        ("/trials/4/tell", {"value": 1, "labels": 3}, 422),
        ("/measurements", {"value": 1}, 422),
        ("/measurements", {"params": {"heat (°C)": 30}, "value": 1}, 422),
        ("/ask", {"n": 0}, 422),
        ("/ask", {"n": 1, "fixed": {"acid": "C"}}, 422),
    ],
)
def test_programs_are_told_what_is_wrong(client, address, content, status):
    answer = client.post(address, json=content)
    assert answer.status_code == status
    assert answer.json()["error"]


@pytest.mark.parametrize("body", [b"[" * 100_000, b"\xff", b"[1]", b'{"value": 1e999999}', b'{"a": 1, "a": 2}', b""])
def test_what_is_no_json_object_is_refused(client, body):
    answer = client.post("/trials/4/tell", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422, 200)
    assert client.get("/trials/4", headers=JSON).json()["value"] is None


def test_a_post_that_is_neither_form_nor_json_is_refused(client):
    answer = client.post("/trials/4/tell", content="value=1", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415


def test_a_correction_of_one_outcome_is_taken_back_alone(tmp_path):
    place = tmp_path / "two.jsonl"
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), objectives={"a": "maximize", "b": "minimize"}, seed=0, journal=place)
    opt.tell({"x": 0.5}, {"a": 1.0, "b": 2.0})
    opt.amend(0, {"a": 1.5})
    opt.amend(0, {"b": 9.0})
    events = events_of(str(place), 0)
    assert last_word(opt.history[0], events) == "amend"
    opt.tell({"x": 0.1}, {"a": 3.0})
    opt.amend(1, {"b": 4.0})
    assert last_word(opt.history[1], events_of(str(place), 1)) is None  # it had no value before
    bench = Bench(Served.resume(place), str(place))
    assert take_back(bench, 0, {}, str(place)).values == {"a": 1.5, "b": 2.0}


def test_after_a_word_is_taken_back_the_one_before_holds(client, place):
    for action in ("exclude", "include"):
        client.post(f"/trials/2/{action}", data={"reason": "the bottle leaked"})
    client.post("/trials/2/take-back", data={})
    assert recorded(place, 2).state == "excluded"
    client.post("/trials/5/fail", data={"reason": "no flow"})
    client.post("/trials/5/withdraw", data={"reason": "used up"})
    assert client.post("/trials/5/take-back", data={}, headers=JSON).status_code == 422  # it would not be failed again


def test_what_has_changed_meanwhile_is_not_taken_back(client, place):
    client.post("/trials/2/exclude", data={"reason": "the bottle leaked"})
    seen = client.get("/trials/2", headers=JSON).json()["seen"]
    client.post("/trials/2/amend", data={"value.0": "7", "reason": "a slip"})
    assert client.post("/trials/2/take-back", data={"seen": seen}, headers=JSON).status_code == 409
    assert recorded(place, 2).value == 7.0
    seen = client.get("/trials/2", headers=JSON).json()["seen"]
    assert client.post("/trials/2/take-back", data={"seen": seen}, headers=JSON).status_code == 200


@pytest.mark.parametrize("value", ["7,5", 7.5])
def test_a_program_amends_by_a_number_or_a_text(client, place, value):
    answer = client.post("/trials/2/amend", json={"value": value, "reason": "a slip"}, headers=JSON)
    assert (answer.status_code, recorded(place, 2).value) == (200, 7.5)
    assert client.post("/trials/4/tell", json={"value": 10**310}, headers=JSON).status_code == 422
