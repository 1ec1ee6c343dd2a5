"""The measured points nearest to a point."""

import robustbo as rb
from robustbo.view.nearest import nearest_measured


def test_each_parameter_counts_by_its_range_and_what_has_no_value_does_not():
    opt = rb.Optimizer(rb.Space(heat=rb.Float(0, 1000), dose=rb.Float(0, 1)), direction="maximize", seed=0)
    for heat, dose in ((0, 0.5), (500, 0.0), (900, 0.5), (520, 0.5), (500, 0.4)):
        opt.tell({"heat": heat, "dose": dose}, 1.0)
    opt.exclude(4)
    asked = opt.enqueue({"heat": 500, "dose": 0.5})[0]
    assert [trial.number for trial in nearest_measured(opt.view, asked, 3)] == [3, 2, 0]
    assert [trial.number for trial in nearest_measured(opt.view, opt.history[3], 1)] == [2]
