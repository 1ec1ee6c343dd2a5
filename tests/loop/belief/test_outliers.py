import dataclasses
import math

import pytest
import torch

from robustbo.loop.belief.outliers import outliers
from robustbo.loop.surrogate import fit
from robustbo.report.summary.overview import overview
from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.view.view import View

SPACE = Space(x=Float(0.0, 1.0))


def told(values):
    history = History()
    for i, value in enumerate(values):
        params = {"x": i / (len(values) - 1)}
        history = history.apply({"event": "tell", "trial": i, "params": params, "value": value, "sd": None})
    return history


VALUES = [(i / 11 - 0.4) ** 2 for i in range(12)]
WRONG = [*VALUES[:7], 30.0, *VALUES[8:]]


@pytest.fixture(params=["minimize", "maximize"])
def settings(request):
    return Settings(SPACE, request.param, num_initial=4)


@pytest.mark.few(1)
def test_the_liar_comes_first_with_what_was_expected_in_its_place(settings):
    first, *others = outliers(settings, told(WRONG))
    assert (first.trial.number, first.value, first.flagged) == (7, 30.0, True)
    assert first.expected == pytest.approx(VALUES[7], abs=0.1)
    assert not any(o.flagged for o in others)
    assert [o.evidence for o in others] == sorted((o.evidence for o in others), reverse=True)
    assert len(others) == 11


@pytest.mark.few(1)
def test_the_number_of_threads_changes_no_bit(settings):
    first = outliers(settings, told(WRONG))
    try:
        torch.set_num_threads(2)
        assert outliers(settings, told(WRONG)) == first
    finally:
        torch.set_num_threads(1)


@pytest.mark.few(1)
def test_an_overview_names_the_suspects_and_the_incumbent(settings):
    found = overview(View(settings, told(WRONG)))
    assert [(row["trial"], row["flagged"]) for row in found["outliers"]][:1] == [(7, True)]
    best = min(VALUES) if settings.direction == "minimize" else max(VALUES)
    assert found["incumbent"]["value"] == pytest.approx(best, abs=0.05)
    assert found["best_raw_value"]["value"] == (30.0 if settings.direction == "maximize" else min(WRONG))
    assert found["trials"] == {"told": 12, "pending": 0, "queued": 0, "failed": 0, "excluded": 0}


def test_an_overview_of_nothing_has_neither():
    found = overview(View(Settings(SPACE), History()))
    assert (found["incumbent"], found["best_raw_value"], found["outliers"]) == (None, None, [])


def again(history, of, value, **expected):
    number = len(history)
    ask = {"event": "ask", "trial": number, "params": history[of].params, "origin": "model", "repeats": of, **expected}
    return history.apply(ask).apply({"event": "tell", "trial": number, "value": value, "sd": None})


def remeasured(settings, history):
    return {o.trial.number: (o.flagged, o.remeasured) for o in outliers(settings, history)}


@pytest.mark.few(1)
class TestReplicates:
    def test_not_yet(self, settings):
        found = remeasured(settings, told(WRONG))
        assert found[7] == (True, "not yet")
        assert found[0] == (False, "not yet")

    def test_a_flagged_value_is_refuted_by_one_that_the_others_expect(self, settings):
        found = remeasured(settings, again(told(WRONG), 7, VALUES[7]))
        assert (found[7], found[12]) == ((True, "refuted"), (False, "confirmed"))

    def test_a_flagged_value_is_confirmed_by_one_like_it(self, settings):
        """Whether it is flagged still is the surrogate's to say; all agree here that the two belong together."""
        found = remeasured(settings, again(told(WRONG), 7, 30.0))
        assert found[7][1] == found[12][1] == "confirmed"

    def test_a_believed_value_is_confirmed_by_being_believed_still(self, settings):
        assert remeasured(settings, again(told(WRONG), 3, VALUES[3]))[3] == (False, "confirmed")


class TestQuarantined:
    def history(self, settings, value):
        """A value that the model that asked for it expected to be 0, give or take 0.1."""
        ask = {"event": "ask", "trial": 12, "params": {"x": 0.95}, "origin": "model"}
        made = told(VALUES).apply(ask | {"expected": 0.3, "expected_sd": 0.05})
        return made.apply({"event": "tell", "trial": 12, "value": settings.sign * value, "sd": None})

    @pytest.mark.few(1)
    def test_a_value_that_disappoints_beyond_belief_is_flagged_with_its_evidence(self, settings):
        made = self.history(settings, -5.0)
        assert fit.fit(settings, made).quarantined == (12,)
        first, *_ = outliers(settings, made)
        assert (first.trial.number, first.flagged, first.remeasured) == (12, True, "not yet")
        assert first.expected == pytest.approx(0.55**2, abs=0.05)
        assert first.evidence > 8

    @pytest.mark.few(1)
    def test_one_that_pleases_is_left_to_the_surrogate(self, settings):
        assert fit.fit(settings, self.history(settings, 5.0)).quarantined == ()

    @pytest.mark.few(1)
    def test_one_that_a_later_model_finds_credible_comes_back(self, settings):
        made = told(VALUES)
        ask = {"event": "ask", "trial": 12, "params": {"x": 0.95}, "origin": "model"}
        off = 0.55**2 + settings.sign * 1.0  # the model that asked was wrong
        made = made.apply(ask | {"expected": off, "expected_sd": 0.05})
        made = made.apply({"event": "tell", "trial": 12, "value": 0.55**2, "sd": None})
        fitted = fit.fit(settings, made)
        assert fitted.quarantined == ()
        assert 12 in fitted.observations.numbers

    @pytest.mark.few(1)
    def test_none_is_left_out_where_that_is_off_or_the_surrogate_doubts_nothing(self, settings):
        made = self.history(settings, -5.0)
        assert fit.fit(dataclasses.replace(settings, quarantine=False), made).quarantined == ()
        assert fit.fit(dataclasses.replace(settings, surrogate="standard"), made).quarantined == ()

    def test_what_would_leave_nothing_is_not_left_out(self, settings):
        ask = {"event": "ask", "trial": 0, "params": {"x": 0.95}, "origin": "model"}
        made = History().apply(ask | {"expected": 0.3, "expected_sd": 0.05})
        made = made.apply({"event": "tell", "trial": 0, "value": settings.sign * -5.0, "sd": None})
        assert fit.fit(settings, made).observations.numbers == (0,)


def test_a_surrogate_that_weighs_values_says_how_much_each_counts():
    history = History()
    for i in range(16):
        value = math.sin(3 * i / 15) + (5.0 if i == 10 else 0.0)
        told = {"event": "tell", "trial": i, "params": {"x": i / 15}, "value": value, "sd": None}
        history = history.apply(told)
    for surrogate in ("student-t", "relevance-pursuit"):
        settings = Settings(SPACE, surrogate=surrogate)
        weights = {o.trial.number: o.weight for o in outliers(settings, history)}
        assert weights[10] < 0.2
        assert all(weight > 0.5 for number, weight in weights.items() if number != 10)
    assert all(o.weight is None for o in outliers(Settings(SPACE, surrogate="standard"), history))
