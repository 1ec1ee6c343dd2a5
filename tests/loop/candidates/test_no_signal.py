"""While all values are equal within noise the space is filled, and no longer as soon as one differs."""

import numpy as np
import pytest

import robustbo as rb
from robustbo.loop.candidates.no_signal import NO_SIGNAL, differ_by_more
from robustbo.loop.decide import step


def begun(d=3, **options):
    space = rb.Space(**{f"x{i}": rb.Float(0, 1) for i in range(d)})
    return rb.Optimizer(space, **{"direction": "maximize", "surrogate": "standard", "seed": 0} | options)


def tell_flat(opt, count, **options):
    for _ in range(count):
        opt.tell(opt.ask(), 0.0, **options)


@pytest.mark.parametrize("surrogate", ["standard", "auto"])
def test_equal_values_let_the_space_be_filled(surrogate):
    opt = begun(surrogate=surrogate)
    tell_flat(opt, 12)
    trials = opt.ask(6)
    assert {(trial.origin, trial.reason) for trial in trials} == {("sobol", NO_SIGNAL)}
    coordinates = [value for trial in trials for value in trial.params.values()]
    assert all(0 < value < 1 for value in coordinates)


def test_one_value_that_differs_ends_it():
    opt = begun()
    tell_flat(opt, 9)
    opt.tell(opt.ask(), 1.0)
    assert opt.ask().origin == "model"


def test_where_the_noise_is_known_values_may_differ_by_as_much():
    rng = np.random.default_rng(0)
    flat, hill = begun(), begun()
    for e in rng.normal(size=14):
        flat.tell(flat.ask(), 0.1 * e, sd=0.1)
        trial = hill.ask()
        hill.tell(trial, trial.params["x0"] + 0.1 * e, sd=0.1)
    assert flat.ask().reason == NO_SIGNAL
    assert hill.ask().origin == "model"


def test_a_slope_within_the_noise_is_a_signal_where_it_shows():
    rng, opt = np.random.default_rng(1), begun(d=1)
    for x in np.linspace(0, 1, 40):
        opt.tell({"x0": float(x)}, float(x + 0.45 * rng.normal()), sd=0.45)
    values = np.array([trial.value for trial in opt.history])
    assert not differ_by_more(values, np.full(40, 0.45))
    assert opt.ask().origin == "model"


def test_a_bound_is_a_value_too():
    opt = begun()
    for _ in range(9):
        opt.tell(opt.ask(), rb.Below(0.05))
    assert opt.ask().reason == NO_SIGNAL
    opt.tell(opt.ask(), 0.07)
    assert opt.ask().reason != NO_SIGNAL


def test_of_several_outcomes_one_that_differs_is_enough():
    space = rb.Space(x=rb.Float(0, 1))
    for b, is_flat in ((0.0, True), (1.0, False)):
        opt = rb.Optimizer(space, objectives={"a": "minimize", "b": "minimize"}, surrogate="standard", seed=0)
        for i in range(6):
            opt.tell({"x": i / 5}, {"a": 0.0, "b": b * i})
        assert (opt.ask().reason == NO_SIGNAL) is is_flat


def test_it_is_the_same_when_it_is_computed_again():
    opt = begun()
    tell_flat(opt, 10)
    history = opt.history
    trial = opt.ask()
    assert step(opt.settings, history, len(history)).params == trial.params


def test_a_hidden_region_is_found_as_by_space_filling_points():
    opt, points = begun(d=2), begun(d=2, acquisition="sobol")
    for other in (opt, points):
        for _ in range(40):
            trial = other.ask()
            value = float(max(abs(x - 0.35) for x in trial.params.values()) < 0.1)
            other.tell(trial, value)
            if value:
                break
    assert len(opt.history) == len(points.history) < 40
