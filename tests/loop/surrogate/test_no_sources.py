"""Studies in which nobody told a source decide as if there were no sources, bit for bit."""

import pytest

import robustbo as rb
from robustbo.loop.surrogate import fit, sources

SPACE = rb.Space(x=rb.Float(0.0, 1.0), y=rb.Float(-1.0, 1.0))
GRID = [(0.1 * i, -1 + 0.29 * ((5 * i) % 7)) for i in range(8)]


def one_outcome():
    opt = rb.Optimizer(SPACE, direction="minimize", seed=1, num_initial=6)
    for i, (x, y) in enumerate(GRID):
        opt.tell({"x": x, "y": y}, (x - 0.3) ** 2 + y**2 + 9.0 * (i == 5))
    return opt


def blocks_that_nobody_told():
    opt = rb.Optimizer(SPACE, direction="minimize", seed=1, num_initial=6, blocks=["plate"])
    for x, y in GRID:
        opt.tell({"x": x, "y": y}, (x - 0.3) ** 2 + y**2, source={"plate": None})
    return opt


def several_outcomes():
    opt = rb.Optimizer(SPACE, objectives={"a": "minimize", "b": "maximize"}, seed=1, num_initial=6)
    for x, y in GRID:
        opt.tell({"x": x, "y": y}, {"a": (x - 0.3) ** 2, "b": y - x})
    return opt


def a_constraint():
    opt = rb.Optimizer(SPACE, objectives={"a": "minimize"}, outcome_constraints=["c >= 0"], seed=1, num_initial=6)
    for x, y in GRID:
        opt.tell({"x": x, "y": y}, {"a": (x - 0.3) ** 2, "c": y - x + 1})
    return opt


def failures():
    opt = rb.Optimizer(SPACE, direction="minimize", seed=1, num_initial=6)
    for x, y in GRID:
        opt.tell({"x": x, "y": y}, (x - 0.3) ** 2 + y**2)
    opt.fail(opt.ask(), "crash")
    return opt


def decision(study):
    trial = study.ask()
    return trial.params, trial.expected, trial.expected_sd, trial.reason


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "begin", [one_outcome, blocks_that_nobody_told, several_outcomes, a_constraint, failures], ids=lambda f: f.__name__
)
def test_no_source_is_looked_for_and_nothing_depends_on_them(begin, monkeypatch):
    def never(*arguments):
        raise AssertionError("sources are looked for where nobody told one")

    monkeypatch.setattr(sources, "find_sources", never)
    first = decision(begin())
    monkeypatch.setattr(fit, "judge_sources", lambda *arguments, **options: None)
    assert decision(begin()) == first
