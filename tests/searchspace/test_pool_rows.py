"""Rows of pools that are missing, and values of steps."""

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import SpaceError
from robustbo.trials import schema
from robustbo.trials.settings import Settings


def test_a_pool_needs_a_row():
    with pytest.raises(SpaceError, match="a pool needs at least one row, got none"):
        rb.Pool(pd.DataFrame({"x": []}))


def test_no_rows_can_be_added():
    opt = rb.Optimizer(rb.Pool(pd.DataFrame({"x": [1.0, 2.0]})), direction="minimize", seed=0)
    assert opt.add_rows(pd.DataFrame({"x": []})) == 2


def test_values_of_steps_are_floats_whatever_the_bounds_are():
    steps = rb.Float(20, 90, step=5)
    assert {type(steps.nth(index)) for index in range(steps.count)} == {float}
    assert type(steps.validate("x", 35)) is float


def test_all_that_looks_at_a_study_knows_of_rows_added():
    opt = rb.Optimizer(
        rb.Pool(pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})), direction="minimize", seed=0, surrogate="standard"
    )
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


POOL = rb.Pool(pd.DataFrame({"x": [1.0, 2.0], "c": ["a", "b"], "o": [1, 2]}), o=rb.Ordinal(1, 2, 3))


@pytest.mark.parametrize("row", [["q", "a", 1], [True, "a", 1], [1.0, None, 1], [1.0, "a", 4], [1.0, "a"], []])
def test_a_journal_cannot_have_a_row_that_no_pool_has(row):
    with pytest.raises(ValueError, match=r"rows must be such as Pool|rows\.0"):
        schema.check({"event": "extend", "trial": 0, "rows": [row]}, Settings(POOL))
    params = dict(zip("xco", row, strict=False))
    if params.get("o") == 4:
        return  # which may have been measured there
    with pytest.raises(ValueError, match=r"params|[xco]: "):
        schema.check({"event": "tell", "trial": 0, "value": 1.0, "sd": None, "params": params}, Settings(POOL))


def test_a_journal_may_have_rows_that_are_added():
    schema.check({"event": "extend", "trial": 0, "rows": [[3, "new", 3]]}, Settings(POOL))
    with pytest.raises(ValueError, match="rows must be such as Space"):
        schema.check({"event": "extend", "trial": 0, "rows": [[3]]}, Settings(rb.Space(x=rb.Float(0, 1))))


def test_a_word_in_a_column_of_numbers_is_no_row_to_add():
    with pytest.raises(SpaceError, match=r"row 7: x: must be a number, as Float.* is, got '3,5'"):
        POOL.rows_of(pd.DataFrame({"x": ["3,5"], "c": ["a"], "o": [3]}, index=[7]))
