import math

import robustbo as rb


def told(**wanted):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), seed=0, num_initial=9, **wanted)
    for x in (0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.8, 1.0):
        opt.tell({"x": x}, {"a": x if x < 0.7 else math.nan, "c": x * x})
    return opt


def test_a_point_without_a_value_of_the_objective_is_not_the_best():
    """What a model makes of the others there is more than any of them."""
    opt = told(objectives={"a": "maximize"}, outcome_constraints=["c <= 2"])
    assert opt.best().trial.params == {"x": 0.6}
    opt.exclude(5, outcome="a")
    assert opt.best().trial.params == {"x": 0.5}


def test_a_point_without_a_value_of_an_objective_is_not_in_the_front():
    opt = told(objectives={"a": "maximize", "c": "minimize"})
    assert {point.params["x"] for point in opt.front()} == {0.0, 0.1, 0.25, 0.4, 0.5, 0.6}


def test_a_point_without_a_value_of_a_constraint_alone_is_judged_by_its_surrogate():
    opt = told(objectives={"c": "maximize"}, outcome_constraints=["a <= 2"])
    assert opt.best().trial.params == {"x": 1.0}
