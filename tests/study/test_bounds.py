"""Bounds that are told, by every way in, and read back by every way out."""

import json

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.censored import value_at_limit
from robustbo.errors import JournalError, SpaceError

SPACE = rb.Space(x=rb.Float(0, 1))


def study(**options):
    return rb.Optimizer(SPACE, **({"direction": "minimize"} | options), seed=0)


TOLD = [0.9, value_at_limit("<", 0.05), value_at_limit(">", 200.0), value_at_limit("<", 3.0)]


def fill(opt):
    opt.tell({"x": 0.1}, 0.9)
    opt.tell({"x": 0.2}, rb.Below(0.05))
    opt.tell_frame(pd.DataFrame({"x": [0.3, 0.4], "value": [rb.Above(200), " <= 3"]}))
    return opt


def test_a_bound_is_kept_in_the_journal_as_it_is_written(tmp_path):
    opt = fill(study(journal=tmp_path / "study.jsonl"))
    assert [t.value for t in opt.history] == TOLD
    resumed = rb.Study.resume(tmp_path / "study.jsonl")
    assert list(resumed.history) == list(opt.history)
    lines = [json.loads(line) for line in (tmp_path / "study.jsonl").read_text().splitlines()]
    assert [line["value"] for line in lines[1:]] == [0.9, "<0.05", ">200.0", "<3.0"]


def test_a_frame_says_which_values_are_bounds_and_is_read_again():
    frame = fill(study()).frame(evidence=False)
    assert frame["value"].dtype == np.float64
    assert frame["value.sign"].tolist() == ["", "<", ">", "<"]
    again = study(prior_data=frame)
    again.tell_frame(frame[["x", "value", "value.sign"]].assign(x=frame["x"] / 2))
    assert [t.value for t in again.history] == TOLD * 2
    assert "value.sign" not in study(prior_data=frame[:1]).frame(evidence=False).columns


def test_another_study_is_taken_over_with_its_bounds():
    assert [t.value for t in study(prior_data=fill(study())).history] == TOLD


def test_several_outcomes_may_have_a_bound_each(tmp_path):
    wanted = {"a": "minimize", "b": "maximize"}
    opt = study(direction=None, objectives=wanted, journal=tmp_path / "study.jsonl", outcome=rb.Outcome("a", unit="mg"))
    opt.tell({"x": 0.2}, {"a": rb.Below(0.05), "b": 3})
    opt.tell_frame(pd.DataFrame({"x": [0.3], "a (mg)": [1.0], "b": ["> 7"]}))
    assert [t.values for t in opt.history] == [{"a": TOLD[1], "b": 3.0}, {"a": 1.0, "b": value_at_limit(">", 7.0)}]
    frame = opt.frame(evidence=False)
    assert (frame["a (mg).sign"].tolist(), frame["b.sign"].tolist()) == (["<", ""], ["", ">"])
    assert list(rb.Study.resume(tmp_path / "study.jsonl").history) == list(opt.history)
    again = study(direction=None, objectives=wanted, prior_data=frame.rename(columns=lambda c: c.replace(" (mg)", "")))
    assert [t.values for t in again.history] == [t.values for t in opt.history]


def test_a_value_is_amended_to_a_bound_and_back():
    opt = fill(study())
    assert opt.amend(0, rb.Below(1)).value == value_at_limit("<", 1.0)
    assert opt.amend(1, 0.04).value == 0.04


def test_optimize_takes_what_a_function_returns():
    opt = study(num_initial=3)
    opt.optimize(lambda params: rb.Below(0.3) if params["x"] < 0.3 else params["x"], 4)
    assert {type(t.value) is float for t in opt.history} <= {True, False}
    assert all((t.value == value_at_limit("<", 0.3)) == (t.params["x"] < 0.3) for t in opt.history)


@pytest.mark.parametrize(
    ("value", "sd", "match"),
    [
        (rb.Below(0.5), 0.1, r"bound <0.5 must have no sd, got 0.1; leave it out"),
        ("<nan", None, "finite number"),
        ("<0,5", None, "write <0.5, with a decimal point"),
        (rb.Below(-1), None, r"possible range \[0, 10\], got <-1"),
        (rb.Above(11), None, r"possible range \[0, 10\], got >11"),
    ],
)
def test_what_cannot_be_a_bound_is_refused_and_not_recorded(value, sd, match):
    opt = study(outcome=rb.Outcome("level", low=0, high=10))
    with pytest.raises(ValueError, match=match):
        opt.tell({"x": 0.5}, value, sd=sd)
    with pytest.raises(SpaceError, match=match.split(";")[0].partition(",")[0]):
        opt.tell_frame(pd.DataFrame({"x": [0.1, 0.5], "value": [1.0, value], "sd": [None, sd]}))
    assert len(opt.history) == 0


def test_a_bound_at_the_end_of_the_range_is_possible_and_one_outside_may_be_kept_excluded():
    opt = study(outcome=rb.Outcome("level", low=0, high=10))
    assert opt.tell({"x": 0.5}, rb.Above(10)).state == "told"
    assert opt.tell({"x": 0.6}, rb.Above(11), out_of_range="exclude").state == "excluded"


@pytest.mark.parametrize("text", ["<", "<x", "0.05", "<=0.05", "<inf", "< 0.05"])
def test_a_journal_has_bounds_in_one_form_alone(tmp_path, text):
    from robustbo.trials.storage.line import header_line, lines_of

    fill(study(journal=tmp_path / "study.jsonl"))
    header, *_ = map(json.loads, (tmp_path / "study.jsonl").read_text().splitlines())
    header.pop("check"), header.pop("schema")
    first, check = header_line(header)
    lines, _ = lines_of([{"event": "tell", "trial": 0, "value": text, "sd": None, "params": {"x": 0.5}}], check)
    (tmp_path / "forged.jsonl").write_text("\n".join([first, *lines, ""]))
    with pytest.raises(JournalError, match="value"):
        rb.Study.resume(tmp_path / "forged.jsonl")


def test_the_best_measured_value_is_no_bound_unless_there_is_nothing_else():
    opt = fill(study())
    assert opt.best(raw=True).trial.number == 0
    only = study()
    only.tell({"x": 0.2}, rb.Below(0.05))
    assert str(only.best(raw=True)) == "trial 0, x=0.2: measured <0.05"


def test_a_bound_is_no_mean_and_the_error_says_so():
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", seed=0)
    assert str(opt.tell({"x": 0.1}, "<1", n=1).value) == "<1.0"
    with pytest.raises(ValueError, match=r"the bound <1.0 must have no n, got 4; leave it out"):
        opt.tell({"x": 0.2}, "<1", n=4)


@pytest.mark.parametrize("column", [[1.5, None, 2.0], ["<1", None, "2"]])
def test_an_empty_cell_of_any_dtype_is_a_trial_that_failed(column):
    frame = pd.DataFrame({"x": [0.1, 0.2, 0.3], "value": column})
    for table in (frame, frame.astype(object), frame.convert_dtypes()):
        opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", seed=0)
        assert [trial.state for trial in opt.tell_frame(table)] == ["told", "failed", "told"]
