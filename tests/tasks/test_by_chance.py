import numpy as np
import pytest

from robustbo.tasks.corruption import CORRUPTIONS, Constant, RandomPoint, Uniform
from robustbo.tasks.ranged import Crash, InRange, TooGood
from robustbo_problems.hartmann6 import hartmann6

POINT = hartmann6.space.from_unit([0.5] * 6)


@pytest.mark.parametrize("kind", [Constant, Uniform, RandomPoint, Crash, InRange, TooGood])
def test_a_trial_draws_the_same_numbers_whether_or_not_it_is_hit(kind):
    problem = {"problem": hartmann6} if kind not in (Constant, Uniform) else {}
    generators = {probability: np.random.default_rng(3) for probability in (0.0, 1.0)}
    hits = [kind(p, **problem).apply(1.5, POINT, generator)[1] for p, generator in generators.items()]
    assert kind in CORRUPTIONS.values()
    assert hits == [False, True]
    assert len({generator.random() for generator in generators.values()}) == 1
