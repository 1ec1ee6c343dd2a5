import math
from dataclasses import replace

import pytest
import torch

from robustbo.loop import decide as deciding
from robustbo.loop.cache import FitCache
from robustbo.loop.decide import step
from robustbo.loop.fit import fit, fit_to
from robustbo.loop.observations import observations
from robustbo.loop.replicate import IN_A_ROW
from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

SPACE = Space(x=Float(0.0, 1.0))
POOR = (0.0,)  # a new point that promises nothing


def history(off=1.2, sign=1.0, at=10, expected_sd=None):
    """16 noisy values of a sine, the eleventh (unless said) too good by some: 1.2 is flagged, 0.5 is not.

    No model has expected them, unless it is said with which standard deviation.
    """
    noise = torch.randn(16, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).tolist()
    made = History()
    for i in range(16):
        clean = math.sin(3 * i / 15)
        value = clean + 0.1 * noise[i] + (off if i == at else 0.0)
        tell = {"event": "tell", "trial": i, "value": sign * value, "sd": None}
        if expected_sd is None:
            tell |= {"params": {"x": i / 15}, "origin": "user"}
        else:
            ask = {"event": "ask", "trial": i, "params": {"x": i / 15}, "origin": "model"}
            made = made.apply(ask | {"expected": sign * clean, "expected_sd": expected_sd})
        made = made.apply(tell)
    return made


def settings(remeasure="promising", **options):
    return Settings(SPACE, "maximize", num_initial=5, remeasure=remeasure, **options)


@pytest.fixture
def much(monkeypatch):
    """Any new point promises more than anything else is worth."""
    monkeypatch.setattr("robustbo.loop.replicate.expected_improvement", lambda *_: torch.tensor(1e3))


def repeated(given, made):
    data = observations(given, made)
    return deciding._replicate(given, data, fit_to(given, data, FitCache()), POOR)


def decide(given, made):
    found = repeated(given, made)
    return None if found is None else found.repeats


def again(made, value=None, of=10, state="tell"):
    number = len(made)
    ask = {"event": "ask", "trial": number, "params": made[of].params, "origin": "model", "repeats": of}
    made = made.apply(ask | {"expected": 0.9 if of == 10 else value, "expected_sd": 0.1})
    if state == "pending":
        return made
    if state == "fail":
        return made.apply({"event": "fail", "trial": number, "reason": "broke"})
    return made.apply({"event": "tell", "trial": number, "value": value, "sd": None})


class TestPromising:
    @pytest.mark.parametrize(("direction", "sign"), [("maximize", 1.0), ("minimize", -1.0)])
    def test_a_flagged_value_that_would_be_the_best_is_measured_again(self, direction, sign):
        assert decide(replace(settings(), direction=direction), history(sign=sign)) == 10

    @pytest.mark.usefixtures("much")
    def test_a_new_point_that_promises_more_comes_first(self):
        assert decide(settings(), history(expected_sd=0.3)) is None

    def test_a_flagged_value_that_is_poor_either_way_is_not(self):
        assert decide(settings(), history(-5.0, at=0, expected_sd=1.0)) is None

    def test_a_value_beyond_all_doubt_is_not(self):
        assert decide(settings(), history(1e6, at=0, expected_sd=0.3)) is None

    def test_nothing_is_where_nothing_is_flagged(self):
        assert decide(settings(), history(0.0)) is None

    def test_a_surrogate_that_doubts_nothing_measures_nothing_again(self):
        assert decide(settings(surrogate="standard"), history()) is None

    def test_never_is_never(self):
        assert decide(settings("never"), history()) is None

    def test_a_failures_signature_is_not_asked_about_twice(self):
        """The same value was refuted at another point."""
        made = history()
        value = made[10].value
        made = again(made, 0.9).apply({"event": "exclude", "trial": 4})
        twin = {"event": "tell", "trial": 17, "params": {"x": 4 / 15}, "sd": None}
        assert decide(settings(), made.apply(twin | {"value": value + 0.01})) == 17
        assert decide(settings(), made.apply(twin | {"value": value})) is None

    def test_a_value_that_recurs_and_is_flagged_wherever_it_stands_is_passed_over(self):
        """Another measurement of it may be another failure; at two points it may be chance."""
        made = history()
        for number, place in ((16, 0.25), (17, 0.45)):
            stuck = {"event": "tell", "trial": number, "params": {"x": place}, "value": made[10].value, "sd": None}
            assert decide(settings(), made) is not None
            made = made.apply(stuck)
        assert fit(settings(), made).model.support == [10, 16, 17]
        assert decide(settings(), made) is None
        assert decide(settings(), made.apply({"event": "exclude", "trial": 17})) is not None

    @pytest.mark.usefixtures("much")
    def test_one_that_only_repeats_such_a_value_leaves_nothing_open(self):
        made = history()
        for number, place in ((16, 0.05), (17, 0.25), (18, 0.45)):
            made = made.apply({"event": "tell", "trial": number, "params": {"x": place}, "value": 3.5, "sd": None})
        assert decide(settings(), again(made, 3.4)) == 10
        assert decide(settings(), again(made, 3.5)) is None

    @pytest.mark.parametrize(("last", "asked"), [(-3.5, None), (-3.6, 18)])
    def test_such_values_are_passed_over_where_they_are_quarantined_too(self, last, asked):
        made = history(0.0)
        for number, place, value in ((16, 0.25, -3.5), (17, 0.45, -3.5), (18, 0.55, last)):
            ask = {"event": "ask", "trial": number, "params": {"x": place}, "origin": "model"}
            made = made.apply(ask | {"expected": 0.9, "expected_sd": 0.1})
            made = made.apply({"event": "tell", "trial": number, "value": value, "sd": None})
        assert fit(settings(), made).quarantined == (16, 17, 18)
        assert decide(settings(), made) == asked

    @pytest.mark.parametrize(("scale", "shift"), [(1e-13, 0.0), (1e-5, 1e3), (1e6, 0.0)])
    def test_units_do_not_matter(self, scale, shift):
        made = History()
        values = [t.value for t in history()]
        for i, (x, value) in enumerate(
            [*((i / 15, y) for i, y in enumerate(values)), *((x, values[10]) for x in (0.25, 0.45))]
        ):
            tell = {"event": "tell", "trial": i, "params": {"x": x}, "value": scale * value + shift, "sd": None}
            made = made.apply(tell)
        assert decide(settings(), made) is None

    def test_what_the_others_expect_is_kept_with_it(self):
        given, made = settings(), history()
        expected, sd = repeated(given, made).expected
        assert expected == pytest.approx(math.sin(2.0), abs=0.25)
        assert 0 < sd < 0.3


class TestFlattering:
    """The best value, where no model asked for it and another has failed."""

    def made(self, off=0.5, sign=1.0, low=-5.0, **how):
        tell = {"event": "tell", "trial": 16, "params": {"x": 0.3}, "value": sign * low, "sd": None, "origin": "user"}
        return history(off, sign, **how).apply(tell)

    @pytest.mark.usefixtures("much")
    @pytest.mark.parametrize(("direction", "sign"), [("maximize", 1.0), ("minimize", -1.0)])
    @pytest.mark.parametrize("off", [0.5, 1.2])
    def test_it_is_measured_again_whatever_a_new_point_promises(self, direction, sign, off):
        given = replace(settings(), direction=direction)
        assert decide(given, self.made(off, sign)) == 10
        assert decide(given, self.made(off, sign, expected_sd=0.3)) is None  # a model asked for it
        assert decide(given, self.made(off, sign, low=0.5)) is None  # nothing has failed

    @pytest.mark.usefixtures("much")
    def test_any_failure_tells_of_it_and_what_fails_is_said_by_the_values_that_no_model_asked_for(self):
        made = history(0.5)
        for number in range(16, 56):  # a model knows better places: beside them the others would look like failures
            ask = {"event": "ask", "trial": number, "params": {"x": 0.39 + 0.002 * number}, "origin": "model"}
            value = 0.93 + 0.001 * number + 0.01 * (7 * number % 5 - 2)
            made = made.apply(ask).apply({"event": "tell", "trial": number, "value": value, "sd": None})
        assert decide(settings(), made) is None
        made = made.apply({"event": "ask", "trial": 56, "params": {"x": 0.2}, "origin": "model"})
        assert decide(settings(), made.apply({"event": "tell", "trial": 56, "value": -5.0, "sd": None})) == 10

    @pytest.mark.usefixtures("much")
    @pytest.mark.parametrize(("surrogate", "asked"), [("student-t", 10), ("filtered", 10), ("conjugate", None)])
    def test_a_surrogate_that_is_too_sure_is_not_asked_of_it(self, surrogate, asked):
        assert decide(settings(surrogate=surrogate), self.made(0.7)) == asked

    @pytest.mark.usefixtures("much")
    def test_a_failure_that_the_user_has_excluded_tells_of_it_too(self):
        assert decide(settings(), self.made().apply({"event": "exclude", "trial": 16})) == 10

    def test_that_is_once_whether_it_is_borne_out_or_not(self):
        made = self.made()
        assert decide(settings(), again(made, made[10].value)) is None
        assert decide(settings(), again(made, 0.9)) is None

    @pytest.mark.usefixtures("much")
    def test_one_that_the_others_bear_out_is_believed(self):
        assert decide(settings(), self.made(0.0)) is None

    @pytest.mark.usefixtures("much")
    def test_one_that_is_wrong_beyond_doubt_gives_its_place_to_the_next(self):
        gross = {"event": "tell", "trial": 17, "params": {"x": 0.35}, "value": 1e6, "sd": None}
        assert decide(settings(), self.made().apply(gross)) == 10

    @pytest.mark.usefixtures("much")
    def test_one_that_was_refuted_gives_its_place_to_the_next(self):
        made = self.made().apply({"event": "tell", "trial": 17, "params": {"x": 0.7}, "value": 1.6, "sd": None})
        assert decide(settings(), made) == 17
        assert decide(settings(), again(made, 0.9, of=17)) == 10

    @pytest.mark.usefixtures("much")
    def test_one_that_would_not_be_the_best_by_much_is_not_worth_it(self, monkeypatch):
        monkeypatch.setattr("robustbo.loop.replicate.WORTH", 10.0)
        assert decide(settings(), self.made()) is None

    def test_never_is_never_and_a_surrogate_that_doubts_nothing_has_no_doubts_here(self):
        assert decide(settings("never"), self.made()) is None
        assert decide(settings(surrogate="standard"), self.made()) is None


class TestSuspicious:
    def test_a_value_that_is_believed_is_measured_again_too_if_much_hangs_on_it(self):
        made = history(0.5, expected_sd=0.3)
        assert decide(settings(), made) is None
        assert decide(settings("suspicious"), made) == 10

    def test_any_surrogate_will_do(self):
        assert decide(settings("suspicious", surrogate="standard"), history()) == 10


class TestLimits:
    def test_a_settled_value_is_not_measured_again(self):
        assert decide(settings(), again(history(), 0.9)) is None
        assert decide(settings(), again(history(), 2.1)) is None

    @pytest.mark.usefixtures("much")
    def test_two_that_disagree_are_followed_by_a_third_whatever_a_new_point_promises(self):
        made = again(history(), 3.5)  # neither is what the others expect
        assert decide(settings(), made) == 10

    def test_after_the_last_repeat_it_moves_on(self):
        made = again(history(), 3.5)
        assert decide(settings(max_repeats=1), made) is None
        assert decide(settings(), again(made, -3.0)) is None

    def test_a_pending_repeat_counts_and_so_does_a_failed_one(self):
        assert decide(settings(), again(history(), state="pending")) is None
        assert decide(settings(max_repeats=1), again(history(), state="fail")) is None

    def test_after_some_in_a_row_a_new_point_has_its_turn(self):
        made = history()
        for of in range(IN_A_ROW):
            made = again(made, made[of].value, of)
        assert decide(settings(), made) is None
        new = {"event": "tell", "trial": len(made), "params": {"x": 0.01}, "value": 0.03, "sd": None}
        assert decide(settings(), made.apply(new)) == 10

    def test_an_excluded_value_is_left_alone(self):
        assert decide(settings(), history().apply({"event": "exclude", "trial": 10})) is None

    def test_two_observations_and_equal_values_will_do(self):
        made = History()
        for i in range(2):
            made = made.apply({"event": "tell", "trial": i, "params": {"x": 0.5}, "value": 1.0, "sd": None})
            assert decide(settings("suspicious"), made) is None


def test_a_step_that_repeats_is_at_the_very_point_and_says_so(monkeypatch):
    monkeypatch.setattr("robustbo.loop.maximizer.maximize", lambda *_: {"x": 0.05})
    made = step(settings(), history(), 16)
    assert (made.params, made.repeats) == ({"x": 10 / 15}, 10)
    (event,) = made.events(16)
    assert event["reason"] == "re-measure"
    assert set(event) == {
        *("event", "trial", "params", "origin", "expected", "expected_sd", "repeats", "reason"),
        *("fit_s", "acquisition_s"),
    }
