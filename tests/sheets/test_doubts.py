"""Values of a sheet that are far from what was expected are doubtful, before anything is recorded."""

import pytest

import robustbo as rb
from robustbo.sheets.doubts import FAR, doubts


@pytest.fixture(scope="module")
def opt():
    outcome = rb.Outcome("yield", unit="%")
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", outcome=outcome, num_initial=4, seed=0)
    for trial in opt.ask(4):
        opt.tell(trial, 10 * trial.params["x"])
    opt.ask()
    return opt


@pytest.mark.parametrize(("away", "is_doubtful"), [(0, False), (FAR - 0.1, False), (FAR + 0.1, True), (-99, True)])
def test_a_value_is_doubtful_from_some_standard_deviations_on(opt, away, is_doubtful):
    mean, sd = opt.history[4].expectation
    texts = doubts(opt.settings, opt.history, {"event": "tell", "trial": 4, "value": mean + away * sd})
    assert bool(texts) == is_doubtful
    assert all(text.startswith("expected ") and "%" in text for text in texts)


@pytest.mark.parametrize("event", [
    {"event": "tell", "trial": 9, "value": 1e6},
    {"event": "fail", "trial": 4, "reason": "no flow"},
    {"event": "tell", "trial": 4, "value": "<0.5"},
    {"event": "tell", "trial": 0, "value": 1e6},
])  # fmt: skip
def test_what_was_not_expected_to_be_anything_is_not_doubted(opt, event):
    assert doubts(opt.settings, opt.history, event) == []
