"""The page of what the model predicts: importance, maps and slices, through the best point or that of a trial."""

import pandas as pd
import pytest
from starlette.testclient import TestClient

import robustbo as rb
from robustbo.report.charts.chart import Chart
from robustbo.serve import model
from robustbo.serve.access import Access
from robustbo.serve.app import application
from robustbo.serve.bench import Bench
from robustbo.serve.model import Question, draw
from robustbo.serve.served import Served
from robustbo.view.importance import importance
from tests.serve.conftest import JSON, PORT

HTML = {"Accept": "text/html"}
PAIR = {"across": "heat (°C)", "up": "acid"}


def computed(client, bench, **query):
    """The page, once all is computed."""
    bench.wait_for(model.IMPORTANCE, model.shares_of)
    client.get("/model", params=query, headers=HTML)  # begins
    bench.wait_for("the last", lambda view: None)  # computations come one after the other
    return client.get("/model", params=query, headers=HTML)


def test_the_page_has_importance_maps_and_slices_of_the_two_that_matter_most(client, bench):
    assert "Being computed" in client.get("/model", headers=HTML).text
    page = computed(client, bench).text
    assert all(text in page for text in ("Which parameters matter", "Map of heat (°C) and acid", "Predicted yield (%)"))
    assert "The highest predicted yield on the map is" in page
    assert "to be measured: 2" in page  # the open trials
    assert "Being computed" not in page


def test_a_map_is_through_the_point_of_a_trial(client, bench):
    page = computed(client, bench, through="4", **PAIR).text
    assert "as at the point of trial 4." in page
    assert 'value="4"' in page


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"through": "99"}, 404),
        ({"through": "-1"}, 404),
        ({"through": "\u0664"}, 404),
        ({"across": "acid", "up": "acid"}, 422),
        ({"across": "<script>", "up": "acid"}, 422),
        ({"across": "acid"}, 422),
        ({"outcome": "cost"}, 422),
    ],
)
def test_what_is_none_of_this_study_is_refused(client, query, status):
    page = client.get("/model", params=query, headers=HTML)
    assert page.status_code == status
    assert "<script>" not in page.text


def test_programs_get_the_shares(client):
    shares = client.get("/model", headers=JSON).json()["importance"]["value"]
    assert {*shares} == {"heat (°C)", "acid"}
    assert shares["heat (°C)"] > shares["acid"]


def test_of_several_outcomes_each_has_a_map_and_what_cannot_move_is_said():
    space = rb.Space(a=rb.Float(0, 1), b=rb.Float(0, 1), c=rb.Float(0, 1), constraints=["a + b + c == 1"])
    objectives = {"yield": "maximize", "cost": "minimize"}
    opt = rb.Optimizer(space, objectives=objectives, surrogate="standard", acquisition="sobol", seed=0)
    for trial in opt.ask(5):
        opt.tell(trial, {"yield": trial.params["a"], "cost": trial.params["b"]})
    maps = draw(opt.view, Question("c", "b", "cost", None)).maps
    assert [type(chart) for chart in maps.charts.values()] == [Chart, Chart]
    assert "predicted cost" in maps.charts
    assert "a constraint is broken" in maps.guide
    drawing = draw(opt.view, Question("b", "a", "cost", 0))
    assert drawing.maps is None
    assert "a cannot move alone" in drawing.reason
    assert {*importance(opt.view)["cost"]} == {"b", "c"}


def test_the_first_objective_is_drawn_unless_another_outcome_is_chosen(tmp_path):
    place = tmp_path / "two.jsonl"
    rb.Optimizer(
        rb.Space(x=rb.Float(0, 1)), objectives={"yield": "maximize", "cost": "minimize"}, journal=place, seed=0
    )
    bench = Bench(Served.resume(place), place)
    client = TestClient(application(bench, Access(PORT, None), place), f"http://127.0.0.1:{PORT}")
    for query, chosen in (({}, "yield"), ({"outcome": "cost"}, "cost")):
        page = client.get("/model", params=query, headers=HTML)
        assert f'<option value="{chosen}" selected>' in page.text
    bench.close()


def test_a_pool_has_its_rows_on_the_map_and_no_slices(tmp_path):
    pool = rb.Pool(pd.DataFrame([{"acid": acid, "dose": dose} for acid in ("A", "B") for dose in (0.1, 0.5, 1.0, 2.0)]))
    opt = rb.Optimizer(pool, direction="maximize", surrogate="standard", journal=tmp_path / "pool.jsonl", seed=0)
    for trial in opt.ask(5):
        opt.tell(trial, trial.params["dose"])
    opt.ask()
    bench = Bench(Served.resume(tmp_path / "pool.jsonl"), "pool.jsonl")
    client = TestClient(application(bench, Access(PORT, None), "pool.jsonl"), f"http://127.0.0.1:{PORT}")
    page = computed(client, bench).text
    bench.close()
    assert all(text in page for text in ("Map of dose and acid", "Mark trial", "All marks in words"))
    assert all(f"acid {acid}, dose {dose}: predicted" in page for acid in "AB" for dose in ("0.1", "0.5", "1", "2"))
    assert "One parameter at a time" not in page
    assert "to be measured: 1" in page


def test_a_mark_says_in_words_what_is_believed_of_it(client, bench):
    page = computed(client, bench, **PAIR).text
    assert "the other 3 measurements predict" in page
    assert "nats" not in page


def test_what_does_not_exist_at_a_point_is_said():
    space = rb.Space(acid=rb.Choice("A", "B"), heat=rb.Float(0, 1), dose=rb.Float(0, 1, when={"acid": "B"}))
    opt = rb.Optimizer(space, direction="maximize", surrogate="standard", acquisition="sobol", seed=0)
    for trial in opt.ask(5):
        opt.tell(trial, 2.0 * (trial.params["acid"] == "A") + trial.params["heat"])
    drawing = draw(opt.view, Question("dose", "heat", None, None))
    assert (drawing.maps, drawing.reason) == (None, "dose exists only where acid is 'B'")


def test_before_any_value_nothing_is_drawn():
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0)
    assert draw(opt.view, Question("", "", None, None)).reason == model.NOT_YET
