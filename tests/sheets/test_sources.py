"""Columns that say what measured a row, and what becomes of rows whose source is corrected."""

import pytest

import robustbo as rb


def test_a_column_says_what_measured_a_row(lab, sheet):
    header, *lines = sheet.read_text().splitlines()
    rows = [header + ",source.reactor", lines[0] + "1.5, R3", lines[1] + "2.5,", ",0.5,3,a,,4.0,R1"]
    sheet.write_text("\n".join(rows) + "\n")
    lab.read_sheet(sheet)
    assert [trial.sources for trial in lab.history] == [{"reactor": "R3"}, {}, {"reactor": "R1"}]
    assert lab.read_sheet(sheet) == []
    (new,) = lab.write_sheet(sheet, 1)
    assert sheet.read_text().splitlines()[-1].startswith(f"{new.number},")


def test_who_measures_them_all_may_be_a_source(lab, tmp_path):
    (trial,) = lab.write_sheet(tmp_path / "r3.csv", 1, by={"reactor": "R3"})
    assert (trial.asked_by, trial.sources) == ("R3", {"reactor": "R3"})
    sheet = tmp_path / "r3.csv"
    sheet.write_text(sheet.read_text().rstrip() + "1.5\n")
    assert lab.write_sheet(sheet, 0, by={"reactor": "R3"}) == []
    assert lab.history[trial.number].sources == {"reactor": "R3"}


def test_columns_must_be_told_apart_and_labels_short(lab, sheet):
    header, *lines = sheet.read_text().splitlines()
    for second in ("source.a", "Source.A"):
        sheet.write_text("\n".join([f"{header},source.a,{second}", lines[0] + "1.5,R3,R4"]))
        with pytest.raises(rb.SheetError, match=rf"one column '{second}', got 2"):
            lab.read_sheet(sheet)
    sheet.write_text("\n".join([header + ",source.a", lines[0] + "1.5," + "R" * 300]))
    with pytest.raises(rb.SheetError, match=r"line 2: the label of source 'a'"):
        lab.read_sheet(sheet)
    assert lab.history[0].is_open


def test_a_corrected_source_changes_no_row_and_an_amended_row_stays_corrected(lab, sheet):
    header, *lines = sheet.read_text().splitlines()
    rows = [header + ",source.reactor", lines[0] + "1.5,R3", lines[1] + "2.5,R1", ",0.5,3,a,,4.0,R3"]
    sheet.write_text("\n".join(rows) + "\n")
    lab.read_sheet(sheet)
    lab.correct(source={"reactor": "R3"}, error=0.5)
    assert [trial.value for trial in lab.history] == [1.0, 2.5, 3.5]
    assert lab.read_sheet(sheet) == []
    assert lab.read_sheet(sheet, amend=True) == []
    sheet.write_text(sheet.read_text().replace("1.5,R3", "1.75,R3"))
    with pytest.raises(rb.SheetError, match=r"trial 0 was told as 1\.5, the cell has '1\.75'"):
        lab.read_sheet(sheet)
    assert [(trial.value, trial.as_told) for trial in lab.read_sheet(sheet, amend=True)] == [(1.25, 1.75)]


@pytest.mark.parametrize(
    ("column", "kind"), [("source", "source"), (" Source ", "source"), ("Source.reactor", "reactor")]
)
def test_a_column_of_sources_is_known_whatever_its_case(lab, sheet, column, kind):
    header, first, _ = sheet.read_text().splitlines()
    sheet.write_text(f"{header},{column}\n{first}1.5,R3\n")
    assert [(trial.sources, trial.labels) for trial in lab.read_sheet(sheet)] == [({kind: "R3"}, {})]


def test_a_parameter_or_an_outcome_of_that_name_is_no_source(tmp_path):
    space = rb.Space(Source=rb.Choice("a", "b"))
    opt = rb.Optimizer(space, direction="minimize", acquisition="sobol", seed=1)
    (tmp_path / "s.csv").write_text("trial,source,value\n,a,1\n")
    assert [(trial.params, trial.sources) for trial in opt.read_sheet(tmp_path / "s.csv")] == [({"Source": "a"}, {})]


def test_a_source_that_is_not_declared_is_refused_in_any_such_column(tmp_path):
    sources = {"lab": rb.Source(target=True), "sim": rb.Source(cost=0.1)}
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", acquisition="sobol", sources=sources)
    path = tmp_path / "s.csv"
    path.write_text("trial,x,Source,value\n,0.5,smi,1\n")
    with pytest.raises(rb.SheetError, match=r"source must be one of those declared, .*did you mean 'sim'"):
        opt.read_sheet(path)
    path.write_text("trial,x,Source,value\n,0.5,sim,1\n")
    assert [trial.source for trial in opt.read_sheet(path)] == ["sim"]


class TestChanges:
    @pytest.fixture
    def write(self, lab, sheet):
        """Writes the sheet with another source and label of its first row."""
        header, first, _ = sheet.read_text().splitlines()

        def write_cells(value, source, lot):
            sheet.write_text(f"{header},source.reactor,lot\n{first}{value},{source},{lot}\n")
            return sheet

        lab.read_sheet(write_cells("5", "R1", ""))
        return write_cells

    def test_another_source_is_a_question_that_amend_answers(self, lab, write, tmp_path):
        text = r"trial 0 was told with the source reactor R1, the cell has reactor R9; .* take it as a correction"
        with pytest.raises(rb.SheetError, match=text):
            lab.read_sheet(write("5", "R9", "L7"))
        assert lab.history[0].sources == {"reactor": "R1"}
        lab.include(0)
        (trial,) = lab.read_sheet(write("5", "R9", "L7"), amend=True)
        assert (trial.sources, trial.labels) == ({"reactor": "R9"}, {"lot": "L7"})
        assert (trial.value, trial.is_vouched, trial.former_values) == (5.0, True, ())
        assert lab.read_sheet(write("5", "R9", "L7"), amend=True) == []
        assert rb.Optimizer.resume(tmp_path / "j.jsonl").history[0] == trial

    def test_another_label_is_said_and_amend_takes_it(self, lab, write):
        with pytest.warns(rb.SheetWarning, match=r"line 2: trial 0 was told with another 'lot'; if the cell is right"):
            assert lab.read_sheet(write("5", "R1", "L7")) == []
        assert [trial.labels for trial in lab.read_sheet(write("5", "R1", "L7"), amend=True)] == [{"lot": "L7"}]
        assert lab.read_sheet(write("5", "", "l7")) == []  # an empty cell says nothing

    def test_an_amended_value_takes_both(self, lab, write):
        (trial,) = lab.read_sheet(write("6", "R9", "L7"), amend=True)
        assert (trial.value, trial.sources, trial.labels) == (6.0, {"reactor": "R9"}, {"lot": "L7"})

    def test_a_source_that_is_not_declared_is_refused_and_the_target_may_be_named(self, tmp_path):
        sources = {"lab": rb.Source(target=True), "sim": rb.Source(cost=0.1)}
        opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", acquisition="sobol", sources=sources)
        opt.tell({"x": 0.5}, 1.0)
        path = tmp_path / "s.csv"
        for name, told in (("lab", []), ("sim", ["sim"])):
            path.write_text(f"trial,x,source,value\n0,0.5,{name},1\n")
            assert [trial.source for trial in opt.read_sheet(path, amend=True)] == told
        path.write_text("trial,x,source,value\n0,0.5,smi,1\n")
        with pytest.raises(rb.SheetError, match="source must be one of those declared"):
            opt.read_sheet(path, amend=True)
