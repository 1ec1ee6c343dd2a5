"""The space in a journal: constraints, pools and the rows added to them, what was fixed, and journals from before."""

import json

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import JournalError
from robustbo.searchspace.parameters import Float
from robustbo.study.recomputing import decisions
from robustbo.trials import schema
from robustbo.trials.codec import settings_of, versions
from robustbo.trials.extent import space_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.storage import places
from robustbo.trials.storage.journal import Journal
from robustbo.trials.storage.line import Event

POOL = rb.Pool(pd.DataFrame({"x": [0.1, 0.2, 0.3, 0.4], "k": list("abab")}))
SPACE = rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1), k=rb.Choice(True, 1), constraints=["x + y <= 1"])
NOT_DECIDED = ("by", "at", "fit_s", "acquisition_s", "unseen")


def decided(event):
    return {key: value for key, value in event.items() if key not in NOT_DECIDED}


def same(journal):
    """How many decisions there are, each computed again to the last bit."""
    contents, count = places.contents(journal), 0
    for made in decisions(settings_of(journal, contents.header), contents.events):
        assert json.dumps(decided(made.recorded)) == json.dumps(decided(made.recomputed))
        count += 1
    return count


def test_new_keys_are_there_only_where_they_are_used():
    before = {
        "space", "direction", "surrogate", "surrogate_options", "acquisition", "num_initial", "remeasure",
        "max_repeats", "set_aside", "failures", "seed",
    }  # fmt: skip
    assert Settings(rb.Space(x=Float(0, 1))).to_dict().keys() == before
    assert Settings(SPACE).to_dict().keys() == before | {"constraints"}
    assert Settings(POOL).to_dict().keys() == before | {"pool"}


def test_a_journal_from_before_has_a_space_without_anything_new():
    old = Settings(rb.Space(x=Float(0, 1), n=rb.Int(1, 4), c=rb.Choice("a", "b"))).to_dict()
    assert old["space"] == {
        "x": {"kind": "float", "low": 0, "high": 1, "log": False},
        "n": {"kind": "int", "low": 1, "high": 4, "log": False},
        "c": {"kind": "choice", "values": ["a", "b"]},
    }
    back = Settings.from_dict(old).space
    assert back.is_plain
    assert back.texts == []


def test_constraints_and_what_was_fixed_go_on_where_they_stopped(tmp_path):
    journal = tmp_path / "run.jsonl"
    opt = rb.Optimizer(SPACE, direction="minimize", seed=0, journal=journal, surrogate="standard", num_initial=3)
    for index in range(6):
        trial = opt.ask(fixed={"k": True, "y": 0.25} if index % 2 else None)
        opt.tell(trial, trial.params["x"])
    events = [event for event in places.contents(journal).events if event["event"] == "ask"]
    assert [event.get("fixed") for event in events[:2]] == [None, {"y": 0.25, "k": True}]
    assert same(journal) == 6
    resumed = rb.Optimizer.resume(journal)
    assert resumed.settings.space == SPACE
    assert resumed.ask(2, fixed={"k": 1})[1].params["k"] == 1
    assert same(journal) == 8


def test_rows_that_were_added_are_there_when_it_is_resumed(tmp_path):
    journal = tmp_path / "run.jsonl"
    opt = rb.Optimizer(POOL, direction="minimize", seed=0, journal=journal, surrogate="standard", num_initial=2)
    for _ in range(3):
        trial = opt.ask()
        opt.tell(trial, trial.params["x"])
    opt.add_rows(pd.DataFrame({"k": ["c", "a"], "x": [0.5, 0.9]}))
    resumed = rb.Optimizer.resume(journal)
    assert resumed.settings.space == opt.settings.space
    assert resumed.settings.space.size == 6
    assert resumed.history.rows == ((0.5, "c"), (0.9, "a"))
    assert resumed.ask(fixed={"k": "c"}).params == {"x": 0.5, "k": "c"}
    assert same(journal) == 4


def test_the_extent_is_that_of_the_history():
    history = History((), (), ((0.7, "z"),))
    wider = space_of(Settings(POOL), history)
    assert wider.size == 5
    assert space_of(Settings(POOL), history) is wider
    assert space_of(Settings(POOL), History()) is POOL
    assert space_of(Settings(SPACE), history) is SPACE


def test_another_pool_or_constraint_is_another_study(tmp_path):
    journal = tmp_path / "run.jsonl"
    rb.Optimizer(SPACE, direction="minimize", seed=0, journal=journal)
    other = rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1), k=rb.Choice(True, 1), constraints=["x + y <= 0.5"])
    with pytest.raises(JournalError, match=r"constraints: recorded \['x \+ y <= 1'\], given \['x \+ y <= 0\.5'\]"):
        rb.Optimizer(other, direction="minimize", seed=0, journal=journal, if_exists="resume")
    assert (
        rb.Optimizer(SPACE, direction="minimize", seed=0, journal=journal, if_exists="resume").settings.space == SPACE
    )


EXTEND: Event = {"event": "extend", "trial": 0, "rows": [[0.5, "c"]]}
ASK: Event = {"event": "ask", "trial": 0, "params": {"x": 0.1, "k": "a"}, "fixed": {"k": "a"}}


def test_what_this_program_writes_passes():
    schema.check(EXTEND, Settings(POOL))
    schema.check(ASK, Settings(POOL))


@pytest.mark.parametrize(
    ("event", "match"),
    [
        (EXTEND | {"rows": []}, "rows"),
        (EXTEND | {"rows": [[]]}, "rows"),
        (EXTEND | {"rows": [0.5, "c"]}, "rows"),
        (EXTEND | {"rows": [[0.5, ["c"]]]}, "rows"),
        (EXTEND | {"rows": [[float("nan"), "c"]]}, "rows"),
        ({"event": "extend", "trial": 0}, "rows"),
        (ASK | {"fixed": {}}, "fixed"),
        (ASK | {"fixed": [1]}, "fixed"),
        (ASK | {"fixed": {"k": ["a"]}}, "fixed"),
        (ASK | {"fixed": {"x": float("inf")}}, "fixed"),
    ],
)
def test_anything_else_is_refused(event, match):
    with pytest.raises(ValueError, match=match):
        schema.check(event, Settings(POOL))


FORGED = {
    "rows of another length": lambda s, e: e.append(EXTEND | {"rows": [[0.5]]}),
    "a cell that is missing": lambda s, e: e.append(EXTEND | {"rows": [[0.5, None]]}),
    "rows for a space that is no pool": lambda s, e: (s.pop("pool"), e.append(EXTEND)),
    "a pool that is no pool": lambda s, e: s.update(pool=3),
    "a pool without rows": lambda s, e: s.update(pool={"given": [], "rows": []}),
    "rows of other values": lambda s, e: s.update(pool={"given": ["x"], "rows": [["a", 0.5]]}),
    "a constraint that is code": lambda s, e: s.update(constraints=["__import__('os').system('true') <= 1"]),
    "a constraint that is no text": lambda s, e: s.update(constraints=[3]),
    "constraints that are no list": lambda s, e: s.update(constraints="x <= 1"),
    "a condition on nothing": lambda s, e: s["space"]["x"].update(when={"q": [1]}),
    "a condition that is none": lambda s, e: s["space"]["x"].update(when=3),
    "a step that is none": lambda s, e: s["space"]["x"].update(step="a"),
    "a row of another kind": lambda s, e: e.append(EXTEND | {"rows": [["word", "a"]]}),
    "an ask that is no row": lambda s, e: e.append(ASK | {"params": {"x": 0.15, "k": "a"}, "origin": "sobol"}),
    "an unknown parameter that is fixed": lambda s, e: e.append(ASK | {"fixed": {"q": 1}, "origin": "sobol"}),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_journal_is_refused(name, tmp_path):
    settings, events = json.loads(json.dumps(Settings(POOL).to_dict())), []
    FORGED[name](settings, events)
    journal = tmp_path / "run.jsonl"
    log = Journal.create(journal, {"settings": settings, "versions": versions()})
    for event in events:
        log.append(event)
    with pytest.raises(JournalError, match=r"run\.jsonl"):
        rb.Optimizer.resume(journal).ask()
