"""Studies beside each other: their best so far together, as they are now, and what another study's trouble does."""

import pytest
from starlette.testclient import TestClient

import robustbo as rb
from robustbo.serve.access import Access
from robustbo.serve.app import application
from robustbo.serve.bench import Bench
from robustbo.serve.extras import Extras
from robustbo.serve.served import Served
from tests.serve.conftest import HOST, JSON, PORT, begun

HTML = {"Accept": "text/html"}


@pytest.fixture
def other(tmp_path):
    return begun(tmp_path / "last year.jsonl", seed=1)


@pytest.fixture
def compared(place, other):
    bench = Bench(Served.resume(place), place, Extras([("last year.jsonl", rb.Study.resume(other))]))
    yield bench, TestClient(application(bench, Access(PORT, None), place), f"http://{HOST}")
    bench.close()


def test_the_best_of_each_is_drawn_together_and_kept_up_to_date(compared, place, other):
    bench, client = compared
    studies = client.get("/compare", headers=JSON).json()["studies"]
    assert [(study["journal"], study["told"]) for study in studies] == [("1: lab.jsonl", 4), ("2: last year.jsonl", 4)]
    page = client.get("/compare", headers=HTML).text
    assert "yield (%, maximize): the best so far" in page.replace("Yield", "yield")
    assert page.count("<polyline") == 2
    before = bench.state()["version"]
    rb.Optimizer.resume(other).tell(4, 99)
    assert "Being computed with the latest values" in client.get("/compare", headers=HTML).text
    assert bench.state()["version"] != before  # which tells open pages
    studies = client.get("/compare", headers=JSON).json()["studies"]
    assert [study["told"] for study in studies] == [4, 5]
    assert "Being computed" not in client.get("/compare", headers=HTML).text


def test_what_is_believed_is_not_computed_anew_for_what_others_record(compared, other):
    bench, _ = compared
    assert bench.wait_for("count", lambda view: len(view.history)) == 6
    rb.Optimizer.resume(other).tell(4, 99)
    assert bench.latest("count", lambda view: len(view.history)) == (6, True)


def test_a_journal_that_is_damaged_is_said_on_that_page_alone(compared, other):
    _, client = compared
    other.write_text("no journal\n")
    answer = client.get("/compare", headers=HTML)
    assert (answer.status_code, "last year.jsonl" in answer.text) == (422, True)
    assert client.get("/", headers=HTML).status_code == 200


def test_without_others_the_page_says_how_to_have_them(client):
    page = client.get("/compare", headers=HTML).text
    assert "--beside" in page
    assert ">Compare</a>" not in page


def test_of_several_objectives_the_hypervolume_is_drawn(tmp_path):
    places = [tmp_path / f"{seed}.jsonl" for seed in range(2)]
    for seed, journal in enumerate(places):
        opt = rb.Optimizer(
            rb.Space(x=rb.Float(0, 1)),
            objectives={"yield": "maximize", "cost": "minimize"},
            surrogate="standard",
            journal=journal,
            seed=seed,
        )
        for trial in opt.ask(5):
            opt.tell(trial, {"yield": trial.params["x"], "cost": trial.params["x"] ** 2})
    bench = Bench(Served.resume(places[0]), places[0], Extras([("old.jsonl", rb.Study.resume(places[1]))]))
    client = TestClient(application(bench, Access(PORT, None), places[0]), f"http://{HOST}")
    studies = client.get("/compare", headers=JSON).json()["studies"]
    page = client.get("/compare", headers=HTML).text
    bench.close()
    assert all(study["believed"].startswith("hypervolume ") for study in studies)
    assert "Yield (maximize) and cost (minimize): the hypervolume so far" in page
    assert page.count("<polyline") == 2
