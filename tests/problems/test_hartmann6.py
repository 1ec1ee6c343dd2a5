import numpy as np
import pytest
import torch
from botorch.test_functions import Hartmann

from robustbo.errors import SpaceError
from robustbo.tasks import problem
from robustbo_problems.hartmann6 import NAMES, hartmann6


def test_the_value_at_the_optimizer_is_the_optimum():
    assert hartmann6(hartmann6.optimizer) == pytest.approx(hartmann6.optimum, abs=1e-8)
    assert hartmann6.direction == "maximize"


@pytest.mark.usefixtures("double_precision")  # its tables have the default
def test_it_is_botorchs_hartmann():
    X = np.random.default_rng(0).random((100, 6))
    expected = Hartmann(dim=6, negate=True, dtype=torch.float64)(torch.from_numpy(X)).numpy()
    found = [hartmann6(dict(zip(NAMES, x, strict=True))) for x in X]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_no_random_point_beats_the_optimum():
    X = np.random.default_rng(1).random((2000, 6))
    assert max(hartmann6(dict(zip(NAMES, x, strict=True))) for x in X) < hartmann6.optimum


def test_it_is_registered():
    assert "hartmann6" in problem.names()
    assert problem.load("hartmann6").name == "hartmann6"


def test_an_unknown_problem_is_an_error():
    with pytest.raises(ValueError, match="there is no problem 'hartmann7'; did you mean 'hartmann"):
        problem.load("hartmann7")


def test_a_point_outside_the_space_is_refused():
    with pytest.raises(SpaceError, match=r"x3: must lie in \[0\.0, 1\.0\], got 1\.5"):
        hartmann6(hartmann6.optimizer | {"x3": 1.5})
