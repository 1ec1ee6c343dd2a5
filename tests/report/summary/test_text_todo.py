"""What to do next: for a terminal and for pages."""

import json
import shlex

import pytest

import robustbo as rb
from robustbo.report.summary.text_todo import lines, todo

SPACE = rb.Space(x=rb.Float(0, 1), k=rb.Choice("u", "v"))
NONE = {"told": 0, "pending": 0, "queued": 0, "failed": 0, "excluded": 0}


def doubt(trial, status="flagged", p=0.9734, **more):
    values = {"value": 26.125, "expected": 63.04, "sd": 2.0, "probability_wrong": p, "flagged": status != "inlier"}
    return {"trial": trial, "status": status, "params": {"x": 0.123456789, "k": "u"}, **values, **more}


def pending(trial, *, has_ended=False, repeats=None):
    return {"trial": trial, "params": {"x": 0.5, "k": "v"}, "has_ended": has_ended, "repeats": repeats}


def found(**more):
    return {"trials": NONE | {"told": 5}, "outliers": [], "pending": [], "queued": [], "failed": []} | more


def texts(**more):
    return [step.text for step in todo("j.jsonl", found(**more))]


def commands(**more):
    return [shlex.split(command) for step in todo("j.jsonl", found(**more)) for _, command in step.commands]


def test_where_nothing_is_open_it_is_to_ask():
    assert texts(trials=NONE) == ["Ask for the first point to measure."]
    assert texts() == ["Ask for the next point to measure."]
    assert commands() == [["robustbo", "ask", "j.jsonl"]]
    assert lines("j.jsonl", found()) == [
        "what to do next:",
        "- Ask for the next point to measure.",
        "    robustbo ask j.jsonl",
    ]


def test_a_value_that_nothing_has_settled_is_to_be_checked_or_measured_again():
    said, *_ = texts(outliers=[doubt(8)], outcome=[{"name": "yield", "unit": "%"}])
    assert said == (
        "Check the value of trial 8: yield was measured as 26.12 %, the other values predict 63.04 % (sd 2), "
        "and it is wrong with probability 0.97."
    )
    assert texts(outliers=[doubt(8, p=0.99999)])[0].startswith("Check the value of trial 8: 26.12 was measured, ")
    amend, include, again, _ = commands(outliers=[doubt(8)])
    assert amend == ["robustbo", "amend", "j.jsonl", "8", "VALUE"]
    assert include == ["robustbo", "include", "j.jsonl", "8"]
    assert (again[:4], again[5:]) == (["robustbo", "tell", "j.jsonl", "--params"], ["VALUE"])
    assert json.loads(again[4]) == {"x": 0.123456789, "k": "u"}


@pytest.mark.parametrize("status", ["inlier", "refuted", "confirmed", "vouched for"])
def test_what_is_settled_is_left_alone(status):
    assert texts(outliers=[doubt(8, status)]) == texts()


def test_what_is_being_measured_again_is_not_to_be_checked_besides():
    assert texts(outliers=[doubt(8)], pending=[pending(9, repeats=8)]) == [
        "Tell the value of trial 9 (x=0.5, k=v, trial 8 again), which is being measured.",
        "Ask for another point, if more than these can be measured at a time.",
    ]


def test_of_many_the_first_are_told_and_the_rest_counted():
    said = texts(outliers=[doubt(n) for n in range(5)], pending=[pending(n) for n in range(10, 16)])
    assert len(said) == 6
    assert said[3] == "2 more values look wrong, of trials 3 and 4: check them likewise."
    assert said[4] == "Tell the values of trials 10, 11, 12 and 3 more, which are being measured."
    assert texts(outliers=[doubt(n) for n in range(4)])[3].startswith("1 more value looks wrong, of trial 3: check it")


def test_of_several_outcomes_commands_name_them():
    several = [{"outcome": "yield"}, {"outcome": "cost"}]
    given = commands(outliers=[doubt(8, outcome="cost")], pending=[pending(9)], outcomes=several)
    assert given[0] == ["robustbo", "amend", "j.jsonl", "8", "cost=VALUE"]
    assert given[1] == ["robustbo", "include", "j.jsonl", "8", "--outcome", "cost"]
    assert given[3] == ["robustbo", "tell", "j.jsonl", "9", "yield=VALUE", "cost=VALUE"]


def test_trials_that_nobody_measures_any_more_and_those_that_wait():
    said = texts(pending=[pending(3, has_ended=True)], queued=[{"trial": 4}])
    assert said == [
        "See to trial 3. The process that asked for it has ended: tell what was measured, or let the next ask give it "
        "out again.",
        "Ask for the next point: trial 4, which waits, first.",
    ]
    assert ["robustbo", "requeue", "j.jsonl"] in commands(pending=[pending(3, has_ended=True)])


def test_a_pool_that_is_measured_and_an_evaluation_that_always_fails():
    assert texts(pool={"rows": 5, "told": 5}) == [
        "Every row of the pool has been measured: there is nothing new to ask for."
    ]
    assert texts(trials=NONE | {"failed": 2}, failed=[{}, {}])[0].startswith("Look at what evaluates the points")
    assert texts(failed=[{}, {}]) == texts()


def test_every_command_is_one_that_works(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from robustbo.cli.app import app

    monkeypatch.chdir(tmp_path)
    opt = rb.Optimizer(SPACE, direction="minimize", journal="my j.jsonl", seed=0, surrogate="standard")
    opt.tell({"x": 0.123456789, "k": "u"}, 1.0)
    given = [
        shlex.split(command)
        for step in todo("my j.jsonl", found(outliers=[doubt(0)], pending=[pending(3)]))
        for _, command in step.commands
    ]
    for _ in range(3):
        opt.ask()
    for _, *arguments in given:
        arguments = ["2.5" if each == "VALUE" else each for each in arguments]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, (arguments, result.output)
