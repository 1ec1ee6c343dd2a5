"""Which rule says what is best; the rules themselves are tested with the incumbent and with the constraints."""

import pytest

import robustbo as rb
from robustbo.loop.best import constrained_best
from robustbo.loop.best.best import best, bests, raw_best
from robustbo.loop.best.incumbent import incumbent, incumbents, raw_incumbent


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
        with pytest.raises(ValueError, match="have no single best point"):
            find(settings, history, fits)


def test_where_no_point_keeps_the_bounds_it_says_so():
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0.0, 1.0)),
        objectives={"y": "minimize"},
        outcome_constraints=["z <= 0"],
        surrogate="standard",
        seed=0,
    )
    for i in range(6):
        opt.tell({"x": i / 5}, {"y": i / 5, "z": 3.0 + i / 10})
    assert str(opt.best(raw=True)) == "trial 0, x=0.0: measured 0; no trial has kept the bounds"
    assert "; no point measured probably keeps the bounds, this one does with probability " in str(opt.best())
    assert opt.best().trial.number == 0  # the nearest to the bound, whose probability is no number
    opt.tell({"x": 0.95}, {"y": 2.0, "z": -1.0})
    assert str(opt.best(raw=True)) == "trial 6, x=0.95: measured 2"


def test_where_no_point_comes_near_a_bound_the_nearest_is_the_best():
    bounds = {"objectives": {"y": "minimize"}, "outcome_constraints": ["z >= 1e4"]}
    opt = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), **bounds, surrogate="standard", seed=0)
    for i in range(8):
        opt.tell({"x": i / 8}, {"y": i / 8, "z": i * i})
    assert opt.best().trial.number == 7
    assert opt.best().probability_feasible == 0.0


def test_values_that_are_all_excluded_are_said_to_be():
    opt = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), direction="minimize", seed=0)
    opt.tell({"x": 0.1}, 1.0)
    opt.tell({"x": 0.2}, 1.0)
    opt.exclude(0)
    opt.exclude(1)
    for call in (opt.best, lambda: opt.best(raw=True), lambda: opt.predict({"x": 0.5})):
        with pytest.raises(ValueError, match="got 2 that are all excluded; include one, or tell another"):
            call()
    several = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), objectives={"y": "minimize", "z": "minimize"}, seed=0)
    several.tell({"x": 0.1}, {"y": 1.0, "z": 1.0})
    several.exclude(0, outcome="z")
    with pytest.raises(ValueError, match=r"at least one told value of \['z'\], got one that is excluded; include it"):
        several.predict({"x": 0.5})
