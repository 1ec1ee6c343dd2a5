import math
import random

import pytest

import robustbo as rb
from robustbo.driving.stopping import LittleToGain
from robustbo.errors import FitError
from robustbo.loop.surrogate.cache import FitCache
from robustbo.trials.history import History, Trial
from robustbo.view.view import View

LINE = rb.Space(x=rb.Float(0.0, 1.0))


def noisy_sine(seed):
    noise = random.Random(seed)
    return lambda params: math.sin(6 * params["x"]) + 0.3 * math.cos(17 * params["x"]) + noise.gauss(0, 0.1)


def optimizer(**options):
    return rb.Optimizer(LINE, **{"direction": "minimize", "seed": 1, **options})


def told(values, origin="model", **options):
    """An optimization with values at points in turn, as if a model had asked for them."""
    opt = optimizer(**options)
    for i, value in enumerate(values):
        trial = opt.tell({"x": (0.3819 * i) % 1}, value)
        assert trial.origin == "user"
    trials = tuple(Trial(**{**vars(t), "origin": origin}) for t in opt.history)
    return Fake(opt.settings, History(trials))


class Fake:
    """A study with a history of one's own."""

    def __init__(self, settings, history):
        self.settings, self.history, self.fits = settings, history, FitCache()
        self.view = View(settings, history, self.fits)


@pytest.mark.slow
def test_it_stops_a_smooth_noisy_function_near_its_optimum():
    opt = optimizer()
    best = opt.optimize(noisy_sine(1), 60, callbacks=LittleToGain(), progress=False)
    assert 10 < len(opt.history) < 60
    lowest = min(math.sin(6 * x / 1000) + 0.3 * math.cos(17 * x / 1000) for x in range(1001))
    x = best.params["x"]
    assert math.sin(6 * x) + 0.3 * math.cos(17 * x) - lowest < 0.1
    kept = LittleToGain()
    assert kept(opt, opt.history[len(opt.history) - 1])
    assert not kept(opt, opt.history[len(opt.history) - 2])


def test_a_fresh_problem_goes_on_however_little_a_model_sees_in_it():
    study = told([0.0, 1e-9] * 5)
    assert not LittleToGain(absolute=1e6)(study, study.history[9])


def test_neither_does_noise_that_hides_a_slope_stop_it_at_once():
    opt, rule = optimizer(), LittleToGain()
    noise = random.Random(0)
    for _ in range(9):
        trial = opt.ask()
        assert not rule(opt, opt.tell(trial, trial.params["x"] + noise.gauss(0, 0.3)))


@pytest.mark.parametrize(("absolute", "is_over"), [(1e6, True), (0.0, False)])
def test_without_noise_an_amount_decides(absolute, is_over):
    study = told([(0.3819 * i % 1 - 0.5) ** 2 for i in range(14)], surrogate="standard")
    assert LittleToGain(tolerance=0.0, absolute=absolute)(study, study.history[13]) == is_over


def test_points_of_no_model_and_repeats_are_passed_over():
    values = [0.01 * (i % 3) for i in range(14)]
    rule = LittleToGain(absolute=1e6)
    assert not rule(told(values, origin="sobol"), told(values).history[13])
    study = told(values)
    again = Trial(14, study.history[0].params, state="told", value=0.0, origin="model", repeats=0)
    asked = Fake(study.settings, History((*study.history.trials, again)))
    assert rule(asked, again)
    two_only = Fake(study.settings, History((*study.history.trials[:12], Trial(12, {"x": 0.5}, state="failed"))))
    assert not rule(two_only, two_only.history[12])


@pytest.mark.slow
def test_the_models_have_been_fitted_already():
    opt, rule = optimizer(), LittleToGain()
    f = noisy_sine(2)
    for _ in range(13):
        trial = opt.ask()
        before = opt.fits.misses
        rule(opt, opt.tell(trial, f(trial.params)))
        assert opt.fits.misses == before


def test_a_wrong_value_that_flatters_is_not_what_a_point_must_improve_on():
    values = [(0.3819 * i % 1 - 0.5) ** 2 for i in range(20)]
    study = told([-50.0 if i == 5 else value for i, value in enumerate(values)])
    new = Trial(20, {"x": 0.001})
    assert study.view.promise(new).gain < 0.1
    better = told(values[:4]).view.promise(Trial(4, {"x": 0.6}))
    assert better.gain > 0


def test_maximizing_is_minimizing_upside_down():
    values = [(0.3819 * i % 1 - 0.5) ** 2 for i in range(8)]
    down, up = told(values), told([-value for value in values], direction="maximize")
    new = Trial(8, {"x": 0.55})
    assert down.view.promise(new) == pytest.approx(up.view.promise(new))


def test_where_nothing_is_known_it_promises_everything(monkeypatch):
    def fails(*_):
        raise FitError("no")

    study = told([0.0, 1.0])
    assert View(study.settings, History()).promise(Trial(0, {"x": 0.5})).gain == math.inf
    monkeypatch.setattr("robustbo.loop.surrogate.fallback.fit_to", fails)
    assert study.view.promise(Trial(2, {"x": 0.5})).gain == math.inf


@pytest.mark.parametrize("surrogate", ["standard", "student-t", "student-t-process", "committee", "power-transform"])
def test_every_kind_of_surrogate_promises_something(surrogate):
    study = told([(0.3819 * i % 1 - 0.5) ** 2 for i in range(8)], surrogate=surrogate)
    found = study.view.promise(Trial(8, {"x": 0.55}))
    assert found.gain >= 0
    assert found.noise >= 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": -0.1}, "tolerance must be at least 0 and finite, got -0.1"),
        ({"absolute": math.inf}, "absolute must be at least 0 and finite, got inf"),
        ({"patience": 0}, "patience must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        LittleToGain(**options)


def test_promises_of_one_study_say_nothing_of_another():
    def trials_until(enough, function):
        opt = optimizer()
        while not enough(opt, opt.tell(trial := opt.ask(), function(trial.params))):
            assert len(opt.history) < 30
        return len(opt.history)

    def steep(params):
        return (params["x"] - 0.7) ** 2

    def wavy(params):
        return math.sin(9 * params["x"])

    one = LittleToGain(absolute=0.05)
    trials_until(one, steep)
    assert trials_until(one, wavy) == trials_until(LittleToGain(absolute=0.05), wavy)
