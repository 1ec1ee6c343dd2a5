"""Asks of other sources: of several outcomes, where a source alone fails, by level, beside a worker's error."""

import math
import warnings

import pandas as pd
import pytest

import robustbo as rb
from robustbo.loop.candidates.source_worth import source_feasibility
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.cache import FitCache

SPACE = rb.Space(x=rb.Float(0.0, 1.0))
SOURCES = {"lab": rb.Source(target=True), "simulator": rb.Source(cost=0.05)}
POINTS = [(i * 0.618) % 1 for i in range(16)]


def objective(x):
    return math.sin(6 * x)


def study(sources=SOURCES, **options):
    options = {"direction": "maximize", "seed": 3, "num_initial": 4, **options}
    return rb.Optimizer(SPACE, sources=sources, **options)


def test_of_several_outcomes_a_source_is_asked_by_what_it_is_worth_to_all_objectives():
    opt = study(direction=None, objectives={"a": "maximize", "b": "minimize"})
    for i, x in enumerate(POINTS[:8]):
        opt.tell({"x": x}, {"a": objective(x), "b": x}, source="lab" if i < 4 else "simulator")
    trial = opt.ask(source="simulator")
    assert (trial.source, trial.origin, trial.fallback) == ("simulator", "model", None)


def test_the_target_is_measured_where_a_source_that_is_right_says_the_best_is():
    """One of its points is recommended in the end: a cheap source alone would be asked for ever."""
    opt = study()
    for x in (0.55, 0.65, 0.75, 0.85, 0.95):  # the best is at 0.26
        opt.tell({"x": x}, objective(x), source="lab")
    for i, x in enumerate(POINTS):
        opt.tell({"x": x}, objective(x) + 0.1 * (-1) ** i, source="simulator")
    trial = opt.ask()
    assert trial.source == "lab"
    assert objective(trial.params["x"]) > 0.8


def test_a_source_that_fails_somewhere_is_asked_elsewhere_and_the_target_is_not_concerned():
    opt = study()
    for x in POINTS[:5]:
        opt.tell({"x": x}, objective(x), source="lab")
    for x in POINTS:
        if x > 0.5:
            opt.fail({"x": x}, source="simulator")
        else:
            opt.tell({"x": x}, objective(x), source="simulator")
    trials = [opt.ask(source="simulator") for _ in range(2)]
    assert all(trial.params["x"] < 0.6 for trial in trials)
    data = observations(opt.settings, opt.history)
    assert not data.failed
    chances = source_feasibility(opt.settings, data, "simulator", FitCache()).log_p([(0.1,), (0.9,)]).exp()
    assert chances[0] > 0.8 > 0.3 > chances[1]


def test_levels_share_their_first_rows_and_one_without_values_may_be_asked():
    sources = rb.fidelity_levels("epochs", [10, 30, 100])
    opt = study(sources=sources)
    for x in POINTS[:5]:
        opt.tell({"x": x}, objective(x), source="epochs=100")
    for x in POINTS[5:11]:
        opt.tell({"x": x}, objective(x) - 1.0 - x, source="epochs=10")
    trial = opt.ask(source="epochs=30")
    assert trial.origin == "model"
    opt.tell(trial, objective(trial.params["x"]) - 0.2)
    reports = {row["source"]: row for row in opt.sources().to_dict("records")}
    assert reports["epochs=10"]["relation"] == reports["epochs=30"]["relation"] != "unrelated"
    assert abs(reports["epochs=10"]["b"]) > abs(reports["epochs=30"]["b"])


def test_an_error_of_a_worker_is_corrected_beside_an_old_study():
    old = pd.DataFrame({"x": [i / 15 for i in range(16)]})
    old["value"] = [objective(x) + 2.0 for x in old["x"]]
    sources = {"lab": rb.Source(target=True), "2025": rb.Source(ask=False)}
    opt = study(sources, prior_data={"2025": old})
    for i, x in enumerate(POINTS):
        shift, noise = (0.8 if i % 3 == 1 else 0.0), 0.02 * math.sin(50 * i)
        opt.tell({"x": x}, objective(x) + shift + noise, source={"source": "lab", "worker": "ABC"[i % 3]})
    with warnings.catch_warnings():
        warnings.simplefilter("error", rb.SourceWarning)
        with pytest.raises(rb.SourceWarning, match="worker B reads"):
            opt.ask()
    assert opt.pending() == []  # nothing is recorded, and it is said once
    assert opt.ask().origin == "model"
    (report,) = opt.sources().to_dict("records")[:1]
    assert report["relation"] == "offset"
    assert report["b"] == pytest.approx(2.0, abs=0.1)
    assert opt.predict([{"x": 0.42}])["mean"][0] == pytest.approx(objective(0.42), abs=0.1)


def test_noise_that_is_told_for_some_counts_beside_a_source():
    opt = study(num_initial=2)
    for i, x in enumerate(POINTS):
        wild = 1.5 * math.sin(40 * i) if i % 2 else 0.0
        opt.tell({"x": x}, objective(x) + wild, sd=1.5 if i % 2 else None, source="lab")
    for x in POINTS[:6]:
        opt.tell({"x": x + 0.01}, math.cos(11 * x), sd=0.05, source="simulator")
    prediction = opt.predict([{"x": x} for x in POINTS[::2]])
    assert prediction["mean"].tolist() == pytest.approx([objective(x) for x in POINTS[::2]], abs=0.25)
