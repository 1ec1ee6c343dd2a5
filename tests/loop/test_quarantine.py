import pytest

from robustbo.loop.evidence import BEYOND_BELIEF, surprise
from robustbo.loop.observations import observations
from robustbo.loop.place import Place
from robustbo.loop.quarantine import quarantine
from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

SPACE = Space(x=Float(0.0, 1.0))
GOOD, BAD = 1.0, -9.0  # the first is what was expected, the second is not


def at(*values, expected=(1.0, 1.0), repeats=True):
    """A point with these values, the first asked by a model, the rest (by default) repeats; nine others follow."""
    history = History()
    for number, value in enumerate(values):
        ask = {"event": "ask", "trial": number, "params": {"x": 0.5}, "origin": "model"}
        if expected is not None:
            ask |= {"expected": expected[0], "expected_sd": expected[1]}
        if number and repeats:
            ask |= {"repeats": 0, "reason": "re-measure"}
        history = history.apply(ask)
        if value is not None:
            history = history.apply({"event": "tell", "trial": number, "value": value, "sd": None})
    return in_company(history)


def in_company(history):
    for i in range(9):
        params = {"x": 0.6 + i / 100}
        history = history.apply({"event": "tell", "trial": len(history), "params": params, "value": 0.0, "sd": None})
    return history


def is_open(history):
    return Place(tuple(trial for trial in history if trial.params == {"x": 0.5})).is_open(1.0)


def left_out(history, sign=1.0, max_repeats=2):
    direction = "maximize" if sign > 0 else "minimize"
    doubted, refuted = quarantine(observations(Settings(SPACE, direction), history), max_repeats)
    return sorted(doubted), sorted(refuted)


class TestOneValue:
    def test_a_disappointment_beyond_belief_is_doubted(self):
        assert left_out(at(BAD)) == ([0], [])
        assert left_out(at(GOOD)) == ([], [])

    def test_what_disappoints_depends_on_the_direction(self):
        assert left_out(at(BAD), sign=-1.0) == ([], [])
        assert left_out(at(11.0), sign=-1.0) == ([0], [])

    def test_the_threshold_is_where_it_is_said(self):
        deviations = [d / 100 for d in range(300, 700)]
        first = next(d for d in deviations if left_out(at(1.0 - d)) == ([0], []))
        assert surprise(1.0 - first, 1.0, 1.0) >= BEYOND_BELIEF > surprise(1.01 - first, 1.0, 1.0)

    def test_nothing_was_expected_of_a_first_point_or_a_users(self):
        assert left_out(at(BAD, expected=None)) == ([], [])

    def test_a_verdict_of_the_user_is_his_own(self):
        assert left_out(at(BAD).apply({"event": "exclude", "trial": 0})) == ([], [])


class TestTwoValues:
    def test_two_that_agree_and_please_clear_each_other(self):
        history = at(11.0, 11.5)
        assert left_out(history) == ([], [])
        assert not is_open(history)

    def test_two_that_both_disappoint_want_a_third(self):
        history = at(BAD, BAD + 0.5)
        assert left_out(history) == ([0, 1], [])
        assert is_open(history)

    def test_but_not_beyond_the_last_repeat(self):
        assert left_out(at(BAD, BAD + 0.5), max_repeats=1) == ([], [])

    def test_of_two_that_do_not_the_unexpected_is_refuted(self):
        assert left_out(at(BAD, GOOD)) == ([], [0])
        assert left_out(at(GOOD, BAD)) == ([], [1])
        assert left_out(at(11.0, GOOD)) == ([], [0])

    def test_two_that_disagree_and_are_both_unexpected_stay_open(self):
        history = at(BAD, 8.0)
        assert left_out(history) == ([], [])
        assert is_open(history)

    @pytest.mark.parametrize("values", [(BAD, GOOD), (12.0, 12.0), (GOOD, 1.5), (BAD,), (BAD, 8.0, 8.0)])
    def test_all_else_is_settled(self, values):
        assert not is_open(at(*values))

    def test_nothing_is_said_where_nothing_was_expected(self):
        history = at(BAD, 8.0, expected=None)
        assert left_out(history) == ([], [])
        assert not is_open(history)

    def test_a_second_that_is_no_repeat_saw_the_first_and_does_not_judge_it(self):
        """In a discrete space the same point comes again by itself, asked by a model that knows its first value."""
        history = History()
        for number, (value, expected) in enumerate([(BAD, 1.0), (GOOD, BAD)]):
            ask = {"event": "ask", "trial": number, "params": {"x": 0.5}, "origin": "model"}
            history = history.apply(ask | {"expected": expected, "expected_sd": 1.0})
            history = history.apply({"event": "tell", "trial": number, "value": value, "sd": None})
        assert left_out(in_company(history)) == ([], [])


class TestThreeValues:
    def test_a_credible_one_refutes_the_rest(self):
        assert left_out(at(BAD, BAD, GOOD)) == ([], [0, 1])

    @pytest.mark.parametrize("values", [(-8.0, -8.1, 12.0), (BAD, BAD, BAD), (12.0, 12.0, -8.0)])
    def test_all_else_is_left_to_the_surrogate(self, values):
        assert left_out(at(*values)) == ([], [])
        assert not is_open(at(*values))


def test_a_pending_or_failed_repeat_changes_nothing():
    assert left_out(at(BAD, None)) == ([0], [])
    assert left_out(at(BAD, None).apply({"event": "fail", "trial": 1, "reason": "broke"})) == ([0], [])


def test_a_doubt_ends_with_the_last_repeat_even_if_all_of_them_failed():
    history = at(BAD, None, None)
    for number in (1, 2):
        history = history.apply({"event": "fail", "trial": number, "reason": "broke"})
    assert left_out(history) == ([], [])
    assert left_out(at(BAD, BAD, BAD), max_repeats=5) == ([], [])


def test_where_much_is_doubted_it_is_the_model_that_is_wrong():
    history = History()
    for number in range(10):
        ask = {"event": "ask", "trial": number, "params": {"x": number / 10}, "origin": "model"}
        history = history.apply(ask | {"expected": 1.0, "expected_sd": 1.0})
    for number in range(10):
        told = {"event": "tell", "trial": number, "value": BAD if number < 3 else GOOD, "sd": None}
        history = history.apply(told)
    assert left_out(history) == ([0, 1, 2], [])
    assert left_out(history.apply({"event": "amend", "trial": 9, "value": BAD, "sd": None})) == ([0, 1, 2], [])
    told_elsewhere = {"event": "exclude", "trial": 9}
    assert left_out(history.apply(told_elsewhere)) == ([], [])  # 3 of 9


@pytest.mark.parametrize("verdict", [{"event": "include"}, {"event": "amend", "value": BAD, "sd": None}])
def test_a_value_that_the_user_vouches_for_is_not_doubted(verdict):
    history = at(BAD).apply({"event": "exclude", "trial": 0})
    history = history.apply({"event": "include", "trial": 0}) if verdict["event"] == "amend" else history
    assert left_out(history.apply(verdict | {"trial": 0})) == ([], [])
