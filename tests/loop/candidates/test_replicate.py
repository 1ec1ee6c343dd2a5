import math
from dataclasses import replace

import pytest
import torch

from robustbo.loop.belief.outcome_models import OutcomeModel
from robustbo.loop.candidates.rules import SingleOutcomeRules
from robustbo.loop.decide import step
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fit import fit_to
from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.trials.history import History
from robustbo.trials.outcomes import OutcomeGoal
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


def settings(replicate="flagged", **options):
    return Settings(SPACE, "maximize", num_initial=5, replicate=replicate, **options)


@pytest.fixture
def much(monkeypatch):
    """Any new point promises more than anything else is worth."""
    monkeypatch.setattr("robustbo.loop.candidates.replicate.expected_improvement", lambda *_: torch.tensor(1e3))


@pytest.fixture
def little(monkeypatch):
    """A new point promises a hundredth of what the values differ by."""
    monkeypatch.setattr("robustbo.loop.candidates.replicate.expected_improvement", lambda *_: torch.tensor(1e-2))


def repeated(given, made):
    data = observations(given, made)
    model = OutcomeModel(OutcomeGoal("", "maximize"), given, data, fit_to(given, data, FitCache()))
    return SingleOutcomeRules(data, model).replicate(POOR)


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

    @pytest.mark.usefixtures("little")
    def test_a_flagged_value_that_is_poor_either_way_is_not(self):
        assert decide(settings(), history(-5.0, at=0, expected_sd=1.0)) is None

    @pytest.mark.usefixtures("little")
    def test_a_value_beyond_all_that_is_expected_is_since_nothing_else_can_win_as_much(self):
        assert decide(settings(), history(1e6, at=0, expected_sd=0.3)) == 0
        assert decide(settings(), history(-1e6, at=0, expected_sd=0.3)) is None

    def test_nothing_is_where_nothing_is_flagged(self):
        assert decide(settings(), history(0.0)) is None

    def test_a_surrogate_that_doubts_nothing_measures_nothing_again(self):
        assert decide(settings(surrogate="standard"), history()) is None

    def test_never_is_never(self):
        assert decide(settings("never"), history()) is None

    def test_what_the_others_expect_is_kept_with_it(self):
        given, made = settings(), history()
        expected, sd, noise, _ = repeated(given, made).expected
        assert expected == pytest.approx(math.sin(2.0), abs=0.25)
        assert 0 < noise <= sd < 0.3


class TestSuspicious:
    def test_a_value_that_is_believed_is_measured_again_too_if_much_hangs_on_it(self):
        made = history(0.5, expected_sd=0.3)
        assert decide(settings(), made) is None
        assert decide(settings("any"), made) == 10

    def test_any_surrogate_will_do(self):
        assert decide(settings("any", surrogate="standard"), history()) == 10


class TestLimits:
    @pytest.mark.usefixtures("little")
    def test_a_settled_value_is_not_measured_again(self):
        assert decide(settings(), again(history(4.0), 0.9)) is None
        assert decide(settings(), again(history(), 2.1)) is None

    def test_two_that_disagree_are_followed_by_a_third_if_that_is_worth_it(self):
        made = again(history(), -0.5)  # neither is what the others expect
        assert decide(settings(), made) == 10

    @pytest.mark.usefixtures("much")
    def test_and_not_before_a_new_point_that_promises_more(self):
        assert decide(settings(), again(history(), 3.5)) is None

    def test_after_the_last_repeat_it_moves_on(self):
        made = again(history(), 3.5)
        assert decide(settings(max_replicates=1), made) is None
        assert decide(settings(), again(made, -3.0)) is None

    def test_a_pending_repeat_counts_and_so_does_a_failed_one(self):
        assert decide(settings(), again(history(), state="pending")) is None
        assert decide(settings(max_replicates=1), again(history(), state="fail")) is None

    def test_an_excluded_value_is_left_alone(self):
        assert decide(settings(), history().apply({"event": "exclude", "trial": 10})) is None

    def test_two_observations_and_equal_values_will_do(self):
        made = History()
        for i in range(2):
            made = made.apply({"event": "tell", "trial": i, "params": {"x": 0.5}, "value": 1.0, "sd": None})
            assert decide(settings("any"), made) is None


def test_a_step_that_repeats_is_at_the_very_point_and_says_so(monkeypatch):
    monkeypatch.setattr("robustbo.loop.optimize_acqf.maximizer.maximize", lambda *_: {"x": 0.05})
    made = step(settings(), history(), 16)
    assert (made.params, made.repeats) == ({"x": 10 / 15}, 10)
    (event,) = made.events(16)
    assert event["reason"] == "re-measure"
    assert set(event) == {
        *("event", "trial", "params", "origin", "expected", "expected_sd", "expected_noise"),
        *("repeats", "reason"),
        *("fit_s", "acquisition_s"),
    }
