"""The hypervolume over trials, and the points that are believed."""

import dataclasses
import math

import pytest
import torch
from botorch.utils.multi_objective.hypervolume import Hypervolume
from botorch.utils.multi_objective.pareto import is_non_dominated

import robustbo as rb
from robustbo.loop.best.front import common_reference, credible_points, front, hypervolumes

WRONG = 5


def told(is_wrong=True):
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1)),
        objectives={"a": "maximize", "c": "minimize"},
        outcome_constraints=["p >= 0.2"],
        reference_point={"a": 0.0, "c": 2.0},
        seed=0,
        acquisition="sobol",
    )
    for trial in opt.ask(14):
        x, y = trial.params["x"], trial.params["y"]
        a = math.sin(3 * x) + y + 30 * (is_wrong and trial.number == WRONG)
        opt.tell(trial, {"a": a, "c": x * x + y * y, "p": x - y + 0.5})
    return opt


@pytest.fixture(scope="module")
def opt():
    return told()


def test_it_never_falls_and_ends_at_that_of_the_front(opt):
    found = hypervolumes(opt.settings, opt.history, opt.fits)
    assert len(found) == len(opt.history)
    assert found == sorted(found)
    assert found[-1] == pytest.approx(front(opt.settings, opt.history).hypervolume, rel=1e-12)


def test_it_is_that_of_the_front_of_the_points_so_far_by_what_is_believed_now(opt):
    points = credible_points(opt.settings, opt.history, opt.fits)
    for number, volume in enumerate(hypervolumes(opt.settings, opt.history, opt.fits)):
        kept = [p.means for p in points if p.trial.number <= number and p.probability_feasible >= 0.5]
        kept = sorted((m for m in kept if m["a"] > 0 and m["c"] < 2), key=lambda m: m["c"])
        area, height = 0.0, 0.0
        for m in kept:
            area += max(m["a"] - height, 0.0) * (2 - m["c"])
            height = max(m["a"], height)
        assert volume == pytest.approx(area, rel=1e-12)


def test_a_wrong_value_never_counted(opt):
    points = credible_points(opt.settings, opt.history, opt.fits)
    assert WRONG not in {point.trial.number for point in points}
    assert len(points) == len(opt.history) - 1
    assert [p.trial.number for p in points] == sorted(p.trial.number for p in points)
    clean = told(is_wrong=False)
    found, right = (hypervolumes(o.settings, o.history, o.fits) for o in (opt, clean))
    assert found == pytest.approx(right, abs=0.15)


def test_beyond_another_reference_point_it_is_botorchs_hypervolume_of_the_same_points(opt):
    points = credible_points(opt.settings, opt.history, opt.fits)
    likely = [p.means for p in points if p.probability_feasible >= 0.5]
    Y = torch.tensor([[m["a"], -m["c"]] for m in likely if m["a"] > 0.5 and m["c"] < 1.5], dtype=torch.float64)
    right = Hypervolume(torch.tensor([0.5, -1.5], dtype=torch.float64)).compute(Y[is_non_dominated(Y)])
    found = hypervolumes(opt.settings, opt.history, opt.fits, {"c": 1.5, "a": 0.5})
    assert found[-1] == pytest.approx(right, rel=1e-12)
    assert 0 < found[-1] < hypervolumes(opt.settings, opt.history, opt.fits)[-1]


def test_studies_share_the_reference_point_that_all_were_given_or_one_below_all_their_fronts(opt):
    points = credible_points(opt.settings, opt.history, opt.fits)
    first, second = points[: len(points) // 2], points[len(points) // 2 :]
    given = opt.settings
    assert common_reference([(given, first), (given, second)]) == {"a": 0.0, "c": 2.0}
    other = dataclasses.replace(given, reference_point=None)
    shared = common_reference([(given, first), (other, second)])
    assert shared == common_reference([(other, points)])
    on_front = front(other, opt.history, opt.fits)
    assert shared == pytest.approx(dict(on_front.reference_point), rel=1e-9)
    assert all(shared["a"] < p.means["a"] and shared["c"] > p.means["c"] for p in on_front)


@pytest.mark.slow
def test_of_many_points_those_of_the_front_are_compared_whatever_breaks_a_bound():
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1)),
        objectives={"a": "maximize", "b": "maximize"},
        outcome_constraints=["c <= 0.2"],
        seed=0,
    )
    for i in range(300):  # what breaks the bound is better in both
        x, y = (i * 0.618034) % 1, (i * 0.754878) % 1
        opt.tell({"x": x, "y": y}, {"a": 2 * x + y * (1 - y), "b": 2 * x + (1 - y) ** 2 / 2 - 0.3 * y, "c": x})
    points = opt.front().points
    assert len(points) > 1
    assert all(point.probability > 0.3 for point in points)
