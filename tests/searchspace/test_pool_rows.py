"""Rows of pools that are missing, and values of steps."""

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import SpaceError


def test_a_pool_needs_a_row():
    with pytest.raises(SpaceError, match="a pool needs at least one row, got none"):
        rb.Pool(pd.DataFrame({"x": []}))


def test_no_rows_can_be_added():
    opt = rb.Optimizer(rb.Pool(pd.DataFrame({"x": [1.0, 2.0]})), seed=0)
    assert opt.add_rows(pd.DataFrame({"x": []})) == 2


def test_values_of_steps_are_floats_whatever_the_bounds_are():
    steps = rb.Float(20, 90, step=5)
    assert {type(steps.nth(index)) for index in range(steps.count)} == {float}
    assert type(steps.validate("x", 35)) is float


def test_all_that_looks_at_a_study_knows_of_rows_added():
    opt = rb.Optimizer(rb.Pool(pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})), seed=0, surrogate="standard")
    for trial in opt.ask(3):
        opt.tell(trial, trial.params["x"])
    opt.add_rows(pd.DataFrame({"x": [0.5]}))
    assert opt.settings.space.size == 5
    opt.tell({"x": 0.5}, 0.5)
    assert opt.best().params == opt.best(raw=True).params == {"x": 0.5}
    assert opt.best(fixed={"x": 0.5}).trial.number == 3
    assert len(opt.outliers()) == len(opt.frame()) == 4
    assert opt.predict({"x": 0.5}).sd > 0
    assert opt.viability({"x": 0.5}) == 1
