"""Which rule says what is best; the rules themselves are tested with the incumbent and with the constraints."""

import pytest

import robustbo as rb
from robustbo.loop.belief import constrained_best
from robustbo.loop.belief.best import best, bests, raw_best
from robustbo.loop.belief.incumbent import incumbent, incumbents, raw_incumbent


def study(**how):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), surrogate="standard", seed=0, **how)
    for i in range(6):
        value = (i / 5 - 0.4) ** 2
        opt.tell({"x": i / 5}, {"y": value, "z": i} if "objectives" in how else value)
    return opt.settings, opt.history, opt.fits


def test_of_one_outcome_it_is_the_incumbent():
    settings, history, fits = study(direction="minimize")
    assert best(settings, history, fits) == incumbent(settings, history, fits)
    assert best(settings, history, fits, (("x", 0.5),)) == incumbent(settings, history, fits, (("x", 0.5),))
    assert bests(settings, history, fits, without={2}) == incumbents(settings, history, fits, without={2})
    assert raw_best(settings, history) == raw_incumbent(settings, history)


def test_of_several_it_keeps_the_bounds():
    settings, history, fits = study(objectives={"y": "minimize"}, outcome_constraints=["z >= 2.5"])
    assert bests(settings, history, fits) == constrained_best.bests(settings, history, fits)
    assert best(settings, history, fits) == bests(settings, history, fits)[-1]
    assert best(settings, history, fits).trial.number == raw_best(settings, history).trial.number == 3


def test_of_several_objectives_there_is_none():
    settings, history, fits = study(objectives={"y": "minimize", "z": "maximize"})
    for find in (best, bests):
        with pytest.raises(ValueError, match="no single best of several objectives"):
            find(settings, history, fits)
