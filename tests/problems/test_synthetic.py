import math

import numpy as np
import pytest
import torch
from botorch.test_functions import Ackley, Branin, Levy

from robustbo.tasks import problem
from robustbo_problems.synthetic import ackley, branin, levy


def test_the_value_at_each_optimizer_is_the_optimum():
    assert branin(branin.optimizer) == pytest.approx(branin.optimum, abs=1e-12)
    for x1, x2 in ((-math.pi, 12.275), (9.42477796, 2.475)):
        assert branin({"x1": x1, "x2": x2}) == pytest.approx(branin.optimum, abs=1e-8)
    assert branin.direction == "minimize"


def test_it_is_botorchs_branin():
    X = np.random.default_rng(0).random((100, 2)) * 15 + [-5, 0]
    expected = Branin(dtype=torch.float64)(torch.from_numpy(X)).numpy()
    found = [branin({"x1": x1, "x2": x2}) for x1, x2 in X]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(("ours", "theirs"), [(ackley, Ackley), (levy, Levy)])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_those_of_many_inputs_are_botorchs(ours, theirs, d):
    made, reference = ours(d), theirs(dim=d, dtype=torch.float64)
    low, high = (bound.numpy() for bound in reference.bounds)
    X = np.random.default_rng(0).uniform(low, high, (50, d))
    found = [made(dict(zip(made.space.names, x, strict=True))) for x in X.tolist()]
    np.testing.assert_allclose(found, reference(torch.from_numpy(X)).numpy(), rtol=1e-10)
    assert made(made.optimizer) == pytest.approx(made.optimum, abs=1e-12)
    assert made.direction == "minimize"
    p = dict(made.space.parameters)
    for name in made.space.names:
        assert [p[name].low, p[name].high] == [low[0], high[0]]


@pytest.mark.parametrize("make", [ackley, levy])
def test_there_must_be_an_input(make):
    with pytest.raises(ValueError, match="d must be"):
        make(0)


def test_they_are_registered():
    assert problem.load("branin") is branin
    assert len(problem.load("ackley", d=3).space) == 3
    assert len(problem.load("levy").space) == 5
