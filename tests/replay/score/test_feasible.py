import numpy as np
import pytest
from scipy.optimize import minimize

from robustbo.errors import SpecError
from robustbo.replay.score.feasible import best_feasible, search
from robustbo.replay.spec.optimization import RunSpec
from robustbo.tasks.regions import height, region
from robustbo_problems.synthetic import branin, levy


def spec(**corruption):
    given = {"problem": "branin", "methods": ["sobol"], "trials": 1, "replications": 1}
    return RunSpec.model_validate(given | {"corruption": corruption})


def test_another_optimum_is_left_outside_a_disc():
    disc = {"region": "disc", "center_1": 0.542773, "center_2": 0.151667, "radius": 0.25}
    assert best_feasible(spec(kind="failure", **disc)) == pytest.approx(branin.optimum, abs=1e-9)


def test_without_a_region_it_is_the_problems_own():
    assert best_feasible(spec(kind="failure", probability=0.2)) == branin.optimum
    assert best_feasible(spec(kind="constant", probability=0.2)) == branin.optimum


@pytest.mark.slow
def test_in_a_slab_it_is_what_a_search_with_constraints_finds():
    problem, a = levy(3), np.array([1.0, 0.6, 0.3])
    fails = region("slab", problem, {"normal_1": 1.0, "normal_2": 0.6, "normal_3": 0.3, "share": 0.05, "below": 0.3})
    planes = [
        {"type": "ineq", "fun": lambda u: a @ u - height(a, 0.3)},
        {"type": "ineq", "fun": lambda u: height(a, 0.35) - a @ u},
    ]
    starts = np.random.default_rng(0).random((20, 3))
    found = [
        minimize(
            lambda u: problem(problem.space.from_unit(np.clip(u, 0, 1).tolist())),
            start,
            constraints=planes,
            bounds=[(0, 1)] * 3,
            method="SLSQP",
            options={"ftol": 1e-12},
        ).fun
        for start in starts
    ]
    assert search(problem, fails) == pytest.approx(min(found), abs=1e-6)


def test_where_all_fails_that_is_said():
    with pytest.raises(SpecError, match="branin: a point that does not fail must exist, got none of 16384"):
        search(branin, lambda params: True)
