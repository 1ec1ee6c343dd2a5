import math
from dataclasses import replace
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from robustbo.errors import ProblemError
from robustbo.tasks import problem
from robustbo.tasks.problem import about, load, names
from robustbo.tasks.several import SeveralProblem
from robustbo_problems.hartmann6 import hartmann6


@pytest.mark.parametrize("name", names())
class TestEveryProblem:
    def test_it_says_what_it_is(self, name):
        made = load(name)
        assert made.name == name
        assert made.direction in ("minimize", "maximize")
        assert made.reference
        assert made.cost_s is not None
        assert made.best is not None
        assert f"{len(made.space)} inputs (" in made.about
        assert f"), {made.goal}; " in made.about

    def test_its_best_point_is_one_of_its_space(self, name):
        made = load(name)
        at = made.best_seen_at if made.optimizer is None else made.optimizer
        has_front = isinstance(made, SeveralProblem) and len(made.objectives) > 1  # whose best is no one point
        assert has_front or made.space.validate(at)


def test_the_optimum_goes_before_the_best_seen():
    assert hartmann6.best == ("optimum", hartmann6.optimum)
    unsolved = replace(hartmann6, optimum=None, best_seen=3.0, failures={"leak": lambda x, generator: 0.0})
    assert unsolved.best == ("best seen", 3.0)
    assert "best seen 3; about 1e-05 s; fails by leak; Dixon" in unsolved.about
    assert "6 inputs (x1 0..1, x2 0..1, " in hartmann6.about
    assert "optimum 3.32237 at 0.2017, 0.15, " in hartmann6.about
    assert "20 inputs (dx1 -0.1..0.2, " in load("rover").about
    assert ", ..., dy10 -0.1..0.2)" in load("rover").about
    assert replace(hartmann6, optimum=None).best is None


def test_options_go_to_the_function_that_makes_it():
    assert len(load("levy", d=7).space) == 7
    with pytest.raises(ValueError, match=r"problem 'levy' has the options \['d'\], got 'e'"):
        load("levy", e=7)
    with pytest.raises(ValueError, match="problem 'hartmann6' has no options, got 'd'"):
        load("hartmann6", d=7)
    with pytest.raises(ValueError, match=r"problem must be one of \['ackley', .*got 'mars'"):
        load("mars")


def test_it_is_made_once_of_the_same_options():
    assert load("levy", d=7) is load("levy", d=7)
    assert load("levy", d=7) is not load("levy", d=5)


def test_one_that_cannot_be_loaded_spoils_no_list(monkeypatch):
    broken = EntryPoint("broken", "no_such_module:problem", problem.PROBLEMS)
    monkeypatch.setattr(problem, "entry_points", lambda **_: [broken])
    assert about("broken").startswith("cannot be loaded: problem 'broken' must be importable from no_such_module")
    with pytest.raises(ValueError, match="must be importable from no_such_module:problem: No module named"):
        load("broken")


def test_a_name_that_two_packages_claim_is_refused(monkeypatch):
    two = [EntryPoint("svm", value, problem.PROBLEMS) for value in ("own.svm:svm", "math:pi", "math:pi")]
    monkeypatch.setattr(problem, "entry_points", lambda **_: two)
    assert names() == ["svm"]
    with pytest.raises(ValueError, match=r"'svm' must be registered once, got \['math:pi', 'own.svm:svm'\]"):
        load("svm")


def test_the_list_names_the_options():
    assert about("levy").endswith("; options d")
    assert "; options " not in about("branin")


def test_options_of_another_kind_are_refused():
    with pytest.raises(ValueError, match=r"problem 'svm' has the options .*got \{'preset': \[1\]\}: .*unhashable"):
        load("svm", preset=[1])


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_value_that_is_not_finite_is_an_error(value):
    broken = replace(hartmann6, objective=lambda x: value, failures={"leak": lambda x, generator: value})
    x = hartmann6.space.from_unit([0.5] * 6)
    with pytest.raises(ProblemError, match=rf"hartmann6 must give a finite value, got {value} at \{{'x1': 0.5"):
        broken(x)
    with pytest.raises(ProblemError, match="must give a finite value"):
        broken.fail("leak", x, np.random.default_rng(0))


@pytest.mark.parametrize(("name", "most"), [("mixture", 1.5), ("crossed-barrel", 20.0)])
def test_values_that_scale_a_corruption_are_of_points_of_the_space(name, most):
    problem = load(name)
    assert len(problem.sample) == 200
    assert 0.5 < problem.sample.std() < most  # beyond the sum of a mixture the spread is 111
