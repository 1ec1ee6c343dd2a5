import math

import numpy as np
import pytest
import torch
from botorch.test_functions import Branin

from problems.branin import branin
from robustbo import problem


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


def test_it_is_registered():
    assert problem.load("branin").name == "branin"
