"""The best point with some values fixed, and where points break constraints."""

import math

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import SpaceError, SpaceWarning
from robustbo.loop.best.incumbent import Incumbent
from robustbo.loop.surrogate.fit import fit
from robustbo.trials.history import Trial

BOX = {"x": rb.Float(0, 1), "heat": rb.Float(0, 1)}


def told(space, points, f, **options):
    opt = rb.Optimizer(space, **{"direction": "minimize", "seed": 0, **options})
    for point in points:
        opt.tell(point, f(point))
    return opt


def bowl(p):
    return (p["x"] - p["heat"]) ** 2


GRID = [{"x": x / 4, "heat": h / 4} for x in range(5) for h in range(5)]


@pytest.mark.parametrize("surrogate", ["auto", "standard"])
def test_with_a_value_fixed_it_is_a_point_measured_that_is_changed_to_it(surrogate):
    opt = told(rb.Space(**BOX), GRID, bowl, surrogate=surrogate)
    best = opt.best(fixed={"heat": 0.26})
    assert best.params == {"x": 0.25, "heat": 0.26}
    assert best.trial.params["x"] == 0.25
    assert best.mean == pytest.approx(0, abs=0.02)
    assert opt.best(fixed={"heat": 0.75}).params == {"x": 0.75, "heat": 0.75}


def test_a_point_that_was_measured_is_not_moved():
    best = told(rb.Space(**BOX), GRID, bowl, surrogate="standard").best(fixed={"heat": 0.5})
    assert best.params == {"x": 0.5, "heat": 0.5}
    assert best.moved is None or best.moved == best.params


def test_it_keeps_the_constraints_when_it_is_changed():
    space = rb.Space(**BOX, constraints=["x + heat <= 1"])
    opt = told(space, [p for p in GRID if not space.broken(p)], lambda p: -p["x"], surrogate="standard")
    assert opt.best().params == {"x": 1.0, "heat": 0.0}
    assert opt.best(fixed={"heat": 0.5}).params == {"x": 0.5, "heat": 0.5}


def test_a_point_that_breaks_a_constraint_is_kept_with_a_warning_and_is_not_the_best():
    space = rb.Space(**BOX, constraints=["x + heat <= 1"])
    opt = told(space, [p for p in GRID if not space.broken(p)], lambda p: -p["x"], surrogate="standard")
    with pytest.warns(SpaceWarning, match=r"breaks 'x \+ heat <= 1'; robustbo keeps it, because it was measured"):
        opt.tell({"x": 1.0, "heat": 1.0}, -9.0)
    assert len(opt.history.having("told")) == 16
    assert opt.best().params == {"x": 1.0, "heat": 0.0}
    assert opt.best(raw=True).params == {"x": 1.0, "heat": 0.0}


def test_where_all_points_break_it_the_best_of_these_is_the_best():
    space = rb.Space(**BOX, constraints=["x + heat <= 0.1"])
    opt = rb.Optimizer(space, direction="minimize", seed=0, surrogate="standard")
    for x in (0.2, 0.5, 0.9):
        with pytest.warns(SpaceWarning, match="robustbo keeps it"):
            opt.tell({"x": x, "heat": 0.5}, x)
    assert opt.best().params == {"x": 0.2, "heat": 0.5}
    assert opt.best(raw=True).params == {"x": 0.2, "heat": 0.5}
    ask = opt.ask()
    assert space.broken(ask.params) == []


def test_a_frame_of_broken_points_is_kept_and_an_enqueued_one_refused():
    space = rb.Space(**BOX, constraints=["x + heat <= 1"])
    opt = rb.Optimizer(space, direction="minimize", seed=0)
    with pytest.warns(SpaceWarning, match="breaks"):
        opt.tell_frame(pd.DataFrame({"x": [0.1, 0.9], "heat": [0.1, 0.9], "value": [1.0, 2.0]}))
    assert len(opt.history) == 2
    with pytest.raises(SpaceError, match=r"the point must keep 'x \+ heat <= 1', got {'x': 0\.9"):
        opt.enqueue({"x": 0.9, "heat": 0.9})
    with pytest.raises(SpaceError, match=r"1 of 2 rows break a rule:\nrow 1: the point must keep"):
        opt.enqueue([{"x": 0.1, "heat": 0.9}, {"x": 0.9, "heat": 0.9}])
    assert len(opt.history) == 2


def test_of_what_waits_only_points_with_what_is_fixed_are_given_out():
    opt = rb.Optimizer(rb.Space(**BOX), direction="minimize", seed=0)
    opt.enqueue([{"x": 0.1, "heat": 0.1}, {"x": 0.2, "heat": 0.9}])
    trial = opt.ask(fixed={"heat": 0.9})
    assert (trial.number, trial.params) == (1, {"x": 0.2, "heat": 0.9})
    assert opt.ask(fixed={"heat": 0.9}).number == 2
    assert opt.ask().number == 0


def test_in_a_pool_it_is_a_row():
    frame = pd.DataFrame([p for p in GRID if p["heat"] in (0.25, 0.5)])
    opt = told(rb.Pool(frame), frame.to_dict("records"), bowl, surrogate="standard")
    assert opt.best(fixed={"heat": 0.25}).params == {"x": 0.25, "heat": 0.25}
    with pytest.raises(SpaceError, match=r"no point has {'heat': 0\.3}: there is no point to ask for"):
        opt.best(fixed={"heat": 0.3})
    other = told(rb.Pool(frame), frame.to_dict("records")[:1], bowl)
    with pytest.raises(ValueError, match=r"no measured point agrees with {'heat': 0\.5}; ask and tell one there first"):
        other.best(fixed={"heat": 0.5})


def test_conditions_decide_what_is_left_of_a_point():
    space = rb.Space(k=rb.Choice("t", "d"), x=rb.Float(0, 1, when={"k": "d"}), y=rb.Float(0, 1))
    points = [{"k": "d", "x": 0.2, "y": 0.3}, {"k": "t", "y": 0.6}, {"k": "d", "x": 0.8, "y": 0.9}]
    opt = told(space, points, lambda p: p["y"], surrogate="standard")
    assert opt.best(fixed={"k": "t"}).params == {"k": "t", "y": 0.3}


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"raw": True, "fixed": {"heat": 0.5}}, ValueError, "best takes raw or fixed, got both"),
        ({"fixed": {"cold": 0.5}}, SpaceError, "cold: no such parameter"),
        ({"fixed": {"heat": 1.5}}, SpaceError, r"heat: must lie in \[0, 1\], got 1\.5"),
        ({"fixed": [0.5]}, TypeError, "fixed must be a mapping"),
        ({"fixed": []}, TypeError, "fixed must be a mapping"),
        ({"fixed": pd.Series({"x": 0.5})}, TypeError, "fixed must be a mapping"),
    ],
)
def test_bad_arguments(given, error, match):
    opt = told(rb.Space(**BOX), GRID[:3], bowl)
    with pytest.raises(error, match=match):
        opt.best(**given)


def told_rough(sd=None):
    """Of a bowl whose every second point lies higher, which looks like noise: points, posterior means, values."""
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0, surrogate="standard")
    points = [{"x": (i + 0.5) / 16} for i in range(16)]
    values = [4 * (p["x"] - 0.48) ** 2 + 0.2 * (i % 2) for i, p in enumerate(points)]
    for point, value in zip(points, values, strict=True):
        opt.tell(point, value, sd=sd)
    mean = fit(opt.settings, opt.history).at_points()
    return opt, points, [mean[p["x"],][0] for p in points], values


def test_what_was_measured_at_a_point_counts_as_much_as_its_posterior_mean():
    opt, points, mean, values = told_rough()
    half = [(m + v) / 2 for m, v in zip(mean, values, strict=True)]
    assert mean.index(min(mean)) != half.index(min(half))
    best = opt.best()
    assert best.params == points[half.index(min(half))]
    assert best.mean == pytest.approx(mean[half.index(min(half))])


def test_where_the_noise_is_known_the_posterior_mean_alone_counts():
    opt, points, mean, values = told_rough(sd=0.15)
    half = [(m + v) / 2 for m, v in zip(mean, values, strict=True)]
    assert mean.index(min(mean)) != half.index(min(half))
    assert opt.best().params == points[mean.index(min(mean))]


def test_a_disbelieved_value_does_not_count_beside_another_at_its_point():
    opt = told(rb.Space(x=rb.Float(0, 1)), [{"x": i / 16} for i in range(17)], lambda p: (p["x"] - 0.5) ** 2)
    opt.tell({"x": 0.25}, -50.0)
    assert [o.trial.number for o in opt.outliers() if o.flagged] == [17]
    assert opt.best().params == {"x": 0.5}


def test_a_raw_value_is_not_called_believed():
    trial = Trial(2, {"x": 0.5}, state="told", value=991.0)
    assert str(Incumbent(trial, 991.0, math.nan, is_raw=True)) == "trial 2, x=0.5: measured 991"
    assert str(Incumbent(trial, 991.0, 0.25, is_raw=True)) == "trial 2, x=0.5: measured 991 ± 0.25"
    assert str(Incumbent(trial, 991.0, 0.25)) == "trial 2, x=0.5: measured 991, believed 991 ± 0.25"
    assert str(Incumbent(trial, 12.5, 0.25)) == "trial 2, x=0.5: measured 991, believed 12.5 ± 0.25"
