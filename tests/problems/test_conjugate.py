import math

import numpy as np
import pytest
import torch
from botorch.test_functions import Branin, Rosenbrock, SixHumpCamel
from scipy.optimize import minimize

from robustbo_problems import conjugate

ALL = (
    conjugate.conjugate_camel,
    conjugate.conjugate_branin,
    conjugate.conjugate_rosenbrock,
    conjugate.conjugate_mccormick,
)
PUBLISHED = {"camel": 1.0316, "branin": 1.04739, "rosenbrock": 0.0, "mccormick": 0.0956}  # of the negatives
each = pytest.mark.parametrize("made", ALL, ids=lambda made: made.name)


def drawn(made, n=200):
    low, high = np.array([(p.low, p.high) for _, p in made.space.parameters]).T
    return np.random.default_rng(0).uniform(low, high, (n, 2))


def at(made, x):
    return made({"x1": float(x[0]), "x2": float(x[1])})


@each
def test_the_optimum_is_at_the_optimizer_and_the_published_one(made):
    assert made(made.optimizer) == pytest.approx(made.optimum, abs=1e-12)
    assert -made.optimum == pytest.approx(PUBLISHED[made.name.removeprefix("conjugate-")], abs=1e-4)
    assert made.direction == "minimize"


@each
def test_nothing_is_better(made):
    bounds = [(p.low, p.high) for _, p in made.space.parameters]
    starts = sorted(drawn(made), key=lambda x: at(made, x))[:5]
    best = min(minimize(lambda x: at(made, x), x, bounds=bounds, method="Nelder-Mead", tol=1e-13).fun for x in starts)
    assert best == pytest.approx(made.optimum, abs=1e-9)
    assert best >= made.optimum - 1e-12


@pytest.mark.parametrize(
    ("made", "theirs", "center", "scale"),
    [
        (conjugate.conjugate_camel, SixHumpCamel, 0.0, 1.0),
        (conjugate.conjugate_branin, Branin, *conjugate.BRANIN),
        (conjugate.conjugate_rosenbrock, Rosenbrock, 0.0, conjugate.ROSENBROCK),
    ],
    ids=["camel", "branin", "rosenbrock"],
)
def test_it_is_botorchs_divided(made, theirs, center, scale):
    X = drawn(made)
    expected = (theirs(dtype=torch.float64)(torch.from_numpy(X)).numpy() - center) / scale
    np.testing.assert_allclose([at(made, x) for x in X], expected, rtol=1e-10, atol=1e-15)


def test_mccormicks_formula_at_a_point():
    assert at(conjugate.conjugate_mccormick, (1.0, 2.0)) == pytest.approx((math.sin(3) + 1 - 1.5 + 5 + 1) / 20)
