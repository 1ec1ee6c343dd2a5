"""What newcomers type is answered by what to do: no bare error of Python's, and nothing that goes wrong in silence."""

import copy
import logging
import pickle

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.guidance import NAMES, STUDY, TOP, TRIAL

SPACE = rb.Space(x=rb.Float(0, 1), n=rb.Int(10, 100), c=rb.Choice("a", "b"))
POINT = {"x": 0.5, "n": 60, "c": "a"}
ROW = pd.DataFrame([{**POINT, "strength": 3.0}])


def begun(**options):
    return rb.Optimizer(SPACE, **{"direction": "maximize", "seed": 0, "acquisition": "sobol", **options})


@pytest.fixture
def opt():
    made = begun()
    made.tell(POINT, 1.0)
    made.ask()
    return made


MAKING = {
    "the other way to say it": (lambda: begun(maximize=True), 'write direction="maximize"'),
    "the direction without its name": (lambda: rb.Optimizer(SPACE, "maximize"), "takes space alone without a name"),
    "no direction": (lambda: rb.Optimizer(SPACE), 'direction must be "minimize" or "maximize", got none; say which'),
    "no space": (lambda: rb.Optimizer(), "Optimizer must be given space"),
    "a seed's other name": (lambda: begun(random_state=0), "write seed="),
    "a surrogate's option": (lambda: begun(outlier_rate=0.2), 'write surrogate_options={"outlier_rate": ...}'),
    "the loop's argument": (lambda: begun(n_trials=30), "optimize has num_trials"),
    "several directions": (lambda: begun(directions=["maximize"] * 2), "write objectives={NAME: DIRECTION"),
    "a mapping for a space": (lambda: rb.Optimizer({"x": rb.Float(0, 1)}, direction="maximize"), r"robustbo.Space\("),
    "a table for a space": (lambda: rb.Optimizer(ROW, direction="maximize"), r"write robustbo.Pool\("),
    "parameters without names": (lambda: rb.Space([rb.Float(0, 1)]), r"named parameters, such as Space\(x="),
    "a space's file": (lambda: rb.Space("space.toml"), r"named parameters, such as Space\(x="),
    "a number for a name": (lambda: rb.Space({1: rb.Float(0, 1)}), "a parameter must have a name"),
    "a range of whole numbers": (lambda: rb.Space(x=(0, 1)), r"write rb.Float\(0, 1\), or rb.Int\(0, 1\) for whole"),
    "a range": (lambda: rb.Space(x=(0.0, 1.0)), r"write rb.Float\(0.0, 1.0\)$"),
    "a range in a mapping": (lambda: rb.Space({"x": (0.0, 1.0)}), r"write rb.Float\(0.0, 1.0\)$"),
    "bounds by name": (lambda: rb.Space(x={"low": 0.5, "high": 1.0}), r"did you mean rb.Float\(0.5, 1.0\)\?$"),
    "a scale among choices": (
        lambda: rb.Choice(1.0, 100.0, "log-uniform"),
        r"mean rb.Float\(1.0, 100.0, log=True\)\?$",
    ),
    "a scale as a word": (lambda: rb.Float(1, 100, "log-uniform"), "write log=True$"),
    "words": (lambda: rb.Space(x=["a", "b"]), r"write rb.Choice\('a', 'b'\)"),
    "a grid": (lambda: rb.Space(x=np.array([1.0, 2.0, 4.0])), r"write rb.Ordinal\(1.0, 2.0, 4.0\)"),
    "a constant": (lambda: rb.Space(x=0.5), "always the same is no parameter: leave it out"),
    "a type": (lambda: rb.Space(x=float), r"write rb.Float\(0.0, 1.0\), with its bounds"),
    "a class": (lambda: rb.Space(x=rb.Int), r"write rb.Int\(1, 8\), with its bounds"),
    "one bound": (lambda: rb.Float(1), r"Float must be given high; it is Float\(low, high"),
    "bounds by other names": (lambda: rb.Float(min=0, max=1), "Float has no argument 'min'; write low="),
    "a scale": (lambda: rb.Float(1, 2, scale="log"), "write log=True"),
    "bounds as texts": (lambda: rb.Float("0", "1"), "write 0, or float"),
    "bounds of an Int in a list": (lambda: rb.Int([1, 8]), "Int must be given high"),
    "choices by name": (lambda: rb.Choice(choices=["a", "b"]), r"it is Choice\(\*values"),
    "values by name": (lambda: rb.Choice(values=["a", "b"]), r"it is Choice\(\*values"),
    "a pool of nothing": (lambda: rb.Pool(), "Pool must be given frame"),
    "old data without values": (lambda: begun(prior_data=ROW[["x", "n", "c"]]), r"frame.assign\(value="),
    "old data under a name": (lambda: begun(prior_data=ROW), r"frame.rename\(columns=\{'strength': 'value'\}\)"),
    "old data as rows": (lambda: begun(prior_data=[POINT]), "pd.DataFrame"),
    "old data in a file": (lambda: begun(prior_data="old.csv"), "read it by pandas first"),
    "a study by its name": (lambda: rb.Study("lab.jsonl"), r"Study.resume\("),
    "a type of others": (lambda: rb.Categorical, "write Choice"),
    "a function of others": (lambda: rb.minimize, r"write Optimizer\(space, direction=...\).optimize"),
    "a word misspelt": (lambda: rb.Optimiser, "did you mean 'Optimizer'"),
}


@pytest.mark.parametrize("name", MAKING)
def test_what_cannot_be_made_says_how_it_is(name):
    call, says = MAKING[name]
    with pytest.raises((TypeError, ValueError, AttributeError), match=says):
        call()


CALLS = {
    "a table": (lambda o: o.tell(ROW), "tell_frame takes a table"),
    "a table and a value": (lambda o: o.tell(ROW, 1.0), "tell_frame takes a table"),
    "a trial alone": (lambda o: o.tell(1), r"tell must be given value; it is tell\(trial, value, \*, sd=None, sou"),
    "a list of values": (lambda o: o.tell(1, [1, 2]), "give one number, not several"),
    "an array of values": (lambda o: o.tell(1, np.ones(2)), "give one number, not several"),
    "a frame of one cell": (lambda o: o.tell(1, pd.DataFrame({"y": [1.0]})), "value must be a real number"),
    "a value and its noise": (lambda o: o.tell(1, (1.0, 0.1)), "write 1.0, sd=0.1"),
    "a noise without its name": (lambda o: o.tell(1, 1.0, 0.1), "write the others by name, such as sd="),
    "a noise's other name": (lambda o: o.tell(1, 1.0, std=0.1), "tell has no argument 'std'; write sd="),
    "a reason": (lambda o: o.tell(1, 1.0, reason="x"), "exclude and fail and include and withdraw have reason"),
    "a text": (lambda o: o.tell(1, "3.4"), "got '3.4'; write 3.4, or float"),
    "a decimal comma": (lambda o: o.tell(1, "3,4"), "got '3,4'; write 3.4, with a decimal point"),
    "a unit": (lambda o: o.tell(1, "3.4 MPa"), "write the number alone"),
    "a word": (lambda o: o.tell(1, "n/a"), "write `fail` where there is no value"),
    "nothing": (lambda o: o.tell(1, None), "call `fail`"),
    "a truth": (lambda o: o.tell(1, True), "write 1, or float"),
    "a number as text": (lambda o: o.tell("1", 1.0), "got '1'; write 1, without quotes"),
    "a point as a list": (lambda o: o.tell([0.5, 60, "a"], 1.0), "a point as {NAME: VALUE, ...}"),
    "two trials": (lambda o: o.tell([0, 1], 1.0), "give one at a time"),
    "a point by keywords": (lambda o: o.tell(x=0.5, n=60, c="a", value=1.0), "write trial={NAME: VALUE"),
    "a whole number as text": (lambda o: o.tell({**POINT, "n": "60"}, 1.0), "n: .* got '60'; write 60, or float"),
    "a parameter with a comma": (lambda o: o.tell({**POINT, "x": "0,5"}, 1.0), "write 0.5, with a decimal point"),
    "a list in a point": (lambda o: o.predict({**POINT, "x": [0.1, 0.2]}), "give one number, not several"),
    "a trial too many": (lambda o: o.tell(99, 1.0), "one of the trials so far, 0 to 1, got 99"),
    "the last trial": (lambda o: o.history[-1], "one of the trials so far, 0 to 1, got -1"),
    "a trial by its text": (lambda o: o.history["0"], "write 0, without quotes"),
    "several trials": (lambda o: o.exclude([0, 1]), "give one at a time"),
    "a verdict on a point": (lambda o: o.exclude(POINT), "exclude must be given a trial or .* the trials at it are: 0"),
    "a verdict on the best": (lambda o: o.exclude(o.best(raw=True)), "got Incumbent; give its .trial"),
    "a reason without its name": (lambda o: o.exclude(0, "bad"), "write the others by name"),
    "an amendment without a value": (lambda o: o.amend(0), "amend must be given value"),
    "an age as text": (lambda o: o.requeue(older_than="1h"), "older_than must be a number of seconds, or a timedelta"),
    "a column's name without its name": (lambda o: o.tell_frame(ROW, "strength"), "by name, such as value="),
    "a column of values": (lambda o: o.tell_frame(ROW, value=[1.0]), "value must be the name of a column"),
    "a file of a table": (lambda o: o.tell_frame("data.csv"), "pd.read_csv"),
    "rows of a table": (lambda o: o.tell_frame([POINT]), "pd.DataFrame"),
    "another column": (lambda o: o.tell_frame(ROW), "or say value='strength' to tell_frame"),
    "a batch": (lambda o: o.ask(batch_size=3), "ask has no argument 'batch_size'; write n="),
    "a context": (lambda o: o.ask(context={"x": 0.5}), "write fixed={NAME: VALUE"),
    "a fixed value as text": (lambda o: o.ask(fixed={"n": "60"}), "n: .*; write 60"),
    "a point to predict, by keywords": (lambda o: o.predict(x=0.5), "write points={NAME: VALUE"),
    "trials by another name": (lambda o: o.optimize(len, n_trials=3), "write num_trials="),
    "no number of trials": (lambda o: o.optimize(len), "optimize must be given num_trials"),
    "a function of two": (lambda o: o.optimize(lambda x, y: x, 3), r"takes \(x, y\); write lambda params: func\(\*\*"),
    "a function of none": (
        lambda o: o.optimize(lambda: 1.0, 3),
        "must take one dict of parameters",
    ),
    "a time as text": (lambda o: o.optimize(len, 3, timeout="1h"), "timeout must be a number of seconds"),
    "a method of others": (lambda o: o.suggest(), r"Optimizer has no 'suggest'; write ask\(\)"),
    "an attribute of others": (lambda o: o.best_params, r"write best\(\)"),
    "all trials": (lambda o: o.trials, "write history"),
    "a word misspelt": (lambda o: o.outlier, "did you mean 'outliers'"),
    "a parameter of a trial": (lambda o: o.history[0].x, r"Trial has no 'x'; write .params\['x'\]"),
    "a trial's id": (lambda o: o.history[0].id, "write number"),
    "a value of the best": (lambda o: o.best(raw=True).value, "Incumbent has no 'value'; write mean"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_does_not_fit_says_what_does_and_records_nothing(opt, name):
    call, says = CALLS[name]
    before = opt.history
    with pytest.raises((TypeError, ValueError, AttributeError), match=says):
        call(opt)
    assert [(t.state, t.value) for t in opt.history][: len(before)] == [(t.state, t.value) for t in before]


def test_a_mapping_makes_a_space():
    assert rb.Space({"x": rb.Float(0, 1), "n": rb.Int(10, 100)}, c=rb.Choice("a", "b")) == SPACE
    two = rb.Space({"pH value": rb.Float(2, 9), "y": rb.Float(0, 1)}, constraints=["`pH value` + y <= 8"])
    assert (two.names, two.texts) == (["pH value", "y"], ["`pH value` + y <= 8"])


def test_what_a_method_itself_raises_is_left_as_it_is(opt):
    def func(params):
        return len(3)

    with pytest.raises(TypeError, match=r"object of type 'int' has no len\(\)") as caught:
        opt.optimize(func, 3)
    assert any("func was called with {'x': " in note for note in caught.value.__notes__)


def test_what_explains_calls_hides_no_signature():
    assert list(rb.Optimizer.tell.__annotations__) == [
        *("trial", "value", "sd", "source", "measured_at", "labels", "out_of_range", "n", "params", "return")
    ]
    assert rb.Optimizer.tell.__doc__.startswith("Record a measured value")


def test_a_property_that_fails_keeps_its_own_error(opt):
    class Broken(type(opt)):
        @property
        def half(self):
            return self.nowhere

    opt.__class__ = Broken
    with pytest.raises(AttributeError, match="nowhere"):
        opt.half  # noqa: B018 - which raises


def test_copies_and_pickles_are_as_before(opt):
    assert copy.deepcopy(opt.history[0]) == pickle.loads(pickle.dumps(opt.history[0])) == opt.history[0]
    assert len(pickle.loads(pickle.dumps(opt)).history) == 2


def test_what_an_answer_says_to_write_is_there(opt):
    for text in TOP:
        assert hasattr(rb, text.partition("(")[0].partition(".")[0])
    for text in STUDY:
        name = text.partition("(")[0]
        assert hasattr(opt, name) or name.startswith("Optimizer")
    for name in TRIAL:
        assert hasattr(opt.history[0], name) or hasattr(opt.best(raw=True), name)
    words = [word for words in NAMES.values() for word in words.split()]
    assert len(words) > 60


def test_a_folder_that_is_made_is_said(tmp_path, caplog):
    (tmp_path / "there").mkdir()
    with caplog.at_level(logging.WARNING, "robustbo"):
        begun(journal=tmp_path / "there" / "a.jsonl")
        assert "folder" not in caplog.text
        begun(journal=tmp_path / "dta" / "lab" / "a.jsonl")
    assert f"the folder {tmp_path / 'dta' / 'lab'} did not exist, and robustbo made it" in caplog.text


def test_a_journal_at_home_is_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    begun(journal="~/a.jsonl").tell(POINT, 1.0)
    assert (tmp_path / "a.jsonl").is_file()
    assert len(rb.Study.resume("~/a.jsonl").history) == 1
    assert not (tmp_path / "~").exists()


class TestDirection:
    def test_a_journal_that_is_resumed_has_its_own(self, tmp_path):
        path = tmp_path / "a.jsonl"
        with pytest.raises(ValueError, match='direction must be "minimize" or "maximize", got none'):
            rb.Optimizer(SPACE, seed=0, journal=path, if_exists="resume")
        assert not path.exists()
        begun(journal=path)
        again = rb.Optimizer(SPACE, acquisition="sobol", journal=path, if_exists="resume")
        assert again.settings.direction == "maximize"
        with pytest.raises(rb.JournalError, match="direction: recorded 'maximize', given 'minimize'"):
            begun(journal=path, if_exists="resume", direction="minimize")

    def test_objectives_have_theirs(self):
        assert rb.Optimizer(SPACE, objectives={"a": "maximize"}).settings.direction == "maximize"
        for other in ("minimize", "maximize"):
            objectives = {"a": "maximize" if other == "minimize" else "minimize"}
            with pytest.raises(ValueError, match=f"objectives have their own; got '{other}'"):
                rb.Optimizer(SPACE, objectives=objectives, direction=other)


def test_one_failure_alone_is_not_judged():
    opt = begun(acquisition="auto", surrogate="standard")
    for i in range(9):
        opt.tell({**POINT, "x": i / 10}, i / 10)
    opt.fail({**POINT, "x": 0.9}, "vial cracked")
    assert [failure.looks_like for failure in opt.failures()] == [None]
    opt.fail({**POINT, "x": 1.0}, "vial cracked")
    assert None not in [failure.looks_like for failure in opt.failures()]


def test_one_failure_that_gave_a_value_again_is_a_flake():
    opt = begun(acquisition="auto", surrogate="standard")
    for i in range(9):
        opt.tell({**POINT, "x": i / 10}, i / 10)
    opt.fail({**POINT, "x": 0.9}, "vial cracked")
    opt.tell({**POINT, "x": 0.9}, 0.9)
    assert [failure.looks_like for failure in opt.failures()] == ["flake"]


def test_what_must_be_named_and_is_missing_is_named(opt):
    with pytest.raises(TypeError, match=r"correct must be given error; it is correct\("):
        opt.correct(source="R3")
