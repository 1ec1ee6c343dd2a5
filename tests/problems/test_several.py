"""Problems of several outcomes: their values are BoTorch's, and nothing is better than the best."""

import math

import numpy as np
import pytest
import torch
from botorch.test_functions.multi_objective import C2DTLZ2, DTLZ2, BraninCurrin, VehicleSafety
from botorch.test_functions.synthetic import PressureVessel, WeldedBeamSO

from robustbo.errors import ProblemError
from robustbo.tasks.problem import load, names
from robustbo_problems.several import (
    branin_currin,
    c2_dtlz2,
    dtlz2,
    gardner,
    pressure_vessel,
    vehicle_safety,
    welded_beam,
)

PROBLEMS = {
    "branin-currin": (branin_currin, BraninCurrin()),
    "vehicle-safety": (vehicle_safety, VehicleSafety()),
    "dtlz2": (dtlz2(6, 3), DTLZ2(dim=6, num_objectives=3)),
    "c2-dtlz2": (c2_dtlz2(), C2DTLZ2(dim=4, num_objectives=2)),
    "pressure-vessel": (pressure_vessel, PressureVessel()),
    "welded-beam": (welded_beam, WeldedBeamSO()),
}
every = pytest.mark.parametrize(("problem", "function"), PROBLEMS.values(), ids=PROBLEMS)


def points(problem, num):
    return [problem.space.from_unit(u.tolist()) for u in np.random.default_rng(0).random((num, len(problem.space)))]


@every
def test_values_are_botorchs(problem, function):
    for params in points(problem, 5):
        X = torch.tensor([list(params.values())], dtype=torch.float64)
        found = list(problem.truth(params).values())
        k = len(problem.objectives)
        assert found[:k] == pytest.approx(function.evaluate_true(X).reshape(-1).tolist(), rel=1e-12)
        slack = function.evaluate_slack_true(X).reshape(-1).tolist() if found[k:] else []
        assert found[k:] == pytest.approx(slack, rel=1e-12, abs=1e-12)
        assert problem.keeps(problem.truth(params)) == bool(
            function.is_feasible(X).item() if hasattr(function, "num_constraints") else True
        )
        assert problem(params) == found[0]


@every
def test_it_says_what_is_wanted(problem, function):
    assert list(problem.objectives) == problem.names[: len(problem.objectives)]
    assert [text.split()[0] for text in problem.outcome_constraints] == problem.names[len(problem.objectives) :]
    assert list(problem.reference_point) == (list(problem.objectives) if len(problem.objectives) > 1 else [])
    assert problem.best[1] > 0
    assert problem.name in names()
    assert (
        ", ".join([*(f"minimize {name}" for name in problem.objectives), *problem.outcome_constraints]) in problem.about
    )
    assert f"as BoTorch's {type(function).__name__}" in problem.about


@pytest.mark.few(2)
@pytest.mark.parametrize("problem", [gardner(), gardner(-0.5), pressure_vessel, welded_beam], ids=lambda p: p.name)
def test_nothing_that_keeps_the_constraints_is_beyond_the_best_or_the_worst(problem):
    kept = [v[problem.names[0]] for v in map(problem.truth, points(problem, 2000)) if problem.keeps(v)]
    assert problem.optimum <= min(kept) <= max(kept) <= problem.worst


@pytest.mark.parametrize("problem", [gardner(), gardner(-0.5), pressure_vessel, welded_beam], ids=lambda p: p.name)
def test_the_best_is_at_its_point_which_keeps_the_constraints_but_for_rounding(problem):
    found = problem.truth(problem.optimizer)
    assert problem(problem.optimizer) == pytest.approx(problem.optimum, rel=1e-6)
    slacks = [found[name] for name in problem.names[1:]]
    sizes = [abs(problem.truth(point)[name]) for point in points(problem, 1) for name in problem.names[1:]]
    assert all(slack > -1e-6 * size for slack, size in zip(slacks, sizes, strict=True))


def test_one_outcome_alone_is_a_problem():
    alone = branin_currin.of("currin")
    params = points(branin_currin, 1)[0]
    assert alone(params) == branin_currin.truth(params)["currin"]
    assert alone.direction == "minimize"
    assert pressure_vessel.of("volume").direction == "maximize"


def test_options_are_checked():
    assert len(load("dtlz2", num_objectives=3).objectives) == 3
    with pytest.raises(ValueError, match="d must exceed num_objectives, which must be 2 to 4, got 3 and 3"):
        dtlz2(3, 3)
    with pytest.raises(ValueError, match="d must be a whole number of at least 3, got 2"):
        c2_dtlz2(2)
    assert gardner(0.1).best is None


def test_a_value_that_is_not_finite_is_an_error():
    broken = type(branin_currin)(
        name="broken",
        space=branin_currin.space,
        direction="minimize",
        objective=lambda params: 0.0,
        outcomes=lambda params: {"a": 0.0, "b": math.nan},
        objectives={"a": "minimize"},
    )
    with pytest.raises(ProblemError, match="broken must give a finite value, got nan"):
        broken.truth(points(broken, 1)[0])
