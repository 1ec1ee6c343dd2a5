"""Trials that nobody will measure: neither pending nor failed, not learned from, and the next ask is another."""

import pytest

import robustbo as rb
from robustbo.loop.belief.outcome_models import unknown_rows
from robustbo.loop.observations.table import observations

SPACE = rb.Space(x=rb.Float(0.0, 1.0))


def begun(path=None, **options):
    opt = rb.Optimizer(SPACE, direction="minimize", seed=0, num_initial=5, journal=path, **options)
    for i in range(5):
        opt.tell({"x": i / 4}, (i / 4 - 0.4) ** 2)
    return opt


def test_it_is_neither_pending_nor_failed_and_says_nothing_of_its_point(tmp_path):
    opt = begun(tmp_path / "j.jsonl", surrogate="standard")
    trial = opt.ask()
    withdrawn = opt.withdraw(trial, "no reagent")
    assert (withdrawn.state, withdrawn.reason) == ("withdrawn", "no reagent")
    assert opt.pending() == [] == opt.failures()
    assert opt.history.counts()["withdrawn"] == 1
    assert opt.history.counts()["failed"] == 0
    resumed = rb.Optimizer.resume(tmp_path / "j.jsonl")
    assert resumed.history == opt.history
    assert resumed.ask().params != trial.params


@pytest.mark.parametrize("acquisition", ["sobol", "auto"])
def test_the_next_ask_is_another_point(acquisition):
    opt = begun(surrogate="standard", acquisition=acquisition)
    points = []
    for _ in range(3):
        points.append(opt.ask().params["x"])
        opt.withdraw(len(opt.history) - 1)
    assert min(abs(a - b) for i, a in enumerate(points) for b in points[:i]) > 1e-3


def test_it_counts_as_pending_until_a_value_comes():
    opt = begun(surrogate="standard")
    trial = opt.withdraw(opt.ask())
    rows = {tuple(SPACE.to_unit(trial.params))}
    assert {*unknown_rows(observations(opt.settings, opt.history), ())} == rows
    opt.tell({"x": 0.33}, 0.1)
    assert not unknown_rows(observations(opt.settings, opt.history), ())


def test_a_value_that_comes_after_all_is_told_and_the_word_is_taken_back():
    opt = begun(surrogate="standard")
    first, second = opt.ask(2)
    opt.withdraw(first)
    opt.withdraw(second.number)
    assert opt.tell(first, 1.0).state == "told"
    assert opt.requeue(second)[0].state == "queued"
    assert opt.ask().number == second.number


def test_a_failure_that_says_nothing_is_withdrawn_and_a_value_is_not():
    opt = begun(surrogate="standard")
    opt.fail({"x": 0.6}, "the courier lost it")
    assert opt.withdraw(5).state == "withdrawn"
    assert opt.failures() == []
    with pytest.raises(ValueError, match="trial 0 must be pending or queued or failed to withdraw it, it is told"):
        opt.withdraw(0)


def test_of_a_pool_every_other_row_is_asked_for():
    pytest.importorskip("pandas")
    import pandas as pd

    opt = rb.Optimizer(rb.Pool(pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})), direction="minimize", seed=0)
    withdrawn = opt.withdraw(opt.ask())
    rest = [opt.ask().params["x"] for _ in range(3)]
    assert {withdrawn.params["x"], *rest} == {0.0, 1.0, 2.0, 3.0}
