from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest

from problems.hartmann6 import hartmann6
from robustbo import problem
from robustbo.problem import about, load, names


@pytest.mark.parametrize("name", names())
class TestEveryProblem:
    def test_it_says_what_it_is(self, name):
        made = load(name)
        assert made.name == name
        assert made.direction in ("minimize", "maximize")
        assert made.reference
        assert made.cost_s is not None
        assert made.best is not None
        assert f"{len(made.space)} inputs, {made.direction}; " in made.about

    def test_its_best_point_is_one_of_its_space(self, name):
        made = load(name)
        assert made.space.validate(made.best_seen_at if made.optimizer is None else made.optimizer)


def test_the_optimum_goes_before_the_best_seen():
    assert hartmann6.best == ("optimum", hartmann6.optimum)
    unsolved = replace(hartmann6, optimum=None, best_seen=3.0, failures={"leak": lambda x, generator: 0.0})
    assert unsolved.best == ("best seen", 3.0)
    assert "best seen 3; 1e-05 s; leak; Dixon" in unsolved.about
    assert replace(hartmann6, optimum=None).best is None


def test_options_go_to_the_function_that_makes_it():
    assert len(load("levy", d=7).space) == 7
    with pytest.raises(ValueError, match=r"problem 'levy' has the options \['d'\], got 'e'"):
        load("levy", e=7)
    with pytest.raises(ValueError, match="problem 'hartmann6' has no options, got 'd'"):
        load("hartmann6", d=7)
    with pytest.raises(ValueError, match=r"problem must be one of \['ackley', .*got 'mars'"):
        load("mars")


def test_one_that_cannot_be_loaded_spoils_no_list(monkeypatch):
    broken = EntryPoint("broken", "no_such_module:problem", problem.GROUP)
    monkeypatch.setattr(problem, "entry_points", lambda **_: [broken])
    assert about("broken") == "cannot be loaded: No module named 'no_such_module'"
