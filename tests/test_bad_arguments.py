"""What people pass by mistake is refused in words, before anything is recorded."""

import pandas as pd
import pytest

import robustbo as rb

SPACE = rb.Space(lr=rb.Float(0.0, 1.0), act=rb.Choice("relu", "tanh"))


@pytest.fixture
def opt(tmp_path):
    made = rb.Optimizer(SPACE, direction="minimize", seed=0, num_initial=2, journal=tmp_path / "lab.jsonl")
    made.tell({"lr": 0.5, "act": "relu"}, 1.0)
    return made


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("raw", lambda opt: opt.best(raw="no")),
        ("evidence", lambda opt: opt.frame(evidence="no")),
        ("ignore_extra", lambda opt: opt.tell_frame(pd.DataFrame({"lr": [0.1]}), ignore_extra="no")),
        ("progress", lambda opt: opt.optimize(lambda params: 1.0, 3, progress="no")),
    ],
)
def test_a_flag_is_true_or_false_and_no_word(opt, name, call):
    before = opt.history
    with pytest.raises(ValueError, match=f"{name} must be True or False, got 'no'"):
        call(opt)
    assert opt.history == before


@pytest.mark.parametrize(
    ("meant", "call"),
    [
        ("relu", lambda opt: opt.tell({"lr": 0.1, "act": "rleu"}, 1.0)),
        ("lr", lambda opt: opt.tell_frame(pd.DataFrame({"lrr": [0.1], "act": ["relu"], "value": [1.0]}))),
    ],
)
def test_an_unknown_word_gets_a_suggestion(opt, meant, call):
    with pytest.raises(rb.SpaceError, match=f"did you mean '{meant}'"):
        call(opt)


@pytest.mark.parametrize("journal", [3, "", True])
def test_a_journal_is_a_file_or_an_address(journal):
    with pytest.raises(TypeError, match="journal must be a file or the address of a database, got"):
        rb.Optimizer(SPACE, direction="minimize", journal=journal)


def test_a_folder_is_called_that(tmp_path):
    with pytest.raises(rb.JournalError, match="is a folder, and"):
        rb.Study.resume(tmp_path)


@pytest.mark.parametrize(("committee_from", "name"), [(None, "relevance-pursuit"), (2000, "auto")])
def test_the_setting_that_differs_is_named_as_it_was_given(tmp_path, committee_from, name):
    path = tmp_path / "lab.jsonl"
    rb.Optimizer(SPACE, direction="minimize", seed=0, journal=path, committee_from=committee_from)
    rb.Optimizer(SPACE, direction="minimize", seed=0, journal=path, if_exists="resume")
    with pytest.raises(rb.JournalError) as caught:
        rb.Optimizer(SPACE, direction="minimize", seed=0, surrogate="standard", journal=path, if_exists="resume")
    assert f"surrogate: recorded '{name}', given 'standard'" in str(caught.value)
    assert "committee_from" not in str(caught.value)
