"""Sources on the page: those typed are those that programs tell, and a trial keeps its own."""

import pytest
from starlette.testclient import TestClient

import robustbo as rb
from robustbo.serve.access import Access
from robustbo.serve.app import application
from robustbo.serve.bench import Bench
from robustbo.serve.served import Served
from tests.serve.conftest import HOST, JSON, PORT, TOKEN, begun

SOURCES = {"lab": rb.Source(target=True), "sim": rb.Source(cost=0.05)}
OF_SIM = {"source": "sim"}


@pytest.fixture
def declared(tmp_path):
    """A client of a study with a simulator, of which it has asked for a value that is recorded."""
    place = tmp_path / "declared.jsonl"
    settings = {"direction": "maximize", "seed": 0, "num_initial": 4, "sources": SOURCES}
    opt = rb.Optimizer(rb.Space(t=rb.Float(20, 90)), journal=place, **settings)
    opt.tell(opt.ask(source="sim"), 5.0)
    bench = Bench(Served.resume(place), str(place))
    client = TestClient(application(bench, Access(PORT, TOKEN), place), f"http://{HOST}", follow_redirects=False)
    client.headers["Authorization"] = f"Bearer {TOKEN}"
    yield client
    bench.close()


def post(client, address, **fields):
    return client.post(address, data={name.replace("__", "."): text for name, text in fields.items()}, headers=JSON)


def test_one_more_measurement_is_of_the_same_source(declared):
    assert post(declared, "/trials/0/tell", value__0="7").status_code == 409
    assert post(declared, "/measurements", trial="0", value__0="7").json()["source"] == OF_SIM
    assert post(declared, "/measurements", trial="0", value__0="7", source="lab").json()["source"] == {"source": "lab"}


def test_one_more_measurement_may_fail(declared):
    answer = post(declared, "/measurements", trial="0", value__0="the pump stopped", note="late").json()
    assert (answer["state"], answer["reason"], answer["source"]) == ("failed", "the pump stopped", OF_SIM)
    assert answer["labels"] == {"note": "late"}
    assert "no trial to withdraw" in post(declared, "/measurements", trial="0", value__0="withdrawn").json()["error"]


def test_whatever_was_typed_is_kept_for_the_second(declared):
    fields = {"value.0": "7", "sd.0": "0,5", "source": "lab", "note": "cloudy"}
    page = declared.post("/trials/0/tell", data=fields, headers={"Accept": "text/html"}).text
    assert all(f'name="{name}" value="{text}"' in page for name, text in fields.items())


def test_a_simulation_is_measured_again_by_the_simulator(declared):
    number = post(declared, "/trials/0/measure-again", reason="odd").json()["trial"]
    asked = declared.post("/ask", json={"n": 1}).json()["trials"][0]
    assert (asked["trial"], asked["source"]) == (number, OF_SIM)


def test_a_source_that_is_not_declared_is_refused(declared):
    answer = post(declared, "/measurements", trial="0", value__0="7", source="siim")
    assert "must be one of those declared" in answer.json()["error"]


def test_a_name_is_of_the_kind_that_programs_have_told(client):
    client.post("/trials/4/tell", json={"value": 40.0, "source": {"reactor": "R3"}})
    assert post(client, "/trials/5/tell", value__0="41", source="R4").json()["source"] == {"reactor": "R4"}
    content = {"params": {"heat (°C)": 30, "acid": "A"}, "value": 1, "source": "R3"}
    assert client.post("/measurements", json=content).json()["source"] == {"reactor": "R3"}


def test_a_kind_that_may_be_misspelt_gives_a_warning(client):
    client.post("/trials/4/tell", json={"value": 40.0, "source": {"reactor": "R3"}})
    with pytest.warns(rb.SourceWarning, match="did you mean 'reactor'"):
        post(client, "/trials/5/tell", value__0="41", source="reactr=R4")


def test_a_value_that_a_source_has_changed_is_the_same_when_it_is_sent_again(client, bench):
    client.post("/trials/4/tell", json={"value": 40.0, "source": {"reactor": "R3"}})
    bench.opt.correct(source={"reactor": "R3"}, error=5.0)
    assert bench.opt.history[4].value == 35.0
    assert client.post("/trials/4/tell", json={"value": 40.0}).status_code == 200
    assert client.post("/trials/4/tell", json={"value": 35.0}).status_code == 409


def test_a_page_that_was_opened_before_a_change_fixes_what_it_shows(tmp_path):
    place = begun(tmp_path / "study.jsonl")
    bench = Bench(Served.resume(place), str(place))
    client = TestClient(application(bench, Access(PORT, TOKEN), place), f"http://{HOST}", follow_redirects=False)
    client.headers["Authorization"] = f"Bearer {TOKEN}"
    assert 'name="fixed.heat (°C)"' in client.get("/").text
    space = rb.Space(**{"stir": rb.Float(1, 90), "heat (°C)": rb.Float(20, 80), "acid": rb.Choice("A", "B")})
    bench.opt.change(space, was={"stir": 2.0})
    client.post("/ask", data={"n": "1", "fixed.heat (°C)": "41,5"})
    bench.wait_for("the ask", lambda view: None)
    bench.close()
    assert rb.Study.resume(place).history[6].params["heat (°C)"] == 41.5
    assert "no such parameter" in post(client, "/ask", n="1", fixed__0="41,5").json()["error"]
