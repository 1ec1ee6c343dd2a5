import pytest
import torch

from robustbo import fitting
from robustbo.history import History
from robustbo.outliers import outliers
from robustbo.overview import overview
from robustbo.parameters import Float
from robustbo.settings import Settings
from robustbo.space import Space

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


def test_the_liar_comes_first_with_what_was_expected_in_its_place(settings):
    first, *others = outliers(settings, told(WRONG))
    assert (first.trial.number, first.value, first.flagged) == (7, 30.0, True)
    assert first.expected == pytest.approx(VALUES[7], abs=0.1)
    assert not any(o.flagged for o in others)
    assert [o.evidence for o in others] == sorted((o.evidence for o in others), reverse=True)
    assert len(others) == 11


def test_the_number_of_threads_changes_no_bit(settings):
    first = outliers(settings, told(WRONG))
    fitting._fit.cache_clear()
    try:
        torch.set_num_threads(2)
        assert outliers(settings, told(WRONG)) == first
    finally:
        torch.set_num_threads(1)


def test_an_overview_names_the_suspects_and_the_incumbent(settings):
    found = overview(settings, told(WRONG))
    assert [(row["trial"], row["flagged"]) for row in found["outliers"]][:1] == [(7, True)]
    best = min(VALUES) if settings.direction == "minimize" else max(VALUES)
    assert found["incumbent"]["value"] == pytest.approx(best, abs=0.05)
    assert found["best_raw_value"]["value"] == (30.0 if settings.direction == "maximize" else min(WRONG))
    assert found["trials"] == {"told": 12, "pending": 0, "failed": 0, "excluded": 0}


def test_an_overview_of_nothing_has_neither():
    found = overview(Settings(SPACE), History())
    assert (found["incumbent"], found["best_raw_value"], found["outliers"]) == (None, None, [])
