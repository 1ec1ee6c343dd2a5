"""At most so many of a group in a study: its journal, what is told that has more, and another group later on."""

import pytest

import robustbo as rb
from robustbo.replay.verify import verdicts

F = rb.Float(0, 1)
ABCD = {"a": F, "b": F, "c": rb.Int(0, 4), "d": F}


def test_a_study_keeps_to_its_groups_and_each_ask_is_found_again(tmp_path):
    path = tmp_path / "j.jsonl"
    space = rb.Space(ABCD, constraints=[rb.AtMost(2, *ABCD), "a + b + d <= 1.2"])
    opt = rb.Optimizer(space, direction="maximize", seed=0, surrogate="standard", num_initial=4, journal=path)
    for _ in range(4):
        trial = opt.ask()
        assert space.allows(trial.params)
        opt.tell(trial, trial.params["a"] * trial.params["c"])
    with pytest.warns(rb.SpaceWarning, match="breaks 'at most 2 of a, b, c, d'; robustbo keeps it"):
        opt.tell({"a": 0.4, "b": 0.1, "c": 4, "d": 0.1}, 9.0)
    assert space.allows(opt.best().params)
    opt.change(rb.Space(ABCD, constraints=["at most 1 of a, b, c, d"]))
    assert sum(value != 0 for value in opt.ask().params.values()) <= 1
    assert rb.Optimizer.resume(path).settings.space.texts == ["at most 1 of a, b, c, d"]
    (row,) = verdicts([str(path)])
    assert row["agreement"] == "bits"


def test_rows_of_a_pool_that_have_more_are_never_asked_for():
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame({"a": [0.0, 0.5, 0.5, 0.0], "b": [1.0, 1.0, 0.0, 0.0]})
    pool = rb.Pool(rows, constraints=["at most 1 of a, b"])
    opt = rb.Optimizer(pool, direction="maximize", acquisition="sobol", seed=0)
    assert {0.5 in trial.params.values() and 1.0 in trial.params.values() for trial in opt.ask(3)} == {False}
    with pytest.raises(rb.SpaceExhausted):
        opt.ask()
