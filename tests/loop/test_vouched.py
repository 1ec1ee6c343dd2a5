"""A value that the user vouches for is believed, whatever the model says."""

import json

import pytest

import robustbo as rb
from robustbo.report.summary.overview import overview
from robustbo.study.lines import line_of
from robustbo.trials.history import History
from robustbo.trials.trial import Measured
from robustbo.view.view import View

WRONG = 2  # trial; the value is 30 where the others predict 7.6


def optimizer(journal=None, **settings):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", seed=0, journal=journal, **settings)
    for i in range(9):
        opt.tell({"x": i / 8}, 30.0 if i == WRONG else round(10 - 20 * (i / 8 - 0.6) ** 2, 2))
    return opt


def said_of(opt):
    (found,) = [o for o in opt.outliers() if o.trial.number == WRONG]
    return found


def test_it_is_modelled_as_any_other_value_and_may_be_the_best():
    opt = optimizer()
    assert (said_of(opt).status, opt.best().trial.number) == ("flagged", 5)
    assert opt.predict({"x": WRONG / 8}).mean < 10
    opt.include(WRONG, reason="read twice")
    found = said_of(opt)
    assert (found.status, found.flagged, found.probability_wrong) == ("vouched for", False, 0.0)
    assert opt.best().trial.number == WRONG
    assert opt.predict({"x": WRONG / 8}).mean == pytest.approx(30, abs=0.5)
    assert opt.history[WRONG].note == "read twice"


def test_among_more_values_too_it_is_no_noise():
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", seed=0)
    for i in range(17):
        opt.tell({"x": i / 16}, 30.0 if i == WRONG else round(10 - 20 * (i / 16 - 0.6) ** 2, 2))
    opt.include(WRONG)
    assert opt.predict({"x": WRONG / 16}).mean > 20


@pytest.mark.parametrize(
    "surrogate", ["student-t", "student-t-process", "conjugate", "committee", "standard", "filtered"]
)
def test_every_surrogate_heeds_it(surrogate):
    opt = optimizer(surrogate=surrogate)
    opt.include(WRONG)
    assert (said_of(opt).status, opt.best().trial.number) == ("vouched for", WRONG)


def test_a_filter_leaves_it_in():
    options = {"start": 5, "every": 1, "tail": 0.2}
    opt = optimizer(surrogate="filtered", surrogate_options=options)
    assert opt.predict({"x": WRONG / 8}).mean < 15
    opt.include(WRONG)
    assert opt.predict({"x": WRONG / 8}).mean > 20


@pytest.mark.parametrize("take_back", ["exclude", "amend"])
def test_the_word_is_taken_back_by_another(take_back):
    opt = optimizer()
    opt.include(WRONG, reason="read twice")
    if take_back == "exclude":  # with a reason of its own
        opt.exclude(WRONG, reason="the oven was open")
        assert (opt.history[WRONG].note, opt.best().trial.number) == ("the oven was open", 5)
    else:
        opt.amend(WRONG, 31.0)
        assert said_of(opt).flagged
        assert opt.history[WRONG].note is None
    assert not opt.history[WRONG].is_vouched


def test_it_is_in_the_journal_and_survives_a_resume(tmp_path):
    opt = optimizer(tmp_path / "j.jsonl")
    opt.exclude(WRONG)
    opt.include(WRONG, reason="read twice")
    lines = [json.loads(line) for line in (tmp_path / "j.jsonl").read_text().splitlines()]
    assert next(line for line in lines if line.get("event") == "include")["vouch"] is True
    resumed = rb.Optimizer.resume(tmp_path / "j.jsonl")
    assert resumed.history == opt.history
    assert resumed.predict({"x": 0.3}) == opt.predict({"x": 0.3})
    assert (said_of(resumed).status, resumed.best().trial.number) == ("vouched for", WRONG)


def test_an_inclusion_of_an_older_journal_takes_an_exclusion_back_and_no_more():
    events = [
        {"event": "ask", "trial": 0, "params": {"x": 0.5}, "expected": 1.0, "expected_sd": 0.1},
        {"event": "tell", "trial": 0, "value": 9.0, "sd": None},
        {"event": "exclude", "trial": 0},
        {"event": "include", "trial": 0},
    ]
    trial = History().apply_all(events)[0]
    assert (trial.state, trial.expectation, trial.is_vouched) == ("told", None, False)


def test_of_several_outcomes_one_or_all_may_have_the_word():
    goals = {"y": "maximize", "cost": "minimize"}
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), objectives=goals, seed=0)
    for i in range(9):
        opt.tell({"x": i / 8}, {"y": 30.0 if i == WRONG else round(10 - 20 * (i / 8 - 0.6) ** 2, 2), "cost": i / 8})
    opt.include(WRONG, outcome="y")
    status = {o.outcome: o.status for o in opt.outliers() if o.trial.number == WRONG}
    assert status == {"y": "vouched for", "cost": "inlier"}
    opt.include(WRONG)
    assert {o.status for o in opt.outliers() if o.trial.number == WRONG} == {"vouched for"}
    opt.exclude(WRONG, outcome="y", reason="the oven was open")
    assert opt.history[WRONG].outcomes["y"].is_vouched is False
    with pytest.raises(ValueError, match="must be told to exclude it, it is excluded already"):
        opt.exclude(WRONG, outcome="y")
    assert line_of(opt.history[WRONG]).endswith("y excluded, cost vouched for (the oven was open)")
    (row,) = overview(View(opt.settings, opt.history))["excluded"]
    assert (row["outcome"], row["reason"]) == ("y", "the oven was open")
    opt.include(WRONG)
    assert opt.history[WRONG].outcomes["y"] == Measured(30.0, is_vouched=True)
    opt.amend(WRONG, {"y": 7.0})
    assert opt.history[WRONG].outcomes["y"] == Measured(7.0)
    assert opt.history[WRONG].outcomes["cost"].is_vouched


def test_what_is_missing_has_no_word_and_a_whole_exclusion_is_taken_back_as_a_whole():
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), objectives={"y": "maximize", "cost": "minimize"}, seed=0)
    opt.tell({"x": 0.5}, {"y": 1.0})
    with pytest.raises(ValueError, match="'cost' of trial 0 must be told to include it, it is missing"):
        opt.include(0, outcome="cost")
    opt.exclude(0)
    with pytest.raises(ValueError, match="to take the exclusion back alone, without an outcome"):
        opt.include(0, outcome="y")


def test_any_reason_is_kept_as_text_that_is_read_again(tmp_path):
    opt = optimizer(tmp_path / "j.jsonl")
    opt.exclude(WRONG, reason=ValueError("no flow"))
    opt.include(WRONG, reason=3)
    opt.tell({"x": 0.3}, 1.0)
    resumed = rb.Optimizer.resume(tmp_path / "j.jsonl").history
    assert (resumed[WRONG].note, resumed) == ("3", opt.history)


def test_an_outcome_of_one_alone_is_refused():
    with pytest.raises(ValueError, match="outcome must not be given where there is only one, got 'y'; leave it out"):
        optimizer().exclude(WRONG, outcome="y")
