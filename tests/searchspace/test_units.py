"""Cells with a unit, as spreadsheets have them: numbers where there is one unit, and a question where there is not."""

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import SpaceError
from robustbo.searchspace.units import number_and_unit, without_unit

DOSES = ["0.1 mL", "0.5mL", "2 mL"]


def pool(**columns):
    return pd.DataFrame(columns | {"y": range(len(next(iter(columns.values()))))})


@pytest.mark.parametrize(
    ("cell", "pair"),
    [
        *[("0.1 mL", (0.1, "mL")), ("5%", (5, "%")), (" -3e2 kg/m3 ", (-300.0, "kg/m3")), (".5 µm", (0.5, "µm"))],
        *[("3 mol L-1", (3, "mol L-1")), ("10 °C", (10, "°C")), ("3", None), ("2-propanol", None), ("mL 3", None)],
        *[("3 of 5", None), ("3/5", None), ("2026-01-02", None), ("10:30", None), ("0,1 mL", None), (3.0, None)],
    ],
)
def test_a_cell_is_a_number_and_its_unit(cell, pair):
    assert number_and_unit(cell) == pair


class TestPool:
    def test_numbers_with_one_unit_are_numbers_and_named_so(self):
        space = rb.Pool(pool(dose=DOSES, share=["5%", "10%", "15%"]))
        assert space.names == ["dose (mL)", "share (%)", "y"]
        assert dict(space.parameters)["dose (mL)"] == rb.Float(0.1, 2.0)
        assert dict(space.parameters)["share (%)"] == rb.Int(5, 15)
        assert space.point(1) == {"dose (mL)": 0.5, "share (%)": 10, "y": 1}

    def test_a_column_that_says_its_unit_keeps_its_name(self):
        assert rb.Pool(pool(**{"dose [mL]": DOSES})).names == ["dose [mL]", "y"]
        with pytest.raises(SpaceError, match=r"dose \[L\]: cells must be in L, .* got some in mL; convert"):
            rb.Pool(pool(**{"dose [L]": DOSES}))

    def test_it_may_be_described_by_that_name(self):
        space = rb.Pool(pool(dose=DOSES), **{"dose (mL)": rb.Float(0.01, 10.0, log=True)})
        assert dict(space.parameters)["dose (mL)"].log

    def test_what_are_words_by_your_word_stay_words(self):
        assert rb.Pool(pool(dose=DOSES), dose=rb.Choice(*DOSES)).point(1)["dose"] == "0.5mL"

    @pytest.mark.parametrize(
        ("cells", "got"),
        [
            (["0.1 mL", "0.5 mL", "1 L"], "got '1 L' beside"),
            (["0.1 mL", "0.5 mL", 1.0], "got 1.0 beside"),
            ([0.1, 0.2, "none"], "got 'none' beside"),
            (["0,1", "0,2", "0,5"], "got '0,1'"),
            (["0,1 mL", "0,2 mL"], "got '0,1 mL'"),
        ],
    )
    def test_a_column_that_is_mixed_is_asked_about(self, cells, got):
        with pytest.raises(SpaceError, match=f"dose: cells must be numbers .*, {got}.*rb.Choice\\("):
            rb.Pool(pool(dose=cells))
        assert len(rb.Pool(pool(dose=cells), dose=rb.Choice(*cells)).rows) == len(cells)

    @pytest.mark.parametrize(
        "cells",
        [["1a", "1b", "2a"], ["A1", "B2"], ["2-propanol", "1-butanol"], ["1", "2"], ["low", "5", "high"], [True, "x"]],
    )
    def test_codes_and_words_stay_words(self, cells):
        assert isinstance(dict(rb.Pool(pool(c=cells)).parameters)["c"], rb.Choice)

    def test_rows_that_are_added_and_points_are_read_alike(self):
        opt = rb.Optimizer(rb.Pool(pool(dose=DOSES)), direction="maximize", seed=0)
        opt.add_rows(pd.DataFrame({"dose": ["3 mL"], "y": [7]}))
        assert opt.tell({"dose": "3 mL", "y": 7}, 1.0).params == {"dose (mL)": 3.0, "y": 7}
        told = opt.tell_frame(pool(dose=DOSES).assign(value=[1.0, 2.0, 3.0]))
        assert [trial.params["dose (mL)"] for trial in told] == [0.1, 0.5, 2.0]


class TestTable:
    SPACE = rb.Space({"dose (mL)": rb.Float(0, 5), "c": rb.Choice("5 h", "7 h")})

    def test_values_and_parameters_have_the_unit_of_their_names(self):
        opt = rb.Optimizer(self.SPACE, direction="maximize", outcome=rb.Outcome("yield", unit="%"), seed=0)
        frame = pd.DataFrame(
            {"dose": DOSES, "c": ["5 h"] * 3, "yield": ["48.8 %", "<5%", "51"], "sd": ["1%", None, None]}
        )
        told = opt.tell_frame(frame)
        assert [(t.params["dose (mL)"], t.value, t.sd) for t in told[::2]] == [(0.1, 48.8, 1.0), (2.0, 51.0, None)]
        assert str(told[1].value) == "<5.0"
        assert told[0].params["c"] == "5 h"

    def test_a_unit_that_no_name_says_is_refused_with_advice(self):
        opt = rb.Optimizer(rb.Space(dose=rb.Float(0, 5)), direction="maximize", seed=0)
        with pytest.raises(SpaceError, match=r"got '0.1 mL'; called 'dose \(mL\)', it takes numbers with that unit"):
            opt.tell({"dose": "0.1 mL"}, 1.0)
        with pytest.raises(SpaceError, match=r"rb.Outcome\(..., unit='%'\)"):
            opt.tell_frame(pd.DataFrame({"dose": [1.0], "value": ["5%"]}))

    def test_another_unit_is_refused(self):
        opt = rb.Optimizer(self.SPACE, direction="maximize", seed=0)
        with pytest.raises(SpaceError, match=r"'0.1 L'"):
            opt.tell({"dose (mL)": "0.1 L", "c": "5 h"}, 1.0)

    def test_sheets_too(self, tmp_path):
        opt = rb.Optimizer(self.SPACE, direction="maximize", outcome=rb.Outcome("yield", unit="%"), seed=0)
        path = tmp_path / "todo.csv"
        opt.write_sheet(path)
        header, row = path.read_text().splitlines()
        cells = row.split(",")
        cells[1] += " mL"
        cells[-1] = "48.8 %"
        path.write_text("\n".join([header, ",".join(cells), ",2.5 mL,5 h,,50%"]))
        assert [t.value for t in opt.read_sheet(path)] == [48.8, 50.0]
        assert opt.history[1].params == {"dose (mL)": 2.5, "c": "5 h"}


def test_a_unit_is_left_out_behind_a_number_alone():
    assert without_unit("yield (%)", "12 %") == "12"
    assert without_unit("time (h)", "bath") == "bath"
    assert without_unit("pH", "7 pH") == "7 pH"
