import pytest

from robustbo.loop.observations.expectation import Appraisal, Expectation
from robustbo.loop.observations.probability_wrong import (
    EVEN,
    CorruptionModel,
    groups_left_out,
    probabilities_wrong,
    probably_wrong,
    quarantine_suspects,
    status,
)
from robustbo.loop.observations.table import observations
from robustbo.numerics.gp.wrong_density import RATE
from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

SPACE = Space(x=Float(0.0, 1.0))
GOOD, BAD = 1.0, -9.0  # the first is what was expected, the second is not


def at(*values, expected=(1.0, 0.2), repeats=True):
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
        params, value = {"x": 0.6 + i / 100}, 0.1 * i
        history = history.apply({"event": "tell", "trial": len(history), "params": params, "value": value, "sd": None})
    return history


def data(history):
    return observations(Settings(SPACE, "maximize"), history)


def left_out(history):
    return sorted(quarantine_suspects(data(history), RATE))


class TestOneValue:
    def test_one_that_is_more_probably_wrong_than_right_by_what_was_expected_is_doubted(self):
        assert left_out(at(BAD)) == [0]
        assert left_out(at(GOOD)) == []

    def test_one_that_is_better_than_expected_is_left_to_the_surrogate(self):
        assert left_out(at(11.0)) == []
        given = observations(Settings(SPACE, "minimize"), at(11.0))
        assert quarantine_suspects(given, RATE) == {0}
        assert not quarantine_suspects(observations(Settings(SPACE, "minimize"), at(BAD)), RATE)

    def test_the_threshold_is_where_it_is_even(self):
        first = next(d / 100 for d in range(20, 300) if left_out(at(1.0 - d / 100)) == [0])
        (trial,) = data(at(1.0 - first)).groups[(("x", False, 0.5),)].told
        found = data(at(1.0 - first))
        assert CorruptionModel.of(found, RATE).probability_wrong([trial], Expectation(1.0, 0.2))[0] > EVEN
        assert 2 < first / 0.2 < 7

    def test_nothing_was_expected_of_a_first_point_or_a_users(self):
        assert left_out(at(BAD, expected=None)) == []

    def test_a_verdict_of_the_user_is_his_own(self):
        assert left_out(at(BAD).apply({"event": "exclude", "trial": 0})) == []
        assert left_out(at(BAD, 8.0).apply({"event": "exclude", "trial": 0})) == []

    def test_a_pending_or_failed_repeat_changes_nothing(self):
        assert left_out(at(BAD, None)) == [0]
        assert left_out(at(BAD, None).apply({"event": "fail", "trial": 1, "reason": "broke"})) == [0]


class TestSeveralValues:
    def test_those_that_agree_clear_each_other(self):
        assert left_out(at(11.0, 11.2)) == []
        assert left_out(at(BAD, BAD + 0.2)) == []

    def test_but_not_where_failures_may_look_alike(self):
        """The value stands at another point too, to the last digit."""
        twin = {"event": "tell", "trial": 11, "params": {"x": 0.2}, "value": BAD, "sd": None}
        assert left_out(at(BAD, BAD)) == []
        assert left_out(at(BAD, BAD).apply(twin)) == [0, 1]
        assert left_out(at(BAD, BAD).apply(twin | {"value": BAD + 1e-6})) == []

    def test_of_two_that_do_not_the_unexpected_is_doubted(self):
        assert left_out(at(BAD, GOOD)) == [0]
        assert left_out(at(GOOD, BAD)) == [1]
        assert left_out(at(11.0, GOOD)) == [0]

    def test_a_credible_one_speaks_against_all_others(self):
        assert left_out(at(BAD, BAD + 3, GOOD)) == [0, 1]

    def test_nothing_is_said_where_nothing_was_expected(self):
        assert left_out(at(BAD, 8.0, expected=None)) == []

    def test_a_second_that_is_no_repeat_saw_the_first_and_does_not_judge_it(self):
        """In a discrete space the same point comes again by itself, asked by a model that knows its first value."""
        history = History()
        for number, (value, expected) in enumerate([(BAD, 1.0), (GOOD, BAD)]):
            ask = {"event": "ask", "trial": number, "params": {"x": 0.5}, "origin": "model"}
            history = history.apply(ask | {"expected": expected, "expected_sd": 0.2})
            history = history.apply({"event": "tell", "trial": number, "value": value, "sd": None})
        assert left_out(in_company(history)) == []


def test_where_much_is_doubted_it_is_the_models_that_are_wrong():
    history = History()
    for number in range(10):
        ask = {"event": "ask", "trial": number, "params": {"x": number / 10}, "origin": "model"}
        history = history.apply(ask | {"expected": 1.0, "expected_sd": 0.2})
    for number in range(10):
        told = {"event": "tell", "trial": number, "value": BAD if number < 3 else GOOD, "sd": None}
        history = history.apply(told)
    assert left_out(history) == [0, 1, 2]
    assert left_out(history.apply({"event": "exclude", "trial": 9})) == []  # 3 of 9


@pytest.mark.parametrize("verdict", [{"event": "include"}, {"event": "amend", "value": BAD, "sd": None}])
def test_a_value_that_the_user_vouches_for_is_not_doubted(verdict):
    history = at(BAD).apply({"event": "exclude", "trial": 0})
    history = history.apply({"event": "include", "trial": 0}) if verdict["event"] == "amend" else history
    assert left_out(history.apply(verdict | {"trial": 0})) == []


def of_told(data, appraisals, unseen):
    """Probabilities of a table's told values, by the model of its own values."""
    return probabilities_wrong(data, CorruptionModel.of(data, RATE), appraisals, unseen)


class TestProbabilities:
    def words(self, given, wrong=None):
        return {t.number: Appraisal(0.4, 0.3, 0.0, False, None, wrong) for t in given.told}

    def test_the_surrogates_own_comes_first(self):
        given = data(at(BAD))
        assert probabilities_wrong(
            given, CorruptionModel.of(given, RATE), self.words(given, 0.25), {}
        ) == dict.fromkeys(range(10), 0.25)

    def test_one_value_is_held_against_the_others_and_several_against_what_was_expected(self):
        given = data(at(BAD))
        by_others = CorruptionModel.of(given, RATE).probability_wrong(given.told[:1], Expectation(0.4, 0.3))
        assert of_told(given, self.words(given), {})[0] == by_others[0]
        given = data(at(BAD, GOOD))
        found = of_told(given, self.words(given), {})
        together = CorruptionModel.of(given, RATE).probability_wrong(given.told[:2], Expectation(1.0, 0.2))
        assert {n: found[n] for n in (0, 1)} == together

    def test_what_is_not_modelled_is_held_against_the_model(self):
        given = data(at(BAD, BAD + 3))
        found = probabilities_wrong(
            given, CorruptionModel.of(given, RATE), self.words(given), {n: Expectation(BAD, 0.1) for n in (0, 1)}
        )
        assert found[0] < 0.1 < 0.9 < found[1]


def test_points_are_not_modelled_where_none_of_their_values_is():
    given = data(at(BAD, GOOD))
    assert groups_left_out(given, frozenset({0})) == []
    (place,) = groups_left_out(given, frozenset({0, 1}))
    assert place.told == given.told[:2]


@pytest.mark.parametrize(
    ("doubted_ones", "others", "is_quarantined", "said"),
    [
        ({}, 0, False, "inlier"),
        ({}, 1, False, "confirmed"),
        ({1}, 1, False, "confirmed"),
        ({0}, 0, False, "flagged"),
        ({0}, 0, True, "quarantined"),
        ({0}, 1, True, "refuted"),
        ({0, 1}, 1, True, "quarantined"),
        ({0, 1}, 1, False, "flagged"),
    ],
)
def test_each_value_has_one_status(doubted_ones, others, is_quarantined, said):
    first, *rest = data(at(BAD, GOOD)).told[: 1 + others]
    assert status(first, rest, frozenset(doubted_ones), is_quarantined) == said


def test_even_odds_are_no_disbelief():
    assert probably_wrong({0: EVEN, 1: EVEN + 1e-9}) == {1}
