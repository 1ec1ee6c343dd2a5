"""Labels: what people know of trials besides, kept, shown and found again, and seen by no model."""

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import SpaceError
from robustbo.report.page import journal_page
from robustbo.report.summary.overview import overview
from robustbo.report.summary.text_summary import lines, results
from robustbo.study.lines import line_of
from robustbo.trials.history import History

SPACE = rb.Space(x=rb.Float(0, 1))
HILLS = pd.DataFrame(
    {"x": [0.1, 0.5, 0.9], "value": [3.0, 1.0, 2.0], "lot": [7, None, 8]}, index=["a", "Knock Hill", "c"]
)


def begun(**options):
    return rb.Optimizer(SPACE, direction="minimize", seed=0, surrogate="standard", **options)


class TestTold:
    def test_they_are_kept_with_the_trial_and_in_the_journal(self, tmp_path):
        opt = begun(journal=tmp_path / "j.jsonl")
        opt.tell(
            opt.ask(), 1.0, labels={"name": "Knock Hill", "lot": 7, "note": None, "day": pd.Timestamp("2026-11-28")}
        )
        opt.fail({"x": 0.5}, "lost", labels={"operator": "B"})
        again = rb.Optimizer.resume(tmp_path / "j.jsonl").history
        assert again[0].labels == {"name": "Knock Hill", "lot": 7, "day": "2026-11-28T00:00:00"}
        assert (again[0].title, again[1].title) == ("Knock Hill (trial 0)", "trial 1")
        assert again[1].labels == {"operator": "B"}

    def test_those_of_the_queue_stay_and_are_added_to(self):
        opt = begun()
        opt.enqueue({"x": 0.25}, labels={"name": "mine"})
        trial = opt.ask()
        assert trial.labels == {"name": "mine"}
        assert opt.tell(trial, 1.0, labels={"lot": 7}).labels == {"name": "mine", "lot": 7}

    @pytest.mark.parametrize(
        ("labels", "says"),
        [
            ("lot", "labels must be a mapping of names"),
            ({7: "lot"}, "labels must be a mapping of names"),
            ({"lot": [7]}, "the label 'lot' must be text, a number or a boolean"),
            ({"note": "x" * 1001}, "at most 1000 characters"),
            ({f"{i}": i for i in range(101)}, "at most 100, got 101"),
        ],
    )
    def test_what_is_none_is_refused_and_nothing_recorded(self, labels, says):
        opt = begun()
        with pytest.raises((TypeError, ValueError), match=says):
            opt.tell({"x": 0.5}, 1.0, labels=labels)
        assert len(opt.history) == 0

    def test_no_model_sees_them(self):
        plain, labelled = begun(), begun()
        for i in range(8):
            plain.tell({"x": i / 7}, (i / 7 - 0.3) ** 2)
            labelled.tell({"x": i / 7}, (i / 7 - 0.3) ** 2, labels={"lot": i})
        assert plain.ask().params == labelled.ask().params

    def test_a_trial_of_an_old_journal_has_none(self):
        event = {"event": "tell", "trial": 0, "params": {"x": 0.5}, "value": 1.0, "sd": None}
        assert History().apply(event)[0].labels == {}


class TestTable:
    def test_columns_are_kept_that_are_named(self):
        opt = begun()
        opt.tell_frame(HILLS, labels=["lot"])
        assert [trial.labels for trial in opt.history] == [{"lot": 7}, {}, {"lot": 8}]

    def test_all_that_are_nothing_else_and_the_names_of_rows(self):
        opt = begun()
        opt.tell_frame(HILLS.assign(sd=0.1), labels=True)
        assert opt.history[1].labels == {"name": "Knock Hill"}
        assert opt.history[0].labels == {"name": "a", "lot": 7}

    def test_a_column_may_be_the_name(self):
        opt = begun()
        opt.tell_frame(HILLS.reset_index(names="hill"), labels={"name": "hill", "lot": "lot"})
        assert opt.history[1].title == "Knock Hill (trial 1)"

    def test_a_column_that_is_not_there_or_not_named_is_said(self):
        with pytest.raises(SpaceError, match="labels: there must be a column 'lots'"):
            begun().tell_frame(HILLS, labels=["lots"])
        with pytest.raises(SpaceError, match=r"got \['lot'\] too.*labels=True keeps them"):
            begun().tell_frame(HILLS)

    def test_a_frame_finds_them_and_tells_them_again(self):
        opt, other = begun(), begun()
        opt.tell_frame(HILLS, labels=True)
        frame = opt.frame()
        assert frame[frame["label.name"] == "Knock Hill"]["value"].tolist() == [1.0]
        other.tell_frame(frame, ignore_extra=True)
        assert [t.labels for t in other.history] == [t.labels for t in opt.history]

    def test_prior_data_keeps_what_it_has(self):
        opt = begun(prior_data=HILLS.assign(odd=[[1], [2], [3]]))
        assert opt.history[0].labels == {"name": "a", "lot": 7}
        assert begun(prior_data=opt).history[0].labels == opt.history[0].labels

    def test_sheets_too(self, tmp_path):
        opt, path = begun(), tmp_path / "todo.csv"
        opt.write_sheet(path)
        header, row = path.read_text().splitlines()
        path.write_text(f"{header},name,lot\n{row}1.5,Knock Hill,7\n,0.5,,broken,other,\n")
        opt.read_sheet(path)
        assert [t.labels for t in opt.history] == [{"name": "Knock Hill", "lot": "7"}, {"name": "other"}]
        assert opt.read_sheet(path) == []


def test_reports_call_a_trial_by_its_name():
    opt = begun()
    for i in range(9):
        opt.tell({"x": i / 8}, (i / 8) ** 2 + 30 * (i == 4), labels={"name": f"row {i}"})
    assert str(opt.best()).startswith("row 0 (trial 0), x=0.0")
    assert str(opt.outliers()[0]).startswith("row 4 (trial 4): measured")
    assert line_of(opt.history[4]).endswith("[name=row 4]")
    summary = overview(opt.view)
    assert any("row 0 (trial 0)" in line for line in lines("j", summary))
    (rows,) = [rows for title, rows in results(summary).items() if "look wrong" in title] or [[]]
    assert [row["name"] for row in rows][:1] in ([], ["row 4"])


def test_a_page_has_labels_beside_trials():
    opt = begun()
    for i in range(6):
        opt.tell({"x": i / 5}, float(i), labels={"name": f"row {i}", "lot": 7 + i})
    page = journal_page.page("lab", opt.view)
    assert "<th>lot</th>" in page.replace(' scope="col"', "")
    assert "row 3" in page
    assert "that of row 0 (trial 0)" in page


def test_words_in_the_index_of_a_pool_are_names_of_what_is_measured_there(tmp_path):
    wells = pd.DataFrame({"pH": [2.0, 3.0, 4.5], "salt": [0.1, 0.1, 0.3]}, index=["A1", "A2", "B7"])
    opt = rb.Optimizer(rb.Pool(wells), direction="minimize", seed=0, journal=tmp_path / "wells.jsonl")
    opt.tell({"pH": 4.5, "salt": 0.3}, 1.5)
    opt.fail({"pH": 3.0, "salt": 0.1}, "spilt")
    opt.tell({"pH": 2.0, "salt": 0.1}, 2.5, labels={"name": "mine", "lot": 7})
    opt.add_rows(pd.DataFrame({"pH": [5.0], "salt": [0.2]}, index=["C3"]))
    opt.tell({"pH": 5.0, "salt": 0.2}, 3.5)  # a row of later has no name
    labels = [{"name": "B7"}, {"name": "A2"}, {"name": "mine", "lot": 7}, {}]
    assert [trial.labels for trial in opt.history] == labels
    assert str(opt.best()).startswith("B7 (trial 0)")
    unnamed = rb.Pool(wells.reset_index(drop=True))  # as an older version has it
    again = rb.Optimizer(unnamed, direction="minimize", seed=0, journal=tmp_path / "wells.jsonl", if_exists="resume")
    assert [trial.labels for trial in again.history] == labels
    begun = rb.Optimizer(unnamed, direction="minimize", seed=0, journal=tmp_path / "old.jsonl")
    begun.tell({"pH": 4.5, "salt": 0.3}, 1.5)
    named = rb.Optimizer(
        rb.Pool(wells), direction="minimize", seed=0, journal=tmp_path / "old.jsonl", if_exists="resume"
    )
    assert [trial.labels for trial in named.history] == [{}]
