import robustbo as rb


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
