import math

import pytest

import robustbo as rb


@pytest.mark.slow
def test_feasible_points_are_found_that_are_worse_than_all_others():
    """What counts as no good is not taken from the front of points none of which will do."""
    space = rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1))
    objectives = {"z": "maximize", "a": "minimize"}
    opt = rb.Optimizer(space, objectives=objectives, outcome_constraints=["s <= 0.35"], seed=2)
    for _ in range(12):
        trial = opt.ask()
        x, y = trial.params["x"], trial.params["y"]
        opt.tell(trial, {"z": x, "a": 1 - y, "s": x + y})
    assert len(opt.front()) > 0


@pytest.mark.slow
def test_asks_stay_away_from_where_the_objective_is_missing():
    """As with one outcome, though another that must keep a bound is there."""
    space = rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1))
    opt = rb.Optimizer(space, objectives={"a": "maximize"}, outcome_constraints=["c <= 2.5"], seed=1)
    for _ in range(18):
        trial = opt.ask()
        x, y = trial.params["x"], trial.params["y"]
        opt.tell(trial, {"a": x - 0.2 * (y - 0.5) ** 2 if x < 0.6 else math.nan, "c": 1 + x + y})
    assert sum("a" not in trial.values for trial in opt.history.trials[6:]) <= 6
