"""Words on sources: they stand, the last holds, and taking one back gives the values as they were told."""

import pytest

from robustbo.censored import Below, censored_value
from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.trials import schema
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.verdicts import standing

AGAIN = "reactor R3 is believed again"
VALUES = [0.1, 0.2, 0.7, 0.3]
SOURCES = [{"reactor": "R1"}, {"reactor": "R3"}, {"reactor": "R3", "plate": "7"}, {}]


def tell(number, value, source=None, **more):
    event = {"event": "tell", "trial": number, "params": {"x": 0.1 * number}, "value": value, "sd": None, **more}
    return event | ({"source": source} if source else {})


def verdict(kind, source, **more):
    return {"event": "verdict", "trial": 0, "verdict": kind, "source": source, **more}


@pytest.fixture
def history():
    return History().apply_all(tell(i, *pair) for i, pair in enumerate(zip(VALUES, SOURCES, strict=True)))


def values(history):
    return [trial.value if trial.state == "told" else trial.state for trial in history]


def test_the_order_of_telling_is_kept(history):
    asks = [{"event": "ask", "trial": 4 + i, "params": {"x": 0.5}} for i in range(3)]
    ends = [
        {"event": "tell", "trial": 6, "value": 1.0, "sd": None},
        {"event": "fail", "trial": 4, "reason": "broke"},
        {"event": "tell", "trial": 5, "value": 2.0, "sd": None},
        {"event": "amend", "trial": 4, "value": 3.0, "sd": None},
    ]
    later = history.apply_all([*asks, *ends])
    assert [trial.order for trial in later] == [0, 1, 2, 3, 5, 6, 4]
    one_by_one = history
    for event in [*asks, *ends]:
        one_by_one = one_by_one.apply(event)
    assert [trial.order for trial in one_by_one] == [0, 1, 2, 3, 5, 6, 4]


def test_what_a_trial_is_asked_for_by_measures_it_unless_told_otherwise():
    ask = {"event": "ask", "trial": 0, "params": {"x": 0.5}, "source": {"reactor": "R3"}}
    ended = History().apply(ask).apply({"event": "tell", "trial": 0, "value": 1.0, "sd": None})
    assert ended[0].sources == {"reactor": "R3"}
    other = {"event": "tell", "trial": 0, "value": 1.0, "sd": None, "source": {"reactor": "R4", "plate": "7"}}
    assert History().apply(ask).apply(other)[0].sources == {"reactor": "R4", "plate": "7"}
    taken_back = History().apply(ask).apply({"event": "requeue", "trial": 0})
    assert taken_back[0].sources == {}
    assert taken_back.apply({"event": "assign", "trial": 0, "source": {"reactor": "R2"}})[0].sources == {
        "reactor": "R2"
    }


def test_a_source_is_excluded_from_a_trial_on_and_in_future(history):
    excluded = history.apply(verdict("exclude", {"reactor": "R3"}, since=2, reason="lamp"))
    assert values(excluded) == [0.1, 0.2, "excluded", 0.3]
    assert excluded[2].note == "lamp"
    later = excluded.apply_all([tell(4, 1.0, {"reactor": "R3"}), tell(5, 2.0, {"reactor": "R1"})])
    assert values(later) == [0.1, 0.2, "excluded", 0.3, "excluded", 2.0]
    assert values(later.apply(verdict("include", {"reactor": "R3"}))) == [*VALUES, 1.0, 2.0]


def test_the_last_word_holds(history):
    words = [verdict("exclude", {"reactor": "R3"}), verdict("include", {"reactor": "R3"}, since=2)]
    assert values(history.apply_all(words)) == [0.1, "excluded", 0.7, 0.3]
    assert values(history.apply_all([*words, tell(4, 1.0, {"reactor": "R3"})]))[4] == 1.0


def test_a_correction_is_taken_off_and_taken_back_to_the_bit(history):
    corrected = history.apply(verdict("correct", {"reactor": "R3"}, error=0.1))
    assert values(corrected) == [0.1, 0.2 - 0.1, 0.7 - 0.1, 0.3]
    assert corrected[2].as_told == 0.7
    twice = corrected.apply(verdict("correct", {"reactor": "R3"}, error=0.3))
    assert values(twice) == [0.1, 0.2 - 0.3, 0.7 - 0.3, 0.3]
    later = twice.apply(tell(4, 1.0, {"reactor": "R3"}))
    assert values(later)[4] == 0.7
    assert later.apply(verdict("include", {"reactor": "R3"})).trials[:4] == history.trials[:]


def test_a_correction_takes_the_place_of_an_exclusion(history):
    words = [verdict("exclude", {"reactor": "R3"}), verdict("correct", {"reactor": "R3"}, error=0.1)]
    assert values(history.apply_all(words)) == [0.1, 0.2 - 0.1, 0.7 - 0.1, 0.3]


def test_a_bound_is_corrected_to_a_bound():
    told = History().apply(tell(0, "<0.5", {"reactor": "R3"}))
    corrected = told.apply(verdict("correct", {"reactor": "R3"}, error=0.25))
    assert corrected[0].value == censored_value(Below(0.25))
    assert corrected[0].as_told == censored_value(Below(0.5))


def test_a_word_on_one_value_is_later_and_holds(history):
    alone = {"event": "exclude", "trial": 1, "reason": "spilled"}
    by_itself = history.apply_all([alone, verdict("exclude", {"reactor": "R3"}), verdict("include", {"reactor": "R3"})])
    assert values(by_itself) == [0.1, "excluded", 0.7, 0.3]
    vouched = history.apply_all(
        [verdict("exclude", {"reactor": "R3"}), {"event": "include", "trial": 2, "vouch": True}]
    )
    assert values(vouched) == [0.1, "excluded", 0.7, 0.3]
    assert vouched[2].is_vouched
    amended = history.apply_all(
        [verdict("correct", {"reactor": "R3"}, error=0.1), {"event": "amend", "trial": 2, "value": 0.9, "sd": None}]
    )
    assert amended[2].value == 0.9
    assert amended[2].as_told is None


def test_a_value_that_is_amended_as_it_was_read_stays_corrected(history):
    corrected = history.apply(verdict("correct", {"reactor": "R3"}, error=0.1))
    amended = corrected.apply({"event": "amend", "trial": 2, "value": 0.9, "sd": None, "raw": True})
    assert (amended[2].value, amended[2].as_told, amended[2].former_values) == (0.9 - 0.1, 0.9, (0.7,))
    assert values(amended.apply(verdict("include", {"reactor": "R3"}))) == [0.1, 0.2, 0.9, 0.3]
    back = [verdict("correct", {"reactor": "R3"}, error=0.1), verdict("include", {"reactor": "R3"})]
    again = history.apply_all([*back, {"event": "amend", "trial": 2, "value": 0.9, "sd": None, "raw": True}])
    assert (again[2].value, again[2].as_told) == (0.9, None)


def test_a_value_of_another_source_than_was_told_is_judged_by_the_words_on_that():
    told = History().apply_all(tell(i, 1.0, {"reactor": "R1"}) for i in range(3))
    words = [verdict("correct", {"reactor": "R3"}, error=0.25), verdict("exclude", {"reactor": "R4"})]

    def moved(history, source):
        event = {"event": "amend", "trial": 1, "value": 1.0, "sd": None, "unchanged": True, "source": source}
        return history.apply(event | {"labels": {"lot": 7}})

    corrected = moved(told.apply_all(words), {"reactor": "R3"})
    assert (corrected[1].value, corrected[1].as_told, corrected[1].labels) == (0.75, 1.0, {"lot": 7})
    excluded = moved(corrected, {"reactor": "R4"})
    assert values(excluded) == [1.0, "excluded", 1.0]
    assert values(moved(excluded, {"reactor": "R1"})) == [1.0, 1.0, 1.0]


def test_an_amendment_of_labels_alone_changes_no_word_on_the_value(history):
    vouched = history.apply({"event": "include", "trial": 1, "vouch": True})
    event = {"event": "amend", "trial": 1, "value": 0.2, "sd": None, "unchanged": True, "labels": {"lot": 7}}
    labelled = vouched.apply(event)
    assert (labelled[1].is_vouched, labelled[1].former_values, labelled[1].labels) == (True, (), {"lot": 7})


def test_everything_since_a_trial(history):
    shifted = history.apply(verdict("correct", {}, since=2, error=0.1))
    assert values(shifted) == [0.1, 0.2, 0.7 - 0.1, 0.3 - 0.1]


def test_an_outcome_alone():
    told = History().apply_all(
        tell(i, {"a": 1.0 * i, "b": 2.0}, {"reactor": f"R{i % 2}"}) | {"sd": {"a": None, "b": None}} for i in range(4)
    )
    excluded = told.apply(verdict("exclude", {"reactor": "R1"}, outcome="a"))
    assert [trial.outcomes["a"].is_excluded for trial in excluded] == [False, True, False, True]
    assert [trial.state for trial in excluded] == ["told"] * 4
    corrected = excluded.apply(verdict("correct", {"reactor": "R1"}, outcome="b", error=0.5))
    assert [trial.outcomes["b"].value for trial in corrected] == [2.0, 1.5, 2.0, 1.5]
    assert corrected.apply(verdict("include", {"reactor": "R1"})).trials == told.trials
    whole = told.apply(verdict("exclude", {"reactor": "R1"}))
    assert [trial.state for trial in whole] == ["told", "excluded"] * 2
    assert whole.apply(verdict("include", {"reactor": "R1"})).trials == told.trials


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (verdict("exclude", {}), "must name a source"),
        (verdict("exclude", {"reactor": "R3"}, since=9), "must be one of the trials"),
        (verdict("exclude", {"reactor": "R3"}, since=4), "must be a trial that was told, trial 4 is pending"),
    ],
)
def test_a_word_must_say_of_what(history, event, words):
    with pytest.raises(ValueError, match=words):
        history.apply({"event": "ask", "trial": 4, "params": {"x": 0.5}}).apply(event)


@pytest.mark.parametrize(
    "event",
    [
        verdict("burn", {"reactor": "R3"}),
        verdict("correct", {"reactor": "R3"}),
        verdict("exclude", {"reactor": "R3"}, error=1.0),
        verdict("correct", {"reactor": "R3"}, error=float("inf")),
        verdict("exclude", {"reactor": 3}),
        verdict("exclude", {"reactor": "R" * 201}),
        verdict("exclude", {"reactor": "R3"}, outcome="a"),
        tell(0, 1.0, {f"k{i}": "R" for i in range(21)}),
        tell(0, 1.0, {"": "R"}),
    ],
)
def test_a_forged_line_is_refused(event):
    with pytest.raises(ValueError, match=r"verdict|error|source|outcome|event"):
        schema.check(event, Settings(Space(x=Float(0, 1))))


def test_words_that_others_have_taken_back_do_not_stand(history):
    def texts(*words):
        return [word.text for word in standing(history.apply_all(words).verdicts)]

    r3, everything = {"reactor": "R3"}, {}
    exclude, later = verdict("exclude", r3), verdict("include", r3, since=2)
    assert texts(exclude, verdict("include", r3)) == []
    assert texts(exclude, verdict("correct", r3, error=0.5)) == ["reactor R3 is corrected by -0.5"]
    assert texts(exclude, later) == ["reactor R3 is excluded", "reactor R3 is believed again since trial 2"]
    assert texts(verdict("exclude", {"plate": "7"}), verdict("include", r3)) == ["plate 7 is excluded", AGAIN]
    assert texts(verdict("exclude", {"reactor": "R1"}), verdict("include", r3)) == ["reactor R1 is excluded"]
    assert texts(verdict("exclude", everything, since=1), verdict("include", r3, since=3)) == [
        "everything is excluded since trial 1",
        "reactor R3 is believed again since trial 3",
    ]
