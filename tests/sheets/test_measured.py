"""Rows of trials that were measured elsewhere than asked for, or will not be measured."""

import pytest

import robustbo as rb

SPACE = rb.Space(x=rb.Float(0.0, 1.0))


@pytest.fixture
def lab(tmp_path):
    opt = rb.Optimizer(SPACE, direction="minimize", seed=0, acquisition="sobol", journal=tmp_path / "j.jsonl")
    opt.write_sheet(tmp_path / "todo.csv", 2)
    return opt


def fill(tmp_path, *rows):
    """Write rows of cells below the header: trial, x, repeats, value."""
    path = tmp_path / "todo.csv"
    header = path.read_text().splitlines()[0]
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def test_other_settings_are_a_question_or_where_it_was_measured(lab, tmp_path):
    first, second = lab.history
    sheet = fill(tmp_path, [0, 1.02, "", 0.5], [1, second.params["x"], "", 0.7])
    with pytest.raises(rb.SheetError, match=r"trial 0 is at x=.*, the cell has '1.02'; .*as_measured=True"):
        lab.read_sheet(sheet)
    with pytest.warns(rb.SpaceWarning, match="outside the space"):
        told = lab.read_sheet(sheet, as_measured=True)
    assert [(t.params, t.target, t.value) for t in told] == [
        ({"x": 1.02}, first.params, 0.5),
        (second.params, None, 0.7),
    ]
    assert lab.read_sheet(sheet, as_measured=True) == [] == lab.read_sheet(sheet)  # both rows are known now


def test_a_row_of_ones_own_may_lie_outside(lab, tmp_path):
    sheet = fill(tmp_path, ["", 1.5, "", 0.5])
    with pytest.warns(rb.SpaceWarning, match="outside the space"):
        assert [t.params for t in lab.read_sheet(sheet)] == [{"x": 1.5}]


def test_a_word_withdraws_a_trial_and_a_value_after_it_is_told(lab, tmp_path):
    first, second = (trial.params["x"] for trial in lab.history)
    sheet = fill(tmp_path, [0, first, "", "withdrawn: no reagent"], [1, second, "", "Withdrawn"])
    assert [(t.state, t.reason) for t in lab.read_sheet(sheet)] == [
        ("withdrawn", "no reagent"),
        ("withdrawn", "withdrawn"),
    ]
    assert lab.read_sheet(sheet) == []
    sheet = fill(tmp_path, [0, first, "", 0.5], [1, second, "", "Withdrawn"])
    assert [(t.number, t.state, t.value) for t in lab.read_sheet(sheet)] == [(0, "told", 0.5)]
    sheet = fill(tmp_path, ["", 0.3, "", "withdrawn"])
    with pytest.raises(rb.SheetError, match="there is no trial to withdraw"):
        lab.read_sheet(sheet)


def test_a_row_may_be_of_another_branch_of_a_condition(tmp_path):
    space = rb.Space(x=rb.Float(0.0, 1.0), s=rb.Choice("a", "b"), h=rb.Float(0.0, 1.0, when={"s": ["b"]}))
    opt = rb.Optimizer(space, direction="minimize", seed=0, journal=tmp_path / "j.jsonl")
    opt.enqueue({"x": 0.5, "s": "b", "h": 0.5})
    opt.write_sheet(tmp_path / "todo.csv", 1)
    sheet = fill(tmp_path, [0, 0.5, "a", "", "", 5.0])
    assert [t.params for t in opt.read_sheet(sheet, as_measured=True)] == [{"x": 0.5, "s": "a"}]
