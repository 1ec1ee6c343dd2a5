"""What measurements have cost, of a budget and by source; and what could still be won."""

import math
import re

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import RobustBOError
from robustbo.serve import pages
from robustbo.serve.costs import cost_summary
from robustbo.serve.extras import Extras
from robustbo.serve.overviews import progress
from robustbo.serve.server import serve
from robustbo.serve.why import gain_text
from tests.serve.conftest import JSON

SPACE = rb.Space(x=rb.Float(0, 1))


def test_a_budget_counts_what_was_measured_and_not_what_was_there_before_or_was_withdrawn():
    opt = rb.Optimizer(SPACE, direction="minimize", prior_data=pd.DataFrame({"x": [0.5], "value": [1.0]}), seed=0)
    first, second, third, _ = opt.ask(4)
    opt.tell(first, 1.0)
    opt.fail(second, "no flow")
    opt.withdraw(third, "no reagent")
    assert cost_summary(opt.settings, opt.history, 10.0) == ("2 of a budget of 10 are spent: 8 are left.", None)
    assert cost_summary(opt.settings, opt.history, 2.0)[0] == "2 of a budget of 2 are spent: the budget is spent."
    assert cost_summary(opt.settings, opt.history, math.inf) == ("", None)


def test_sources_have_costs_of_their_own():
    sources = {"lab": rb.Source(target=True, cost=2.0), "simulator": rb.Source(cost=0.05)}
    opt = rb.Optimizer(SPACE, direction="minimize", sources=sources, seed=0)
    for _ in range(2):
        opt.tell(opt.ask(source="simulator"), 1.0)
    opt.tell(opt.ask(source="lab"), 1.0)
    sentence, table = cost_summary(opt.settings, opt.history, math.inf)
    assert sentence == "Measurements so far cost 2.1."
    assert table.rows == [["lab", 1, "2"], ["simulator", 2, "0.1"]]


def test_progress_says_what_is_spent_and_what_open_points_promise(client, bench):
    bench.extras = Extras(budget=40)
    trial = client.post("/ask", json={"n": 3}).json()["trials"][-1]
    assert bench.opt.history[trial["trial"]].origin == "model"
    bench.wait_for(pages.PROGRESS, lambda view: progress(view, bench.opt))
    page = client.get("/progress", headers={"Accept": "text/html"}).text
    assert "4 of a budget of 40 are spent: 36 are left." in page
    assert re.search("Of the points to be measured trial [0-9] promises most: .* % on the average", page)
    assert client.get("/", headers=JSON).status_code == 200


def test_gains_have_units_and_of_several_objectives_they_are_hypervolume(bench):
    assert gain_text(bench.opt.view, 1.25) == "1.2 %"
    outcome = [rb.Outcome("a", unit="mg")]
    one = rb.Optimizer(SPACE, objectives={"a": "maximize"}, outcome_constraints=["b <= 1"], outcome=outcome, seed=0)
    assert gain_text(one.view, 1.25) == "1.2 mg"
    opt = rb.Optimizer(SPACE, objectives={"a": "maximize", "b": "minimize"}, seed=0)
    assert gain_text(opt.view, 1.25) == "1.2 of hypervolume"


def test_a_budget_must_be_above_nothing(place):
    with pytest.raises(RobustBOError, match="--budget must be a number above 0, got -1"):
        serve(place, print, budget=-1)
