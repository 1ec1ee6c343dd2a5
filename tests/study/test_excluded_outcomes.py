import pytest

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


def test_a_word_of_your_own_is_taken_back_without_vouching_for_the_value(tmp_path):
    space, goals = rb.Space(x=rb.Float(0, 1)), {"a": "minimize", "b": "maximize"}
    opt = rb.Optimizer(space, objectives=goals, seed=0, journal=tmp_path / "j.jsonl")
    opt.tell({"x": 0.5}, {"a": 1.0, "b": 2.0})
    for word in (opt.exclude, opt.include):
        word(0, outcome="a", reason="odd")
        measured = opt.include(0, outcome="a", reason="taken back", vouch=False).outcomes["a"]
        assert (measured.is_excluded, measured.is_vouched, measured.note) == (False, False, "taken back")
    with pytest.raises(ValueError, match="not excluded"):
        opt.include(0, outcome="a", vouch=False)
    assert opt.amend(0, {"a": 1.5}, reason="a slip").note == "a slip"
    assert rb.Study.resume(tmp_path / "j.jsonl").history == opt.history
