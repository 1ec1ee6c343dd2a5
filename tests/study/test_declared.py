"""Studies with declared sources: told, asked, reported, resumed."""

import math

import pandas as pd
import pytest

import robustbo as rb
from robustbo.loop.observations.auxiliary import MOST
from robustbo.loop.observations.table import observations
from robustbo.replay.check.asks import verify_journal

SPACE = rb.Space(x=rb.Float(0.0, 1.0))
SOURCES = {"lab": rb.Source(target=True), "simulator": rb.Source(cost=0.05), "2025": rb.Source(ask=False)}
OLD = pd.DataFrame({"x": [i / 15 for i in range(16)]})


def objective(x):
    return math.sin(6 * x)


OLD["value"] = [objective(x) + 2.0 for x in OLD["x"]]


def study(**options):
    options = {"sources": SOURCES, "prior_data": {"2025": OLD}, "seed": 3, "num_initial": 4, **options}
    return rb.Optimizer(SPACE, direction="maximize", **options)


@pytest.fixture(scope="module")
def learned():
    """A study with an old one, of which the target has five values."""
    opt = study()
    for x in (0.05, 0.3, 0.55, 0.8, 0.95):
        opt.tell({"x": x}, objective(x), source="lab")
    return opt


def test_rows_of_one_table_may_be_of_several_sources():
    sources = {"lab": rb.Source(target=True), "sim": rb.Source(was={"y": 0.25})}
    table = pd.DataFrame({"x": [0.1, 0.2], "y": [0.5, None], "value": [1.0, 2.0], "source": ["lab", "sim"]})
    space = rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1))
    options = {"direction": "maximize", "sources": sources, "outcome": rb.Outcome("value", high=1.5)}
    opt = rb.Optimizer(space, prior_data=table, **options)
    assert [(trial.source, trial.params["y"], trial.value) for trial in opt.history] == [
        ("lab", 0.5, 1.0),
        ("sim", 0.25, 2.0),
    ]
    with pytest.raises(ValueError, match=r"source must be one of those declared, .* got 'smi'; did you mean 'sim'"):
        rb.Optimizer(space, prior_data=table.assign(source=["lab", "smi"], y=0.5, value=1.0), **options)


def test_recommendations_are_of_the_target_alone(learned):
    assert len(learned.history) == 21
    assert learned.best().trial.source == "lab"
    assert learned.best(raw=True).trial.source == "lab"
    assert {outlier.trial.source for outlier in learned.outliers()} == {"lab"}


def test_sources_say_what_each_says_of_the_target(learned):
    frame = learned.sources()
    assert frame["source"].tolist() == ["simulator", "2025"]
    assert frame["relation"].tolist() == ["", "offset"]
    assert frame["b"][1] == pytest.approx(2.0, abs=0.1)
    assert frame["trials"][1] == tuple(range(16))
    sentences = str(frame).splitlines()
    assert sentences[0] == "simulator: nothing is known yet"
    assert sentences[1].startswith("2025 reads 2.0")
    assert "higher, otherwise the same; probability 0.9" in sentences[1]


def test_the_objective_is_predicted_by_what_the_old_study_says(learned):
    prediction = learned.predict([{"x": 0.17}, {"x": 0.42}])
    assert prediction["mean"].tolist() == pytest.approx([objective(0.17), objective(0.42)], abs=0.15)


def test_an_ask_is_of_the_target_until_another_is_named():
    opt = study(prior_data=None)
    trial = opt.ask()
    assert (trial.source, trial.origin) == ("lab", "sobol")
    simulated = opt.ask(source="simulator")
    assert simulated.source == "simulator"
    assert opt.tell(simulated, 1.0).source == "simulator"
    with pytest.raises(ValueError, match="at least one told value"):
        opt.best()  # the simulator's value is none of the target's
    with pytest.raises(ValueError, match="declared with ask=False"):
        opt.ask(source="2025")
    with pytest.raises(ValueError, match="source must be one of those declared"):
        opt.ask(source="simulatr")
    with pytest.raises(ValueError, match="source must be one of those declared"):
        opt.tell({"x": 0.5}, 1.0, source="R3")
    with pytest.raises(ValueError, match="source or by, got both"):
        opt.ask(source="simulator", by="simulator")


def test_a_journal_is_resumed_and_decides_the_same(tmp_path):
    place = tmp_path / "study.jsonl"
    opt = study(journal=place)
    for x in (0.05, 0.3, 0.55, 0.8, 0.95):
        opt.tell({"x": x}, objective(x))
    asks = [opt.ask() for _ in range(2)]
    assert [(trial.source, trial.origin) for trial in asks] == [("lab", "model"), ("simulator", "sobol")]
    assert not any(trial.fallback for trial in asks)
    for trial in asks:
        opt.tell(trial, objective(trial.params["x"]))
    assert verify_journal(place).bits == 2
    again = rb.Optimizer.resume(place)
    assert again.settings == opt.settings
    assert again.history == opt.history
    assert again.best() == opt.best()
    same = rb.Optimizer(
        SPACE,
        direction="maximize",
        sources=SOURCES,
        prior_data={"2025": OLD},
        num_initial=4,
        journal=place,
        if_exists="resume",
    )
    assert len(same.history) == len(again.history)


def test_without_sources_a_table_by_source_is_refused():
    with pytest.raises(ValueError, match="needs declared sources"):
        rb.Optimizer(SPACE, direction="maximize", prior_data={"2025": OLD}, seed=0)
    with pytest.raises(ValueError, match="source must be declared"):
        rb.Optimizer(SPACE, direction="maximize", seed=0).ask(source="simulator")
    with pytest.raises(ValueError, match="sources need the surrogate"):
        study(surrogate="standard")


def test_trials_of_other_sources_are_aside_in_the_table_of_decisions():
    opt = study()
    opt.tell({"x": 0.5}, 1.0)
    opt.fail({"x": 0.25})
    data = observations(opt.settings, opt.history)
    assert [trial.number for trial in data.told] == [16]
    assert sorted(data.all_observations().beside.numbers) == [*range(16)]
    assert len(data.trials.by_point) == 2
    assert MOST > 16


def test_a_value_of_one_source_does_not_end_the_trial_of_another():
    opt = study(prior_data=None)
    trial = opt.ask(source="lab")
    simulated = opt.tell(trial.params, 1.0, source="simulator")
    assert simulated.number != trial.number
    assert opt.pending() == [opt.history[trial.number]]
    table = pd.DataFrame([{**trial.params, "value": 2.0, "source": "simulator"}, {**trial.params, "value": 3.0}])
    rows = opt.tell_frame(table, source="source")
    assert [row.number == trial.number for row in rows] == [False, True]


def test_the_function_of_optimize_is_the_targets():
    opt = study(prior_data=None)
    opt.optimize(lambda params: objective(params["x"]), 6, progress=False)
    assert {trial.source for trial in opt.history} == {"lab"}


def test_a_named_reactor_measures_the_target():
    opt = study(prior_data=None)
    assert opt.ask(by={"reactor": "R3"}).sources == {"reactor": "R3", "source": "lab"}


def test_by_unrelated_sources_nothing_is_predicted_and_all_is_said():
    """To the bit: a skewed objective's warp, which the model beside sources lacks, is not lost either."""
    x = [(7 * i % 16) / 15 for i in range(12)]
    alone, beside = (
        study(sources=None, prior_data=None),
        study(prior_data={"2025": OLD.assign(value=[0, 9, 1] * 5 + [4])}),
    )
    for opt in (alone, beside):
        for at in x:
            opt.tell({"x": at}, math.exp(2 * objective(at)), **({} if opt is alone else {"source": "lab"}))
    points = [{"x": 0.17}, {"x": 0.42}]
    assert beside.predict(points)["mean"].tolist() == alone.predict(points)["mean"].tolist()
    assert beside.sources()["relation"].tolist() == ["", "unrelated"]
    assert beside.ask().origin == "model"
