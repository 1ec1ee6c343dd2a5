"""Ask and tell by a sheet: what is told of what people do to it, and what is refused with what to do."""

import pytest

import robustbo as rb
from robustbo.study.lines import line_of


def states(opt):
    return [(trial.number, trial.state, trial.value) for trial in opt.history]


class TestWrite:
    def test_a_new_sheet_has_a_row_a_trial_and_text_that_no_program_runs(self, lab, sheet):
        lines = sheet.read_text().splitlines()
        assert lines[0] == "trial,x,n,c,repeats,value"
        assert len(lines) == 3
        for trial, line in zip(lab.history, lines[1:], strict=True):
            c = "'=b" if trial.params["c"] == "=b" else "a"
            assert line == f"{trial.number},{trial.params['x']!r},{trial.params['n']},{c},,"
        assert {trial.asked_by for trial in lab.history} == {"todo.csv"}

    def test_asking_again_takes_in_what_is_filled_in_and_writes_over_nothing(self, lab, filled):
        sheet = filled("1.5")
        before = sheet.read_text()
        (new,) = lab.write_sheet(sheet, 1)
        assert sheet.read_text().startswith(before)
        assert states(lab) == [(0, "told", 1.5), (1, "pending", None), (2, "pending", None)]
        assert new == lab.history[2]

    def test_the_journal_alone_gives_the_rows_back(self, lab, sheet, tmp_path):
        whole = sheet.read_bytes()
        sheet.unlink()
        assert [trial.number for trial in rb.Optimizer.resume(tmp_path / "j.jsonl").write_sheet(sheet, 0)] == [0, 1]
        assert sheet.read_bytes() == whole
        assert lab.write_sheet(sheet, 0) == []

    def test_what_others_measure_is_not_in_it_and_is_said(self, lab, sheet, tmp_path):
        with pytest.warns(rb.SheetWarning, match=r"no rows for trials \[0, 1\], which others asked for"):
            (trial,) = lab.write_sheet(tmp_path / "other.csv", 1)
        assert trial.number == 2
        with pytest.warns(rb.SheetWarning, match="no rows"):
            assert lab.write_sheet(tmp_path / "third.csv", 0, by="todo.csv") == list(lab.history)[:2]

    def test_what_cannot_be_told_is_not_asked_beside(self, lab, filled):
        sheet = filled("12 %")
        before = sheet.read_bytes()
        with pytest.raises(rb.SheetError, match=r"line 2: value must be a number, .* got '12 %'.*nothing was told"):
            lab.write_sheet(sheet, 3)
        assert (sheet.read_bytes(), len(lab.history)) == (before, 2)

    def test_a_column_that_is_gone_is_asked_for(self, lab, sheet):
        sheet.write_text("trial,x,n,value\n0,0.5,1,\n")
        with pytest.raises(rb.SheetError, match=r"there must be a column 'c' for new rows, got .*; add it"):
            lab.write_sheet(sheet, 1)
        assert len(lab.history) == 2


class TestRead:
    def test_a_value_is_told_once(self, lab, filled):
        sheet = filled("1.5", "-2")
        assert [trial.number for trial in lab.read_sheet(sheet)] == [0, 1]
        assert lab.read_sheet(sheet) == []
        assert states(lab) == [(0, "told", 1.5), (1, "told", -2.0)]

    def test_a_word_is_a_failure_with_that_reason(self, lab, filled):
        lab.read_sheet(filled("the stirrer broke", "'- no gas"))
        assert [(t.state, t.reason) for t in lab.history] == [("failed", "the stirrer broke"), ("failed", "- no gas")]

    @pytest.mark.parametrize("word", ["12 %", "~3", "#DIV/0!", "-", "?", "n/a", "TBD", "done", "approx 12", "1_5"])
    def test_what_may_be_no_failure_is_none(self, lab, filled, word):
        with pytest.raises(rb.SheetError, match="value must be a number, or words that say why there is none"):
            lab.read_sheet(filled(word))
        assert states(lab) == [(0, "pending", None), (1, "pending", None)]

    def test_a_row_of_ones_own_is_told_once_and_gets_its_number(self, lab, filled, tmp_path):
        sheet = filled("", "", ",0.25,3,'=b,,7", ",0.25,3,'=b,,7")
        rows = sheet.read_text().splitlines()
        assert [trial.params for trial in lab.read_sheet(sheet)] == [{"x": 0.25, "n": 3, "c": "=b"}] * 2
        assert sheet.read_text().splitlines()[3:] == ["2" + rows[3], "3" + rows[4]]
        sheet.write_text("\n".join(rows))  # as if the numbers could not have been written
        with pytest.warns(rb.SheetWarning, match=r"line [45]: is taken for trial [23], which was told before"):
            assert lab.read_sheet(sheet) == []
        assert sheet.read_text().splitlines()[3:] == ["2" + rows[3], "3" + rows[4]]

    @pytest.mark.parametrize("row", [",0.25,,a,,7", ",0.25,x,a,,7", ",,,,,7", "mean,,,,,7", "99,0.25,3,a,,7"])
    def test_a_row_that_is_no_measurement_is_refused(self, lab, filled, row):
        sheet = filled("1", "", row)
        before = sheet.read_bytes()
        with pytest.raises(rb.SheetError, match=r"line 4: .*nothing was told"):
            lab.read_sheet(sheet)
        assert (sheet.read_bytes(), states(lab)[0]) == (before, (0, "pending", None))

    def test_a_changed_value_is_a_question_that_amend_answers(self, lab, filled):
        sheet = filled("1.5")
        lab.read_sheet(sheet)
        sheet.write_text(sheet.read_text().replace("1.5", "1.75"))
        text = "trial 0 was told as 1.5, the cell has '1.75'; if the cell is right, take it as a correction"
        with pytest.raises(rb.SheetError, match=rf"{text} \(--amend"):
            lab.read_sheet(sheet)
        assert states(lab)[0] == (0, "told", 1.5)
        assert [trial.value for trial in lab.read_sheet(sheet, amend=True)] == [1.75]
        assert lab.read_sheet(sheet, amend=True) == []
        sheet.write_text(sheet.read_text().replace("1.75", "broke"))
        with pytest.raises(rb.SheetError, match=r"the cell has 'broke'; if the value is wrong, exclude trial 0"):
            lab.read_sheet(sheet, amend=True)

    def test_a_failure_that_has_a_value_after_all_is_a_question_too(self, lab, filled):
        sheet = filled("broke")
        lab.read_sheet(sheet)
        sheet.write_text(sheet.read_text().replace("broke", "3"))
        with pytest.raises(rb.SheetError, match="was told as failed: broke, the cell has '3'"):
            lab.read_sheet(sheet)
        assert lab.read_sheet(sheet, amend=True)[0].value == 3.0

    def test_settings_that_were_changed_are_noticed(self, lab, filled):
        sheet = filled("1.5")
        line = sheet.read_text().splitlines()[1].split(",")
        moved = [line[0], "0.125", *line[2:]]
        sheet.write_text(sheet.read_text().replace(",".join(line), ",".join(moved)))
        with pytest.raises(rb.SheetError, match=r"is at x=0\.\d+, the cell has '0.125'; .* empty its cell 'trial'"):
            lab.read_sheet(sheet)
        sheet.write_text(sheet.read_text().replace(",".join(moved), ",".join(["", *moved[1:]])))
        assert [(trial.number, trial.params["x"]) for trial in lab.read_sheet(sheet)] == [(2, 0.125)]
        assert lab.history[0].state == "pending"
        assert [trial.number for trial in lab.write_sheet(sheet, 0)] == [0]  # which is to be measured still

    def test_digits_that_a_spreadsheet_program_drops_are_no_change(self, lab, sheet):
        rows = [
            [t.number, f"{t.params['x']:.6g}", f"{t.params['n']}.0", f"'{t.params['c']} ", "", "1.23456789012"]
            for t in lab.history
        ]
        lines = [",".join(map(str, row)).replace("'a", "a") for row in rows]
        sheet.write_text("\n".join(["trial,x,n,c,repeats,value", *lines]))
        assert len(lab.read_sheet(sheet)) == 2
        sheet.write_text(sheet.read_text().replace("1.23456789012", "1.234568"))
        assert lab.read_sheet(sheet) == []

    def test_two_rows_of_a_trial_must_agree(self, lab, filled):
        line = filled().read_text().splitlines()[1]
        with pytest.raises(rb.SheetError, match="line 4: trial 0 has several rows with different values"):
            lab.read_sheet(filled("1", "", line + "2"), amend=True)
        assert states(lab)[0] == (0, "pending", None)

    def test_all_that_is_wrong_is_said_at_once(self, lab, filled):
        with pytest.raises(rb.SheetError, match=r"nothing was told, since 2 rows cannot be:\nline 2: .*\nline 3: "):
            lab.read_sheet(filled("?", "12 %"))

    def test_a_sheet_that_is_not_there_is_none(self, lab, tmp_path):
        with pytest.raises(rb.SheetError, match=r"there is no such sheet; write_sheet \(robustbo ask --sheet\)"):
            lab.read_sheet(tmp_path / "no.csv")

    def test_noise_has_a_column_where_there_is_one(self, lab, sheet):
        row = sheet.read_text().splitlines()[1]
        sheet.write_text(f"trial,x,n,c,repeats,value,sd\n{row}1.5,0.25\n")
        lab.read_sheet(sheet)
        assert (lab.history[0].value, lab.history[0].sd) == (1.5, 0.25)
        sheet.write_text(sheet.read_text().replace("0.25", "0.5"))
        with pytest.raises(rb.SheetError, match=r"1.5 \(sd 0.25\), the cell has '1.5' \(sd 0.5\)"):
            lab.read_sheet(sheet)
        assert lab.read_sheet(sheet, amend=True)[0].sd == 0.5

    def test_a_broken_constraint_is_warned_of(self, tmp_path):
        space = rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1), constraints=["x + y <= 1"])
        opt = rb.Optimizer(space, direction="minimize", acquisition="sobol", seed=1)
        (tmp_path / "s.csv").write_text("trial,x,y,value\n,0.75,0.75,1\n")
        with pytest.warns(rb.SpaceWarning, match=r"breaks 'x \+ y <= 1'"):
            opt.read_sheet(tmp_path / "s.csv")


class TestOutcomes:
    @pytest.fixture
    def opt(self):
        objectives = {"yield": "maximize", "cost": "minimize"}
        return rb.Optimizer(rb.Space(x=rb.Float(0, 1)), objectives=objectives, acquisition="sobol", seed=1)

    @pytest.fixture
    def fill(self, opt, tmp_path):
        path = tmp_path / "s.csv"
        opt.write_sheet(path, 1)
        start = path.read_text().removesuffix(",\n")

        def fill(text):
            path.write_text(f"{start}{text}\n")
            return path

        return fill

    def test_a_row_waits_for_all_and_says_so(self, opt, fill):
        with pytest.warns(rb.SheetWarning, match="line 2: trial 0 waits for cost; fill it in, or say in words why"):
            assert opt.read_sheet(fill("0.5,")) == []
        assert opt.read_sheet(fill("0.5,3"))[0].values == {"yield": 0.5, "cost": 3.0}

    def test_a_word_is_a_missing_outcome_and_words_alone_a_failure(self, opt, fill):
        (trial,) = opt.read_sheet(fill("0.5,no balance"))
        assert (trial.values, trial.outcomes["cost"].is_lost) == ({"yield": 0.5}, True)
        assert (trial.reasons, trial.of("cost").reason) == (["cost: no balance"], "no balance")
        assert opt.frame(evidence=False)["reason"].tolist() == ["cost: no balance"]
        assert "yield 0.5, cost failed (no balance)" in line_of(trial)
        with pytest.raises(rb.SheetError, match="trial 0 was told as cost failed: no balance, the cell has '3'"):
            opt.read_sheet(fill("0.5,3"))
        opt.write_sheet(fill("0.5,no balance"), 1)
        path = fill("0.5,no balance")
        path.write_text(path.read_text() + f"1,{opt.history[1].params['x']!r},,broke,broke\n")
        assert opt.read_sheet(path)[0].reason == "broke"

    def test_an_outcome_that_was_left_out_is_completed(self, opt, fill):
        opt.tell(0, {"yield": 0.5})
        assert opt.read_sheet(fill("0.5,3"))[0].values == {"yield": 0.5, "cost": 3.0}
        assert opt.read_sheet(fill("0.5,3")) == []
        with pytest.raises(rb.SheetError, match=r"trial 0 was told as cost 3.0, the cell has '4'"):
            opt.read_sheet(fill("0.5,4"))

    def test_columns_have_the_outcomes_names(self, opt, fill):
        with pytest.raises(rb.SheetError, match=r"have their names, \['yield', 'cost'\], got value='y'"):
            opt.read_sheet(fill(","), value="y")


def test_a_word_that_looks_like_a_number_is_meant_by_that_number_if_by_no_other(tmp_path):
    space, path = rb.Space(c=rb.Choice("007", "1,5", "1.5")), tmp_path / "s.csv"
    opt = rb.Optimizer(space, direction="minimize", acquisition="sobol", seed=1)
    path.write_text("trial,c,value\n,7,1\n")
    assert [trial.params for trial in opt.read_sheet(path)] == [{"c": "007"}]
    path.write_text("trial,c,value\n,1.50,1\n")
    with pytest.raises(rb.SheetError, match=r"c: must be one of"):
        opt.read_sheet(path)
