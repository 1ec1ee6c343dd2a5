"""Problems whose spaces are restricted: their optimum is a point that keeps the constraints, and nothing is better."""

import math

import numpy as np
import pytest
from botorch.test_functions.synthetic import SpeedReducer
from scipy.optimize import minimize
from torch import as_tensor, float64

from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.sampling import sobol_points
from robustbo_problems.conditional import conditional
from robustbo_problems.mixture import NAMES, mixture, response
from robustbo_problems.speed_reducer import speed_reducer
from robustbo_problems.two_circles import two_circles

PROBLEMS = [two_circles, mixture, speed_reducer, conditional]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_the_best_is_what_its_point_has_which_keeps_the_constraints(problem):
    at = problem.optimizer or problem.best_seen_at
    assert problem.space.broken(at) == []
    assert problem(at) == pytest.approx(problem.best[1], rel=1e-9)


@pytest.mark.parametrize("problem", PROBLEMS[:3], ids=lambda problem: problem.name)
def test_no_point_that_keeps_the_constraints_is_better(problem):
    sign = -1.0 if problem.direction == "maximize" else 1.0
    values = [sign * problem(point) for point in sobol_points(region_of(problem.space), 1, 0, 200)]
    assert min(values) > sign * problem.optimum


def test_the_circles_are_gardners_constraint_to_second_order():
    for x, y in ((3 * math.pi / 2, math.pi / 2), (math.pi / 2, 3 * math.pi / 2)):
        for angle in np.linspace(0, 2 * math.pi, 12):
            dx, dy = math.sqrt(0.1) * math.cos(angle), math.sqrt(0.1) * math.sin(angle)
            assert math.sin(x + dx) * math.sin(y + dy) == pytest.approx(-0.95, abs=0.002)
            inside, outside = ({"x": x + r * dx, "y": y + r * dy} for r in (0.999, 1.001))
            assert not two_circles.space.broken(inside)
            assert two_circles.space.broken(outside)


def test_the_mixture_has_three_optima_and_the_best_is_of_all_four_components():
    low, found = np.array([0.05, 0.1, 0.0, 0.0]), []
    generator = np.random.default_rng(0)
    for _ in range(25):
        made = minimize(
            lambda x: -response(dict(zip(NAMES, x, strict=True))),
            low + (1 - low.sum()) * generator.dirichlet(np.ones(4)),
            method="SLSQP",
            bounds=[(each, 1) for each in low],
            constraints=[{"type": "eq", "fun": lambda x: x.sum() - 1}],
            options={"ftol": 1e-14},
        )
        found.append(-made.fun)
    assert max(found) == pytest.approx(mixture.optimum, rel=1e-8)
    assert len({round(value, 2) for value in found}) == 3
    assert min(mixture.optimizer.values()) > 0.2


def test_the_speed_reducer_is_botorchs():
    theirs = SpeedReducer()
    assert speed_reducer.optimum == pytest.approx(2996.3482, abs=5e-5)
    for u in np.random.default_rng(0).random((200, 7)):
        params = speed_reducer.space.from_unit(u.tolist())
        X = as_tensor(list(params.values()), dtype=float64)
        assert speed_reducer(params) == pytest.approx(theirs.evaluate_true(X).item(), rel=1e-9)
        assert bool(speed_reducer.space.broken(params)) == bool((theirs.evaluate_slack_true(X) < 0).any())


def test_each_regressor_has_parameters_of_its_own():
    ridge = {"model": "ridge", "kernel": "linear", "alpha": 1.0}
    for params in (
        ridge,
        {**ridge, "kernel": "poly", "gamma": 0.01, "degree": 2},
        {"model": "neighbors", "neighbors": 15, "weights": "distance"},
        {"model": "boosting", "trees": 5, "depth": 1, "rate": 0.3},
    ):
        assert conditional.best_seen < conditional(params) < 1
        assert conditional(params) == conditional(params)
    assert conditional({**ridge, "kernel": "poly", "gamma": 1.0, "degree": 5}) == 2.0
