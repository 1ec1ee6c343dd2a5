import math

import numpy as np
import pytest
from botorch import test_functions as theirs
from scipy.optimize import minimize

from robustbo.tasks import problem

# A value at a point, by the function's published formula.
KNOWN = {
    "beale": ((1.0, 1.0), 1.5**2 + 2.25**2 + 2.625**2),
    "bukin": ((-5.0, 0.0), 100 * math.sqrt(0.25) + 0.01 * 5),
    "drop-wave": ((0.0, 2.0), -(1 + math.cos(24)) / 4),
    "egg-holder": ((0.0, 0.0), -47 * math.sin(math.sqrt(47))),
    "hartmann3": (
        (0.0, 0.0, 0.0),
        -1.0 * math.exp(-(3 * 0.3689**2 + 10 * 0.117**2 + 30 * 0.2673**2))
        - 1.2 * math.exp(-(0.1 * 0.4699**2 + 10 * 0.4387**2 + 35 * 0.7470**2))
        - 3.0 * math.exp(-(3 * 0.1091**2 + 10 * 0.8732**2 + 30 * 0.5547**2))
        - 3.2 * math.exp(-(0.1 * 0.0381**2 + 10 * 0.5743**2 + 35 * 0.8828**2)),
    ),
    "holder-table": ((1.0, 0.0), -math.sin(1) * math.exp(1 - 1 / math.pi)),
    "powell": ((1.0, 1.0, 0.0, 2.0), 11**2 + 5 * 2**2 + 1 + 10 * 1),
    "rastrigin": ((0.5, 0.0, 1.0), 30 + (0.25 + 10) - 10 + (1 - 10)),
    "three-hump-camel": ((1.0, 1.0), 2 - 1.05 + 1 / 6 + 1 + 1),
}
OF_BOTORCH = {"hartmann3": "Hartmann"}


def at(made, x):
    return made(dict(zip(made.space.names, map(float, x), strict=True)))


@pytest.mark.parametrize("name", KNOWN)
class TestEach:
    def test_its_value_is_the_formula_s(self, name):
        point, value = KNOWN[name]
        assert at(problem.load(name), point) == pytest.approx(value, rel=1e-10)

    def test_its_box_is_botorch_s(self, name):
        made = problem.load(name)
        words = OF_BOTORCH.get(name, "".join(word.capitalize() for word in name.split("-")))
        options = {"dim": len(made.space)} if name in ("hartmann3", "powell", "rastrigin") else {}
        low, high = getattr(theirs, words)(**options).bounds.tolist()
        assert [(p.low, p.high) for _, p in made.space.parameters] == list(zip(low, high, strict=True))

    def test_nothing_near_its_optimizer_is_better(self, name):
        made = problem.load(name)
        assert made.direction == "minimize"
        assert at(made, made.optimizer.values()) == pytest.approx(made.optimum, rel=1e-12, abs=1e-12)
        bounds = [(p.low, p.high) for _, p in made.space.parameters]
        options = {"xatol": 1e-12, "fatol": 1e-15}
        start = np.clip(np.array([*made.optimizer.values()]) + 1e-3, *np.transpose(bounds))
        found = minimize(lambda x: at(made, x), start, bounds=bounds, method="Nelder-Mead", options=options).fun
        assert found >= made.optimum - 1e-12 * abs(made.optimum)

    def test_nothing_anywhere_is_better(self, name):
        made = problem.load(name)
        assert made.sample.min() > made.optimum - 1e-12 * abs(made.optimum)


def test_rastrigin_has_as_many_inputs_as_wanted():
    assert len(problem.load("rastrigin", d=7).space) == 7
    with pytest.raises(ValueError, match="d must be"):
        problem.load("rastrigin", d=0)
