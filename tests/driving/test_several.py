"""`optimize` with several outcomes: what func may return, what it gives, what the display says, when it stops."""

import io
import math
import sys

import pytest
from rich.console import Console

import robustbo as rb
from robustbo.driving.progress import Display
from robustbo.driving.stopping import LittleToGain
from robustbo.loop.best.front import Front
from robustbo.trials.history import History
from robustbo.view.view import View

SPACE = rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1))
TWO = {"objectives": {"a": "maximize", "c": "minimize"}, "outcome_constraints": ["p >= 0.2"]}
ONE = {"objectives": {"a": "maximize"}, "outcome_constraints": ["p >= 0.2"]}


OBJECTIVES = """
def with_sd(params):
    return {"a": params["x"], "c": params["y"]}, {"a": 0.01, "c": 0.02}
"""


def outcomes(params):
    x, y = params["x"], params["y"]
    return {"a": math.sin(3 * x) + y, "c": x * x + y * y, "p": x - y + 0.5}


def of_one(params):
    return {name: value for name, value in outcomes(params).items() if name != "c"}


def optimizer(wanted=TWO, **options):
    return rb.Optimizer(SPACE, seed=0, **wanted, **options)


@pytest.fixture(scope="module")
def two():
    opt = optimizer()
    opt.found = opt.optimize(outcomes, 7, progress=False)
    return opt


@pytest.mark.slow
def test_several_objectives_give_the_front(two):
    assert isinstance(two.found, Front)
    assert two.found == two.front()
    assert two.optimize(outcomes, 7) == two.found  # nothing is left to be done


@pytest.mark.slow
def test_one_objective_gives_the_best_under_the_constraints():
    opt = optimizer(ONE)
    best = opt.optimize(of_one, 8, progress=False)
    assert {*best.outcomes} == {"a", "p"}
    assert best == opt.best()


def test_values_come_with_their_noise_from_other_processes_too(tmp_path, monkeypatch):
    (tmp_path / "robustbo_several_of_driving.py").write_text(OBJECTIVES)
    monkeypatch.syspath_prepend(str(tmp_path))
    import robustbo_several_of_driving as objectives

    try:
        for jobs in (1, 2):
            opt = optimizer()
            opt.optimize(objectives.with_sd, 3, jobs=jobs, progress=False)
            for trial in opt.history:
                assert trial.values == {"a": trial.params["x"], "c": trial.params["y"]}
                assert (trial.outcomes["a"].sd, trial.outcomes["c"].sd) == (0.01, 0.02)
    finally:
        del sys.modules[objectives.__name__]


def test_nan_is_missing_for_its_outcome_alone():
    opt = optimizer()
    found = opt.optimize(lambda params: {**outcomes(params), "c": math.nan, "p": None}, 2, progress=False)
    assert found is None  # of "c" nothing is known
    assert [(trial.state, [*trial.values]) for trial in opt.history] == [("told", ["a"])] * 2
    opt.optimize(lambda params: {"a": math.inf}, 3, progress=False)
    assert (opt.history[2].state, opt.history[2].reason) == ("failed", "no value told was finite")


@pytest.mark.parametrize(
    ("result", "wanted", "error", "says"),
    [
        (1.0, TWO, TypeError, r"value must be a mapping of outcomes \['a', 'c', 'p'\] to numbers, got 1.0"),
        ({"a": 1.0, "cost": 2.0}, TWO, ValueError, "an outcome in value must be one of"),
        (({"a": 1.0}, {"a": -1.0}), TWO, ValueError, "sd must be finite"),
        (({"a": 1.0}, 0.1), TWO, TypeError, "sd must be a mapping of outcomes|func must return"),
        ({"a": 1.0}, {"direction": "minimize"}, TypeError, "value must be a real number, got {'a': 1.0}"),
    ],
)
def test_what_tell_does_not_take_fails_the_trial_and_is_raised(result, wanted, error, says):
    opt = optimizer(wanted)
    with pytest.raises(error, match=says):
        opt.optimize(lambda params: result, 3, progress=False)
    assert [trial.state for trial in opt.history] == ["failed"]


def test_other_outcomes_end_the_loop_whatever_it_catches_and_are_kept():
    """Else each trial would fail, and its point be blamed."""
    opt = optimizer()
    with pytest.raises(ValueError, match="an outcome in value must be one of"):
        opt.optimize(lambda params: {"a": 1.0, "cost": 2.0}, 3, progress=False, catch=Exception)
    assert "func returned ({'a': 1.0, 'cost': 2.0}, None)" in opt.history[0].reason


def shown(opt, fits=None):
    display = Display(opt.settings, fits or opt.fits, 20, is_wanted=True, console=Console(file=io.StringIO()))
    with display:
        display.show(opt.history, [])
        before = display._bar.tasks[0].fields["shown"]
        display.on_decision(opt.history)
        display.show(opt.history, [])
    assert display._is_on
    return before, display._bar.tasks[0].fields["shown"]


def test_the_display_shows_hypervolume_or_the_best_and_the_flagged_values():
    opt = optimizer()
    for i in range(9):
        point = {"x": (0.38 * i) % 1, "y": (0.71 * i) % 1}
        opt.tell(point, outcomes(point) | ({"c": 40.0} if i == 4 else {}))
    front = opt.front()
    assert shown(opt) == ("", f"front of {len(front)} points, hypervolume {front.hypervolume:.4g}, 1 flagged")
    one = optimizer(ONE)
    for trial in opt.history:
        one.tell(trial.params, of_one(trial.params))
    best, raw = one.best(), one.best(raw=True)
    before, after = shown(one)
    assert before == f"best value {raw.mean:.6g}"
    assert after.startswith(f"best {best.mean:.6g} (sd {best.sd:.2g})")


class TestLittleToGain:
    def test_several_objectives_need_an_amount_of_hypervolume(self, two):
        with pytest.raises(ValueError, match="must have an amount of hypervolume: absolute="):
            LittleToGain()(two, two.history[6])

    @pytest.mark.slow
    def test_it_stops_where_hardly_any_hypervolume_is_promised(self):
        opt = optimizer()
        opt.optimize(outcomes, 30, callbacks=LittleToGain(absolute=0.05), progress=False)
        assert 12 < len(opt.history) < 30
        last = opt.history[len(opt.history) - 1]
        before = History(opt.history.trials[:-1])
        assert 0 <= View(opt.settings, before).promise(last).gain < 0.05
        assert View(opt.settings, before, opt.fits).promise(last) == View(opt.settings, before).promise(last)

    def test_of_one_objective_the_promise_counts_as_far_as_the_bounds_are_kept(self):
        opt = optimizer(ONE)
        for i in range(9):
            point = {"x": (0.38 * i) % 1, "y": (0.71 * i) % 1}
            opt.tell(point, of_one(point))
        free = optimizer({"objectives": {"a": "maximize"}})
        for trial in opt.history:
            free.tell(trial.params, {"a": trial.values["a"]})
        of = {}
        for name, each in {"kept": opt, "free": free}.items():
            (trial,) = each.enqueue({"x": 0.5, "y": 1.0})  # beyond the bound
            of[name] = each.view.promise(trial)
        assert of["kept"].noise > 0
        assert of["kept"].gain < 1e-3 < of["free"].gain

    def test_where_an_outcome_has_no_value_anything_may_be_gained(self):
        opt = optimizer()
        opt.tell({"x": 0.5, "y": 0.5}, {"a": 1.0})
        assert opt.view.promise(opt.ask()) == (math.inf, 0.0)
