"""The space is changed while a study goes on: values stay, asks follow."""

import json

import pytest

import robustbo as rb
from robustbo.replay.verify import verdicts
from robustbo.trials.changes import SpaceChange
from robustbo.trials.history import History
from robustbo.trials.schema import check_all
from robustbo.trials.storage.places import contents

OLD = rb.Space(heat=rb.Float(20.0, 90.0), solvent=rb.Choice("water", "ethanol", "DMF"))
NEW = rb.Space(heat=rb.Float(30.0, 60.0, step=1.0), solvent=rb.Choice("water", "ethanol"), stir=rb.Float(1.0, 5.0))


def value(params):
    return (params["heat"] - 50) ** 2 / 100 + len(params["solvent"]) + params.get("stir", 3.0) / 10


def study(path=None, trials=7):
    opt = rb.Optimizer(OLD, direction="minimize", seed=0, journal=path, surrogate="standard")
    for trial in opt.ask(trials) if trials else ():
        opt.tell(trial, value(trial.params))
    return opt


def test_values_stay_and_asks_follow(tmp_path):
    opt = study(tmp_path / "j.jsonl")
    before = opt.history
    assert {trial.params["solvent"] for trial in before} == {"water", "ethanol", "DMF"}
    opt.change(NEW, was={"stir": 3.0})
    assert [t.params for t in opt.history] == [{**t.params, "stir": 3.0} for t in before]
    assert [t.value for t in opt.history] == [t.value for t in before]
    for _ in range(4):
        trial = opt.ask()
        assert NEW.allows(trial.params)
        opt.tell(trial, value(trial.params))
    assert NEW.allows(opt.best().params)
    resumed = rb.Optimizer.resume(tmp_path / "j.jsonl")
    assert resumed.history == opt.history
    assert resumed.settings == opt.settings
    assert [row["agreement"] for row in verdicts([str(tmp_path / "j.jsonl")])] == ["bits"]


def test_it_is_an_event_that_resumes_with_either_space(tmp_path):
    opt = study(tmp_path / "j.jsonl", trials=2)
    opt.change(NEW, was={"stir": 3})
    event = json.loads((tmp_path / "j.jsonl").read_text().splitlines()[-1])
    assert (event["event"], event["trial"], event["was"]) == ("change", 2, {"stir": 3.0})
    for space in (OLD, NEW):
        again = rb.Optimizer(
            space, direction="minimize", seed=0, surrogate="standard", journal=tmp_path / "j.jsonl", if_exists="resume"
        )
        assert again.settings.space.names == NEW.names


def test_a_pending_trial_is_told_where_it_was_asked_for():
    opt = study()
    trial = opt.ask()
    opt.change(NEW, was={"stir": 3.0})
    assert opt.tell(trial, 1.0).params == {**trial.params, "stir": 3.0}


def test_a_value_that_a_choice_had_once_is_told_still_and_none_that_it_never_had():
    opt = study()
    opt.change(NEW, was={"stir": 3.0})
    with pytest.warns(rb.SpaceWarning, match="outside the space"):
        assert opt.tell({"heat": 50.0, "solvent": "DMF", "stir": 2.0}, 3.0).params["solvent"] == "DMF"
    with pytest.raises(rb.SpaceError, match="solvent: must be one of"):
        opt.tell({"heat": 50.0, "solvent": "toluene", "stir": 2.0}, 3.0)


def test_what_waits_outside_is_given_out_no_more():
    opt = study(trials=2)
    opt.enqueue({"heat": 85.0, "solvent": "water"})
    with pytest.warns(rb.SpaceWarning, match=r"trials \[2\] wait outside the changed space"):
        opt.change(NEW, was={"stir": 3.0})
    assert opt.ask().number == 3
    assert opt.withdraw(2).state == "withdrawn"


@pytest.mark.parametrize(
    ("space", "was", "message"),
    [
        (NEW, {}, "stir: is new; give the value that it had in the 7 trials so far"),
        (rb.Space(heat=rb.Float(30, 60)), {}, "solvent: a changed space must have every parameter"),
        (OLD, {"stir": 1.0}, r"stir: was must have values of new parameters, or of conditional ones, which are \[\]"),
        (rb.Space(heat=rb.Float(30, 30), solvent=rb.Choice("water", "DMF")), {}, "heat: must keep a range"),
        (rb.Space(heat=rb.Choice("a", "b"), solvent=rb.Choice("water", "DMF")), {}, "must have a place in the changed"),
    ],
)
def test_what_no_value_could_be_modelled_in_is_refused(space, was, message):
    opt = study()
    with pytest.raises(rb.SpaceError, match=message):
        opt.change(space, was=was)
    assert opt.settings.space == OLD


def test_a_pool_grows_by_rows():
    with pytest.raises(TypeError, match="a pool has add_rows"):
        study(trials=0).change({"x": rb.Float(0, 1)})


@pytest.mark.parametrize(
    ("key", "entry", "message"),
    [
        ("was", {"stir": "fast"}, "stir: must be a finite number, got 'fast'"),
        ("was", {"speed": 1.0}, "speed: was must have values of new parameters"),
        ("space", {"heat": {"kind": "float", "low": 30, "high": 60}}, "solvent: a changed space must have every"),
        ("space", {"heat": {"kind": "float", "low": 9, "high": 1}}, "low must not be above high"),
        ("space", {}, "space: .*at least 1 item"),
    ],
)
def test_a_journal_with_a_change_that_cannot_be_is_refused_at_its_line(tmp_path, key, entry, message):
    opt = study(tmp_path / "j.jsonl", trials=2)
    change = SpaceChange(2, NEW, (("stir", 3.0),)).event() | {key: entry}
    events = [*contents(tmp_path / "j.jsonl").events, change]
    with pytest.raises(ValueError, match=message):
        History().apply_all(check_all(events, opt.settings))


CHOSEN = {"x": rb.Float(0.0, 1.0), "s": rb.Choice("a", "b")}
CONDITIONAL = rb.Space(**CHOSEN, h=rb.Float(0.0, 1.0, when={"s": ["b"]}))
BRANCHES = [{"x": 0.5, "s": "a"}, {"x": 0.5, "s": "b", "h": 0.25}]


def conditional_study(path=None):
    opt = rb.Optimizer(CONDITIONAL, direction="minimize", seed=0, journal=path, num_initial=2)
    for number, point in enumerate(BRANCHES):
        opt.tell(point, float(number))
    return opt


def test_a_parameter_is_added_beside_a_conditional_one():
    opt = conditional_study()
    opt.change(rb.Space(**dict(CONDITIONAL.parameters), g=rb.Float(0.0, 1.0)), was={"g": 0.5})
    assert [trial.params for trial in opt.history] == [{**point, "g": 0.5} for point in BRANCHES]


@pytest.mark.parametrize("when", [None, {"s": ["a", "b"]}])
def test_a_condition_becomes_wider(tmp_path, when):
    opt = conditional_study(tmp_path / "j.jsonl")
    wider = rb.Space(**CHOSEN, h=rb.Float(0.0, 1.0, when=when))
    with pytest.raises(rb.SpaceError, match="h: exists at trial 0 from now on; give the value"):
        opt.change(wider)
    opt.change(wider, was={"h": 0.75})
    assert [trial.params for trial in opt.history] == [{**BRANCHES[0], "h": 0.75}, BRANCHES[1]]
    assert rb.Optimizer.resume(tmp_path / "j.jsonl").history == opt.history
