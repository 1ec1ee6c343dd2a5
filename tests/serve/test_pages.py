"""The pages: what they say, and that whatever people write is text there."""

import math
import re

import pytest

import robustbo as rb
from robustbo.loop.belief.judge import Outlier
from robustbo.report.summary.text_evidence import evidence_text, surprise
from robustbo.serve import pages
from robustbo.serve.beliefs import belief
from robustbo.serve.description import GETS, POSTS
from robustbo.serve.why import why
from robustbo.trials.trial import Trial
from tests.serve.conftest import JSON, begun

HTML = {"Accept": "text/html"}
PAGES = ("/", "/values", "/progress", "/trials/2", "/trials/4", "/print", "/api", "/login")
EVIL = "<script>alert(1)</script>'\"><img src=x onerror=alert(1)>"


@pytest.mark.parametrize("address", PAGES)
def test_a_page_has_no_script_or_style_of_its_own(client, address):
    page = client.get(address, headers=HTML)
    assert page.status_code == 200
    assert not re.search(r"<script(?! type=\"module\" src=\"/static/)|<style|\son\w+=|\sstyle=", page.text)


@pytest.mark.parametrize("address", ["/", "/trials/4", "/trials/2", "/values"])
def test_what_people_write_is_text(client, bench, address):
    client.post("/trials/4/tell", data={"value.0": "50", "note": EVIL, "who": EVIL})
    client.post("/trials/2/exclude", data={"reason": EVIL})
    client.post("/trials/5/fail", data={"reason": EVIL})
    if address == "/values":
        bench.wait_for(pages.BELIEF, belief)
    page = client.get(address, headers=HTML).text
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert "<img" not in page


def test_the_table_says_what_is_to_be_measured_with_units(client):
    page = client.get("/", headers=HTML).text
    assert all(text in page for text in ("heat (°C)", "yield (%)", "Trial 4", "Ana", "/download/to-measure.xlsx"))


def test_values_are_shown_with_what_the_others_predict(client, bench):
    assert "Being computed" in client.get("/values", headers=HTML).text
    rows = client.get("/values", headers=JSON).json()["values"]
    assert {row["trial"] for row in rows} == {0, 1, 2, 3}
    page = client.get("/values", headers=HTML).text
    assert "believed" in page or "looks wrong" in page
    assert "Being computed" not in page


def test_a_step_in_time_and_values_that_look_wrong_together_are_said(tmp_path):
    space = rb.Space(x=rb.Float(0, 1))
    opt = rb.Optimizer(space, direction="maximize", seed=0, surrogate="relevance-pursuit", acquisition="sobol")
    for i in range(24):
        x = (0.38 * i) % 1
        opt.tell({"x": x}, math.sin(3 * x) + 5 * (i >= 18), source={"reactor": f"R{i % 2}"})
    result = belief(opt.view)
    assert "reads 5" in result.sources.sentences[0]
    assert "nats" not in " ".join(result.sources.table.header)
    by_trial = {row.trial.number: row for row in result.rows}
    assert "too high since trial 18" in by_trial[20].errors
    assert (by_trial[3].errors, by_trial[3].source) == ("", "reactor R1")


def test_a_trial_says_why_it_was_asked_for_and_what_happened_to_it(client, bench):
    bench.wait_for("why 4", lambda view: why(view, 4))
    page = client.get("/trials/4", headers=HTML).text
    assert "It fills the space" in page
    assert "A new value of yield is predicted to be" in page
    client.post("/trials/2/amend", data={"value.0": "7", "reason": "a slip"})
    page = client.get("/trials/2", headers=HTML).text
    assert "Corrected: 7 %: a slip" in page
    assert "Take the last word back" in page


def test_progress_and_best_are_those_of_reports(client, bench):
    best = client.get("/best", headers=JSON).json()["incumbent"]
    from robustbo.serve.overviews import progress

    bench.wait_for(pages.PROGRESS, lambda view: progress(view, bench.opt))
    page = client.get("/progress", headers=HTML).text
    assert f"is that of trial {best['trial']}" in page
    assert "Values by trial" in page
    assert "<svg" in page


def test_several_outcomes_have_a_cell_each(tmp_path):
    from starlette.testclient import TestClient

    from robustbo.serve.access import Access
    from robustbo.serve.app import application
    from robustbo.serve.bench import Bench
    from robustbo.serve.served import Served

    space = rb.Space(x=rb.Float(0, 1))
    opt = rb.Optimizer(
        space, objectives={"yield": "maximize", "cost": "minimize"}, journal=tmp_path / "j.jsonl", seed=0
    )
    opt.ask(2)
    bench = Bench(Served.resume(tmp_path / "j.jsonl"), "j.jsonl")
    client = TestClient(application(bench, Access(80, None), tmp_path / "j.jsonl"), "http://127.0.0.1:80")
    page = client.get("/", headers=HTML).text
    assert "yield of trial 0" in page
    assert "cost of trial 1" in page
    answer = client.post("/trials/0/tell", data={"value.0": "0,5"}, headers=JSON)
    assert "waits for cost" in answer.json()["error"]
    answer = client.post("/trials/0/tell", data={"value.0": "0,5", "value.1": "3"}, headers=JSON)
    assert answer.json()["outcomes"]["cost"]["value"] == 3.0
    client.post("/trials/0/exclude", data={"outcome": "cost", "reason": "odd"}, headers=JSON)
    assert bench.opt.history[0].outcomes["cost"].is_excluded
    client.post("/trials/0/take-back", headers=JSON)
    assert not bench.opt.history[0].outcomes["cost"].is_excluded


@pytest.mark.parametrize(
    "address", ["/nothing", "/trials/99", "/static/../app.py", "/static/%2e%2e/app.py", "/download/a.csv"]
)
def test_nothing_else_is_there(client, address):
    assert client.get(address, headers=JSON).status_code == 404


def test_the_description_has_every_address(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert {*paths} == {*GETS, *POSTS}
    routes = {re.sub(":\\w+}", "}", route.path) for route in client.app._app.routes}
    assert {path for path in paths if not path.startswith("/trials/{number}/")} <= routes


def test_the_report_is_that_of_the_command_line(client):
    page = client.get("/report", headers=HTML)
    assert "The best recipe" in page.text
    assert "sha256" in page.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (66.5, "the other 31 measurements predict 62 to 71 % here, and 66.5 % agrees with that"),
        (9.3, "62 to 71 % here; 9.3 % would be a surprise that is rarer than one in a million"),
        (76.1, "76.1 % would be a surprise that is one in 30,000"),
    ],
)
def test_evidence_in_words_of_a_chemist(value, text):
    outlier = Outlier(Trial(7, {}), value, 66.5, 2.3, 9.0, 0.9, "flagged", quantity=rb.Outcome("yield", unit="%"))
    assert evidence_text(outlier, 31).endswith(text)


def test_a_surprise_is_the_tail_of_a_normal_distribution_on_both_sides():
    assert surprise(Outlier(Trial(7, {}), 1.959964, 0.0, 1.0, 0.0, 0.0, "inlier")) == pytest.approx(20, rel=1e-6)
    assert surprise(Outlier(Trial(7, {}), 1.0, 0.0, 0.0, 0.0, 0.0, "inlier")) == float("inf")


def test_a_study_without_values_has_its_pages(tmp_path):
    place = begun(tmp_path / "other.jsonl")
    assert why(rb.Study.resume(place).view, 5).sentences[0].startswith("It fills the space")
