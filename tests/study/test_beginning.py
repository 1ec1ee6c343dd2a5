import numpy as np
import pandas as pd
import pytest

import robustbo as rb

SPACE = rb.Space(x=rb.Float(0.0, 1.0), kind=rb.Choice("a", "b"))


def frame(count=4):
    return pd.DataFrame({"x": np.linspace(0.1, 0.9, count), "kind": ["a", "b"] * (count // 2), "value": range(count)})


def test_a_frame_is_told_first_and_counts_among_the_initial_points():
    opt = rb.Optimizer(SPACE, direction="minimize", seed=0, prior_data=frame(6), num_initial=6)
    assert [(t.value, t.origin) for t in opt.history] == [(float(i), "user") for i in range(6)]
    assert opt.ask().origin == "model"


def test_another_journal_gives_its_told_and_failed_trials(tmp_path):
    old = rb.Optimizer(SPACE, direction="minimize", seed=0, journal=tmp_path / "old.jsonl")
    a, b, c, _ = old.ask(4)
    old.tell(a, 1.0, sd=0.5)
    old.fail(b, "out of memory", retry=False)
    old.tell(c, 2.0)
    old.exclude(c)
    for prior in (tmp_path / "old.jsonl", str(tmp_path / "old.jsonl"), old, rb.Study.resume(tmp_path / "old.jsonl")):
        told, failed = rb.Optimizer(SPACE, direction="minimize", seed=1, prior_data=prior).history
        assert (told.params, told.value, told.sd) == (a.params, 1.0, 0.5)
        assert (failed.params, failed.reason, failed.retry) == (b.params, "out of memory", False)


def test_a_script_that_is_run_again_tells_nothing_twice(tmp_path):
    def script():
        return rb.Optimizer(
            SPACE, direction="minimize", seed=0, prior_data=frame(), journal=tmp_path / "j.jsonl", if_exists="resume"
        )

    script().ask()
    assert len(script().history) == 5


def test_rows_that_came_later_are_not_lost_in_silence(tmp_path):
    rb.Optimizer(SPACE, direction="minimize", seed=0, prior_data=frame(), journal=tmp_path / "j.jsonl")
    more = pd.concat([frame(), pd.DataFrame({"x": [0.77], "kind": ["a"], "value": [3.0]})])
    with pytest.warns(rb.JournalWarning, match="1 of 5 rows of prior_data are not in the journal.*tell_frame"):
        rb.Optimizer(
            SPACE, direction="minimize", seed=0, prior_data=more, journal=tmp_path / "j.jsonl", if_exists="resume"
        )


def test_a_row_with_another_value_now_is_not_to_be_told_again(tmp_path):
    begun = {"direction": "minimize", "seed": 0, "journal": tmp_path / "j.jsonl"}
    rb.Optimizer(SPACE, **begun, prior_data=frame())
    changed = frame().assign(value=[0.0, 5.0, 2.0, 3.0])
    with pytest.warns(rb.JournalWarning, match="1 of 4 rows of prior_data have another value than the journal") as said:
        rb.Optimizer(SPACE, **begun, prior_data=changed, if_exists="resume")
    assert "tell_frame" not in str(said[0].message)


def test_a_row_is_known_after_its_value_was_amended_or_its_source_corrected(tmp_path):
    begun = {"direction": "minimize", "seed": 0, "journal": tmp_path / "j.jsonl"}
    opt = rb.Optimizer(SPACE, **begun, prior_data=frame())
    opt.amend(1, 5.0)
    opt.correct(since=0, error=0.5)
    assert [trial.value for trial in opt.history] == [-0.5, 4.5, 1.5, 2.5]
    assert len(rb.Optimizer(SPACE, **begun, prior_data=frame(), if_exists="resume").history) == 4


def test_a_replicate_that_came_later_is_no_changed_value(tmp_path):
    begun = {"direction": "minimize", "seed": 0, "journal": tmp_path / "j.jsonl"}
    rb.Optimizer(SPACE, **begun, prior_data=frame())
    more = pd.concat([frame(), frame().head(1).assign(value=7.5)])
    with pytest.warns(rb.JournalWarning, match="1 of 5 rows of prior_data are not in the journal.*tell_frame"):
        rb.Optimizer(SPACE, **begun, prior_data=more, if_exists="resume")


def test_other_columns_of_a_spreadsheet_are_passed_over():
    opt = rb.Optimizer(SPACE, direction="minimize", seed=0, prior_data=frame().assign(note="by hand", run=range(4)))
    assert len(opt.history) == 4


def test_an_interrupted_beginning_is_made_good(tmp_path):
    rb.Optimizer(SPACE, direction="minimize", seed=0, journal=tmp_path / "j.jsonl")
    again = rb.Optimizer(
        SPACE, direction="minimize", seed=0, prior_data=frame(), journal=tmp_path / "j.jsonl", if_exists="resume"
    )
    assert len(again.history) == 4


def test_a_row_that_is_no_point_is_named_and_no_journal_is_begun(tmp_path):
    wrong = frame().assign(x=[0.1, "wide", 0.3, 0.4])
    with pytest.raises(rb.SpaceError, match="1 of 4 rows break a rule:\nrow 1: x: must be a finite number"):
        rb.Optimizer(SPACE, direction="minimize", prior_data=wrong, journal=tmp_path / "j.jsonl")
    assert not (tmp_path / "j.jsonl").exists()


def test_a_journal_of_another_space_is_refused(tmp_path):
    old = rb.Optimizer(rb.Space(y=rb.Float(0.0, 1.0)), direction="minimize", seed=0)
    old.tell(old.ask(), 1.0)
    with pytest.raises(rb.SpaceError, match=r"prior_data: .*y: no such parameter"):
        rb.Optimizer(SPACE, direction="minimize", prior_data=old)


def test_one_that_goes_the_other_way_is_refused():
    old = rb.Optimizer(SPACE, seed=0, direction="maximize")
    with pytest.raises(ValueError, match="to maximize, this one is to minimize"):
        rb.Optimizer(SPACE, direction="minimize", prior_data=old)


def test_anything_else_is_refused():
    with pytest.raises(TypeError, match="prior_data must be a data frame, a study, or a journal's file or address"):
        rb.Optimizer(SPACE, direction="minimize", prior_data=[1, 2])


def test_a_value_where_a_constraint_is_broken_is_kept_with_a_warning():
    space = rb.Space(x=rb.Float(0.0, 1.0), y=rb.Float(0.0, 1.0), constraints=["x + y <= 1"])
    with pytest.warns(rb.SpaceWarning, match=r"breaks 'x \+ y <= 1'; robustbo keeps it"):
        opt = rb.Optimizer(
            space, direction="minimize", seed=0, prior_data=pd.DataFrame({"x": [0.9], "y": [0.9], "value": [1.0]})
        )
    assert len(opt.history) == 1


def test_a_pool_that_has_grown_is_resumed(tmp_path):
    rows = pd.DataFrame({"x": np.linspace(0.0, 1.0, 6)})
    opt = rb.Optimizer(rb.Pool(rows[:4]), direction="minimize", seed=0, journal=tmp_path / "j.jsonl")
    opt.add_rows(rows[4:])
    again = rb.Optimizer(rb.Pool(rows), direction="minimize", seed=0, journal=tmp_path / "j.jsonl", if_exists="resume")
    assert again.settings.space.size == 6


def test_resuming_needs_a_journal():
    with pytest.raises(ValueError, match="if_exists must come with a journal"):
        rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", if_exists="resume")


def test_asking_for_more_points_than_there_are_says_how_many_are_left(tmp_path):
    opt = rb.Optimizer(
        rb.Pool(pd.DataFrame({"x": [0.1, 0.2, 0.4, 0.9]})), direction="minimize", seed=0, journal=tmp_path / "j"
    )
    with pytest.raises(rb.SpaceExhausted, match="9 points were requested, and only 4 are left; ask for 4"):
        opt.ask(9)
    assert len(opt.history) == 0
    assert len(opt.ask(4)) == 4
    with pytest.raises(rb.SpaceExhausted, match="all 4 of the space are pending"):
        opt.ask()
