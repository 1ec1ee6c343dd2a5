"""What a view says of points that are named; predictions in your units are tested with the study's own."""

import math

import numpy as np
import pytest

import robustbo as rb
from robustbo.errors import FitError
from robustbo.trials.history import History, Trial
from robustbo.view.view import View


@pytest.fixture(scope="module")
def view():
    opt = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), direction="minimize", surrogate="student-t", seed=0)
    for i in range(6):
        opt.tell({"x": i / 5}, (i / 5 - 0.4) ** 2)
    opt.fail({"x": 0.9}, "lost")
    return opt.view


def test_rows_are_what_points_are(view):
    points = [{"x": 0.1}, {"x": 0.7}]
    means, sds = view.posteriors([[0.1], [0.7]])[None]
    assert view.predict(points).to_numpy().T.tolist() == [means, sds]
    assert view.chances([[0.1], [0.7]]) == view.viability(points).tolist()


def test_a_noisy_prediction_is_of_a_new_value():
    opt = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), direction="minimize", surrogate="standard", seed=0)
    noise, points = np.random.default_rng(0).normal(size=60), [{"x": 0.2}, {"x": 0.7}]
    for i, e in enumerate(noise):
        opt.tell({"x": i / 59}, i / 59 + 0.5 * e)
    of_objective, of_value = opt.predict(points), opt.predict(points, noisy=True)
    assert (of_value["mean"] == of_objective["mean"]).all()
    assert (of_value["sd"] > 2 * of_objective["sd"]).all()
    assert of_value["sd"].tolist() == pytest.approx([0.5, 0.5], rel=0.3)
    assert opt.predict(points[0], noisy=True) == pytest.approx((of_value["mean"][0], of_value["sd"][0]))
    assert opt.best().objective_sd == opt.best().sd < of_value["sd"].min()
    assert math.isnan(opt.best(raw=True).objective_sd)
    with pytest.raises(ValueError, match="noisy must be True or False"):
        opt.predict(points, noisy=0.95)


def test_a_noisy_prediction_of_several_outcomes_is_of_each():
    opt = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), objectives={"a": "minimize", "b": "minimize"}, seed=0)
    for i, e in enumerate(np.random.default_rng(0).normal(size=12)):
        opt.tell({"x": i / 11}, {"a": i + 3 * e, "b": -i + 3 * e})
    of_objective, of_value = opt.predict({"x": 0.5}), opt.predict({"x": 0.5}, noisy=True)
    assert all(of_value[name].sd > of_objective[name].sd for name in "ab")


def test_the_next_surrogate_is_used_where_one_cannot_be(view):
    names = []

    def use(models):
        names.append(models[0].settings.surrogate)
        if len(names) == 1:
            raise ArithmeticError("not finite")

    assert view.with_models(use) is None  # what is made of them may be nothing
    assert names == ["student-t", "standard"]


def test_what_no_surrogate_can_do_is_said(view):
    def use(models):
        raise ArithmeticError("never")

    with pytest.raises(FitError, match=r"no surrogate could be used by none, since these failed: student-t: .*never"):
        view.with_models(use)
    with pytest.raises(FitError, match="at least one told value"):
        View(view.settings, History()).with_models(tuple)


def test_a_new_point_promises_what_it_may_gain(view):
    assert 0 <= view.promise(Trial(7, {"x": 0.41})).gain < math.inf
    assert View(view.settings, History()).promise(Trial(0, {"x": 0.5})) == (math.inf, 0.0)
