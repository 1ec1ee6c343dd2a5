"""The greatest value of a known function within constraints: where it is known, and where BoTorch finds it."""

import math

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf

import robustbo as rb
from robustbo.loop.optimize_acqf.maximizer import maximize
from robustbo.searchspace.encoding import encode
from robustbo.searchspace.region.factory import region_of

pytestmark = pytest.mark.usefixtures("double_precision")

BOX = {"x": rb.Float(0, 1), "y": rb.Float(0, 1)}
CENTRE = torch.full((1, 2), 0.5)


def near(*target):
    """The squared distance from unit coordinates, negative."""
    return lambda rows: -(rows - torch.tensor(target, dtype=rows.dtype)).square().sum(-1)


def found(score, space, best=None, seed=0, **fixed):
    region = region_of(space, space.partial(fixed))
    best = torch.full((1, len(space)), 0.5) if best is None else best
    point = maximize(score, region, best, seed)
    assert region.contains(point)
    return point


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_point_of_a_half_plane(seed):
    point = found(near(0.8, 0.8), rb.Space(**BOX, constraints=["x + y <= 1"]), seed=seed)
    assert point == pytest.approx({"x": 0.5, "y": 0.5}, abs=1e-3)


def test_a_linear_programs_vertex():
    space = rb.Space(**BOX, constraints=["x + 2 * y <= 1.4", "3 * x + y <= 2.2"])
    point = found(lambda rows: rows[:, 0] + rows[:, 1], space)
    assert point == pytest.approx({"x": 0.6, "y": 0.4}, abs=1e-4)


def test_the_nearest_point_of_a_circle():
    point = found(near(1.0, 1.0), rb.Space(**BOX, constraints=["x**2 + y**2 <= 0.25"]))
    assert point == pytest.approx({"x": 0.5 / math.sqrt(2), "y": 0.5 / math.sqrt(2)}, abs=1e-3)


def test_a_mixture():
    parts = {name: rb.Float(0, 1) for name in "abcd"}
    space = rb.Space(**parts, constraints=["a + b + c + d == 1"])
    target = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}
    assert found(near(*target.values()), space) == pytest.approx(target, abs=1e-3)
    beyond = found(near(1.5, 0.2, 0.0, 0.0), space)  # its projection on the simplex
    assert beyond == pytest.approx({"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0}, abs=1e-3)


def test_with_a_value_fixed():
    space = rb.Space(**BOX, constraints=["x + y <= 1"])
    assert found(near(0.9, 0.9), space, y=0.75) == pytest.approx({"x": 0.25, "y": 0.75}, abs=1e-4)


def test_logarithmic_scales():
    space = rb.Space(x=rb.Float(1e-3, 10, log=True), n=rb.Int(1, 100), constraints=["x * n <= 20"])
    point = found(lambda rows: rows.sum(-1), space)
    best = max(
        math.log(min(10.0, 20 / n) / 1e-3) / math.log(1e4) + space.to_unit({"x": 1, "n": n})[1] for n in range(1, 101)
    )
    assert sum(space.to_unit(point)) == pytest.approx(best, abs=1e-3)


def test_whole_numbers_that_add_up():
    space = rb.Space(**{name: rb.Int(0, 6) for name in "abc"}, z=rb.Float(0, 1), constraints=["a + b + c == 10"])
    target = space.to_unit({"a": 1, "b": 4, "c": 5, "z": 0.3})
    point = found(near(*target), space)
    assert (point["a"], point["b"], point["c"]) == (1, 4, 5)
    assert point["z"] == pytest.approx(0.3, abs=1e-3)


def test_a_choice_and_a_constraint_on_discrete_values_alone():
    space = rb.Space(**BOX, n=rb.Int(0, 5), m=rb.Int(0, 5), c=rb.Choice("p", "q"), constraints=["n * m <= 6", "x >= y"])
    point = found(near(0.2, 0.6, 11 / 12, 11 / 12, 0.75), space)
    assert point["c"] == "q"
    assert sorted((point["n"], point["m"])) in ([1, 5], [2, 3])
    assert (point["x"], point["y"]) == pytest.approx((0.4, 0.4), abs=1e-3)


def test_the_same_arguments_give_the_same_point():
    space = rb.Space(**BOX, constraints=["x**2 + y**2 <= 0.25"])
    score = lambda rows: (7 * rows[:, 0]).sin() + (9 * rows[:, 1]).cos()  # noqa: E731
    assert found(score, space, seed=3) == found(score, space, seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_an_acquisition_function_is_at_least_as_great_as_where_botorch_finds_it(seed):
    torch.manual_seed(seed)
    X = torch.rand(8, 2)
    X[:, 1] *= 1 - X[:, 0]
    Y = (6 * X[:, :1]).sin() + (5 * X[:, 1:] - 1).square()
    function = LogExpectedImprovement(SingleTaskGP(X, Y), best_f=Y.max())
    space = rb.Space(**BOX, constraints=["x + y <= 1"])
    point = found(lambda rows: function(encode(space, rows).unsqueeze(-2)), space, X, seed)
    bounds, within = torch.tensor([[0.0, 0.0], [1.0, 1.0]]), [(torch.tensor([0, 1]), torch.tensor([-1.0, -1.0]), -1.0)]
    _, theirs = optimize_acqf(
        function, bounds, q=1, num_restarts=4, raw_samples=256, inequality_constraints=within, sequential=False
    )
    ours = function(torch.tensor([[space.to_unit(point)]]))
    assert ours.item() >= theirs.item() - 1e-3
