"""Points that nobody measures yet, where few are left of a region."""

import pytest

import robustbo as rb
from robustbo.errors import ExhaustedWarning, SpaceExhausted

CONDITIONAL = {"k": rb.Float(0, 9, when={"w": [2, 4]}), "w": rb.Ordinal(1, 2, 4)}


def begun(space):
    return rb.Optimizer(space, direction="minimize", seed=0, num_initial=3, surrogate="standard")


def test_what_cannot_exist_with_what_is_fixed_makes_no_points():
    opt = begun(rb.Space(**CONDITIONAL))
    opt.tell(opt.ask(fixed={"w": 1}), 1.0)
    with pytest.warns(ExhaustedWarning, match="each of the 1 points of the space"):
        again = opt.ask(fixed={"w": 1})
    assert again.params == {"w": 1}
    assert again.reason == "nothing new left"


def test_the_only_point_of_a_region_that_cannot_be_counted_is_asked_for_again():
    opt = begun(rb.Space(**CONDITIONAL, constraints=["w <= 1"]))
    for value in range(5):
        trial = opt.ask()
        assert trial.params == {"w": 1}
        opt.tell(trial, float(value))
    opt.ask()
    with pytest.raises(SpaceExhausted, match="all that were found of the space are pending"):
        opt.ask()


def test_a_batch_takes_every_point_of_a_small_region_once():
    space = rb.Space(a=rb.Int(0, 4), b=rb.Int(0, 4), c=rb.Choice("p", "q"), constraints=["a + b == 4"])
    opt = begun(space)
    for trial in opt.ask(4, fixed={"c": "p"}):
        opt.tell(trial, float(trial.params["a"]))
    points = opt.ask(6)
    assert len({trial.point for trial in points}) == 6
    assert all(trial.params["a"] + trial.params["b"] == 4 for trial in points)
    with pytest.raises(SpaceExhausted, match="5 points were requested, and only 4 are left; ask for 4"):
        opt.ask(5)
    with pytest.warns(ExhaustedWarning):
        opt.ask(4)
    with pytest.raises(SpaceExhausted, match="all 10 of the space are pending"):
        opt.ask()
