import math
from dataclasses import FrozenInstanceError

import pytest

from robustbo.trials.events import ALLOWED_STATES
from robustbo.trials.history import History, Trial

TELL = {"event": "tell", "trial": 0, "value": 1.5, "sd": 0.1}
FAIL = {"event": "fail", "trial": 0, "reason": "broke"}
EXCLUDE = {"event": "exclude", "trial": 0}
INCLUDE = {"event": "include", "trial": 0}
AMEND = {"event": "amend", "trial": 0, "value": -2.0, "sd": None}
ASSIGN = {"event": "assign", "trial": 0, "by": "lab:1:aa", "at": "2026-11-23T20:40:27.000001+00:00"}
REQUEUE = {"event": "requeue", "trial": 0}
WITHDRAW = {"event": "withdraw", "trial": 0, "reason": "no time"}
EVENTS = {event["event"]: event for event in (TELL, FAIL, EXCLUDE, INCLUDE, AMEND, ASSIGN, REQUEUE, WITHDRAW)}
PATHS = {
    "pending": [],
    "queued": [REQUEUE],
    "told": [TELL],
    "failed": [FAIL],
    "excluded": [TELL, EXCLUDE],
    "withdrawn": [WITHDRAW],
}
OUTCOMES = {  # (state, event): state, value, sd, reason
    ("pending", "tell"): ("told", 1.5, 0.1, None),
    ("pending", "fail"): ("failed", None, None, "broke"),
    ("pending", "requeue"): ("queued", None, None, None),
    ("queued", "assign"): ("pending", None, None, None),
    ("queued", "tell"): ("told", 1.5, 0.1, None),
    ("queued", "fail"): ("failed", None, None, "broke"),
    ("told", "exclude"): ("excluded", 1.5, 0.1, None),
    ("told", "amend"): ("told", -2.0, None, None),
    ("excluded", "include"): ("told", 1.5, 0.1, None),
    ("told", "include"): ("told", 1.5, 0.1, None),
    ("excluded", "amend"): ("excluded", -2.0, None, None),
    ("failed", "amend"): ("told", -2.0, None, None),
    ("pending", "withdraw"): ("withdrawn", None, None, "no time"),
    ("queued", "withdraw"): ("withdrawn", None, None, "no time"),
    ("failed", "withdraw"): ("withdrawn", None, None, "no time"),
    ("withdrawn", "tell"): ("told", 1.5, 0.1, None),
    ("withdrawn", "fail"): ("failed", None, None, "broke"),
    ("withdrawn", "requeue"): ("queued", None, None, None),
}
COLUMNS = ["value", "sd", "state", "origin", "reason", "repeats", "asked_by", "asked_at"]


def ask(number=0, **params):
    return {"event": "ask", "trial": number, "params": params or {"x": 0.5}, "origin": "sobol"}


def history(*events):
    found = History()
    for event in events:
        found = found.apply(event)
    return found


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("state", PATHS)
def test_a_state_allows_its_events_and_no_others(state, event):
    before = history(ask(), *PATHS[state], ask(1))
    assert before[0].state == state
    old = before.trials
    if (state, event) in OUTCOMES:
        after = before.apply(EVENTS[event])
        assert (after[0].state, after[0].value, after[0].sd, after[0].reason) == OUTCOMES[state, event]
        assert (after[0].params, after[0].origin) == ({"x": 0.5}, "sobol")
        assert after[1] == before[1]
    else:
        with pytest.raises(ValueError, match=f"^trial 0 must be .* to {event} it, it is {state}; .*use "):
            before.apply(EVENTS[event])
    assert before.trials is old
    assert before == history(ask(), *PATHS[state], ask(1))


def test_the_table_of_states_is_the_table_of_outcomes():
    assert {(state, event) for event, states in ALLOWED_STATES.items() for state in states} == set(OUTCOMES)


def test_an_ask_begins_a_pending_trial():
    assert history(ask(x=0.25)).trials == (Trial(0, {"x": 0.25}, origin="sobol", handouts=1),)


@pytest.mark.parametrize(("end", "state"), [(TELL, "told"), (FAIL, "failed")])
def test_a_measurement_made_elsewhere_begins_and_ends_a_trial(end, state):
    found = history(end | {"params": {"x": 0.1}})[0]
    assert (found.state, found.origin, found.params) == (state, "user", {"x": 0.1})


def test_a_history_is_frozen():
    found = history(ask())
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'trials'"):
        found.trials = ()
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'state'"):
        found[0].state = "told"


def test_a_trial_does_not_share_its_point_with_the_event():
    event = ask(x=0.5)
    found = history(event)
    event["params"]["x"] = 9.0
    assert found[0].params == {"x": 0.5}


@pytest.mark.parametrize("number", [0, 2, -1])
def test_trials_are_numbered_in_order(number):
    with pytest.raises(ValueError, match=f"the next trial must be number 1, got {number}"):
        history(ask(), ask(number))


@pytest.mark.parametrize("number", [-1, 1, 5])
def test_a_trial_that_is_not_there_is_an_error(number):
    found = history(ask())
    with pytest.raises(ValueError, match=f"trial must be 0, the only one so far, got {number}"):
        found[number]
    with pytest.raises(ValueError, match=f"trial must be 0, the only one so far, got {number}"):
        found.apply(TELL | {"trial": number})


@pytest.mark.parametrize("event", ["exclude", "include", "amend"])
def test_only_a_tell_or_a_fail_may_begin_a_trial(event):
    with pytest.raises(ValueError, match="trial"):
        History().apply(EVENTS[event] | {"params": {"x": 0.1}})


def test_trials_are_found_by_state():
    found = history(ask(), TELL, ask(1), ask(2), FAIL | {"trial": 2})
    assert len(found) == 3
    assert [trial.number for trial in found] == [0, 1, 2]
    assert [[t.number for t in found.having(s)] for s in ("told", "pending", "failed", "excluded")] == [
        [0],
        [1],
        [2],
        [],
    ]


class TestRepeats:
    REPEAT = ask(1) | {"repeats": 0, "reason": "re-measure", "expected": 1.5, "expected_sd": 0.5}

    def test_a_repeat_says_what_it_repeats_and_why(self):
        found = history(ask(), TELL, self.REPEAT)[1]
        assert (found.repeats, found.reason, found.state) == (0, "re-measure", "pending")
        assert (found.expected, found.expected_sd) == (1.5, 0.5)

    def test_a_failed_retry_was_asked_for_as_one(self):
        asked = History().apply_all([{"event": "ask", "trial": 0, "params": {"x": 0.5}, "origin": "model"}])
        failed = asked.apply({"event": "fail", "trial": 0, "reason": "power cut"})
        again = {"event": "ask", "trial": 1, "params": {"x": 0.5}, "origin": "model", "repeats": 0, "reason": "retry"}
        ended = failed.apply_all([again, {"event": "fail", "trial": 1, "reason": "power cut"}])
        assert ended.apply({"event": "amend", "trial": 1, "value": 2.0, "sd": None})[1].reason == "retry"

    def test_a_verdict_on_a_failure_may_come_later_and_change(self):
        failed = History().apply_all(
            [
                {"event": "ask", "trial": 0, "params": {"x": 0.5}, "origin": "model"},
                {"event": "fail", "trial": 0, "reason": "power cut"},
            ]
        )
        said = failed.apply({"event": "fail", "trial": 0, "reason": "power cut", "retry": False})
        assert said[0].retry is False
        assert said.apply({"event": "fail", "trial": 0, "reason": "power cut", "retry": True})[0].retry is True
        with pytest.raises(ValueError, match="fail with retry to say whether it was a flake"):
            failed.apply({"event": "fail", "trial": 0, "reason": "again"})

    def test_a_failed_repeat_gives_its_own_reason_until_it_is_amended(self):
        failed = history(ask(), TELL, self.REPEAT, FAIL | {"trial": 1})
        assert failed[1].reason == "broke"
        assert failed.apply({"event": "amend", "trial": 1, "value": 2.0, "sd": None})[1].reason == "re-measure"

    def test_it_must_be_at_the_point_of_a_trial_that_is_there(self):
        with pytest.raises(ValueError, match="trial 1 must be at the point of trial 0"):
            history(ask(), TELL, self.REPEAT | {"params": {"x": 0.25}})
        with pytest.raises(ValueError, match="trial must be 0, the only one so far, got 7"):
            history(ask(), TELL, self.REPEAT | {"repeats": 7})

    def test_points_hold_their_trials_in_order(self):
        found = history(ask(), TELL, ask(1, x=0.25), self.REPEAT | {"trial": 2}).at_points()
        assert [[t.number for t in trials] for trials in found.values()] == [[0, 2], [1]]

    def test_the_frame_has_a_column(self):
        frame = history(ask(), TELL, self.REPEAT).to_frame()
        assert frame["repeats"].isna().tolist() == [True, False]
        assert frame["repeats"][1] == 0

    def test_only_a_trial_with_a_value_has_been_measured(self):
        assert history(ask(), TELL)[0].measured == 1.5
        with pytest.raises(ValueError, match="trial 0 must have a value, it is pending"):
            _ = history(ask())[0].measured


def test_a_frame_has_one_row_a_trial():
    frame = history(ask(x=0.5, n=3), TELL, ask(1, x=0.25, n=4), FAIL | {"trial": 1}, ask(2, x=1.0, n=5)).to_frame()
    assert list(frame.columns) == ["x", "n", *COLUMNS]
    assert (frame.index.name, frame.index.tolist()) == ("trial", [0, 1, 2])
    assert frame["value"].tolist()[:1] == [1.5]
    assert all(math.isnan(value) for value in [*frame["value"][1:], *frame["sd"][1:]])
    assert frame["state"].tolist() == ["told", "failed", "pending"]
    assert frame["reason"].tolist() == ["", "broke", ""]
    assert frame["origin"].tolist() == ["sobol"] * 3
    assert {name: str(frame[name].dtype) for name in ("x", "n", "value", "sd")} == {
        "x": "float64",
        "n": "int64",
        "value": "float64",
        "sd": "float64",
    }


@pytest.mark.parametrize("events", [(), (ask(),)], ids=["empty", "pending"])
def test_a_frame_without_values_has_the_same_columns_and_types(events):
    frame = history(*events).to_frame()
    assert list(frame.columns)[-8:] == COLUMNS
    assert len(frame) == len(events)
    assert (str(frame.index.dtype), frame.index.name) == ("int64", "trial")
    assert [str(frame[name].dtype) for name in ("value", "sd")] == ["float64", "float64"]
