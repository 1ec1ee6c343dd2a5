import robustbo as rb

SPACE = rb.Space(x=rb.Float(0, 1))
WANTED = {"objectives": {"a": "maximize", "c": "minimize"}, "seed": 0}


def test_a_frame_keeps_which_outcomes_are_excluded():
    opt = rb.Optimizer(SPACE, **WANTED)
    for x in (0.1, 0.2, 0.3):
        opt.tell({"x": x}, {"a": x, "c": x * x})
    opt.exclude(0, outcome="a")
    opt.exclude(1, outcome="a")
    opt.exclude(1, outcome="c")
    frame = opt.frame()
    assert frame["a.excluded"].tolist() == [True, True, False]
    assert frame["c.excluded"].tolist() == [False, True, False]
    by_frame, by_study = (rb.Optimizer(SPACE, prior_data=prior, **WANTED).history for prior in (frame, opt))
    assert [t.values for t in by_frame] == [t.values for t in by_study] == [{"c": 0.1 * 0.1}, {"a": 0.3, "c": 0.09}]
    told = rb.Optimizer(SPACE, **WANTED).tell_frame(frame[["x", "a", "c", "a.excluded", "c.excluded"]])
    assert [t.values for t in told] == [t.values for t in by_study]
