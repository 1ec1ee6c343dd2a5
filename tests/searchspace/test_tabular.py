import numpy as np
import pandas as pd
import pytest

import robustbo as rb

SPACE = rb.Space(x=rb.Float(-5.0, 10.0), n=rb.Int(1, 8), c=rb.Choice("a", "b"))
FRAME = pd.DataFrame({"x": [0.5, 1.5, 2.5], "n": [1, 2, 3], "c": ["a", "b", "a"], "value": [1.0, np.nan, 3.0]})


def optimizer(**options):
    return rb.Optimizer(SPACE, **{"direction": "minimize", "seed": 0, "surrogate": "standard", **options})


class TestTellFrame:
    def test_a_row_is_a_measurement(self, tmp_path):
        opt = optimizer(journal=tmp_path / "j")
        trials = opt.tell_frame(FRAME.assign(sd=[0.1, 0.2, np.nan]))
        assert [t.state for t in trials] == ["told", "failed", "told"]
        assert trials[0].params == {"x": 0.5, "n": 1, "c": "a"}
        assert [t.sd for t in trials] == [0.1, None, None]
        assert rb.Optimizer.resume(tmp_path / "j").history == opt.history

    def test_what_a_frame_gives_it_takes(self):
        opt, copy = optimizer(), optimizer()
        opt.tell_frame(FRAME)
        frame = opt.frame()
        with pytest.raises(rb.SpaceError, match="state: rows must be told values, got others too"):
            copy.tell_frame(frame, ignore_extra=True)
        copy.tell_frame(frame[frame["state"] == "told"], ignore_extra=True)
        assert [(t.params, t.value) for t in copy.history] == [(t.params, t.value) for t in opt.history.having("told")]

    def test_a_parameter_named_value_is_told_from_the_value(self):
        opt = rb.Optimizer(rb.Space(value=rb.Float(0, 1)), direction="minimize", seed=0)
        trial = opt.tell_frame(pd.DataFrame({"params.value": [0.5], "value": [7.0]}))[0]
        assert (trial.params, trial.value) == ({"value": 0.5}, 7.0)
        with pytest.raises(rb.SpaceError, match="value: is a parameter and a column of values"):
            opt.tell_frame(pd.DataFrame({"value": [0.5]}))
        with pytest.raises(rb.SpaceError, match="columns must differ"):
            opt.tell_frame(pd.DataFrame([[0.5, 0.4, 1.0]], columns=["params.value", "params.value", "value"]))

    def test_a_parameter_named_sd_is_no_noise(self):
        opt = rb.Optimizer(rb.Space(sd=rb.Float(0, 1)), direction="minimize", seed=0)
        (trial,) = opt.tell_frame(pd.DataFrame({"sd": [0.5], "value": [7.0]}))
        assert (trial.params, trial.value, trial.sd) == ({"sd": 0.5}, 7.0, None)
        (trial,) = opt.tell_frame(pd.DataFrame({"params.sd": [0.25], "value": [7.0], "sd": [0.1]}))
        assert (trial.params, trial.sd) == ({"sd": 0.25}, 0.1)
        with pytest.raises(rb.SpaceError, match="sd: is a parameter and a column of values"):
            opt.tell_frame(pd.DataFrame({"sd": [0.5], "value": [7.0]}), sd="sd")
        (trial,) = opt.tell_frame(pd.DataFrame({"": [3], "sd": [0.75], "value": [7.0]}), ignore_extra=True)
        assert trial.sd is None

    @pytest.mark.parametrize(
        ("frame", "message"),
        [
            ({"x;value": ["0,5;1,0"]}, r"got \['x;value'\]; read such a file by read_csv\(..., sep=';'\)"),
            ({"x [mm]": [0.5], "value": [1.0]}, r"\['x \[mm\]'\] too; drop"),
            ({"Width": [0.5], "value": [1.0]}, r"\['Width'\] too; did you mean 'width'\? rename it, drop them, or"),
            ({"x": [0.5], "value": ["0,5"]}, r"got the text '0,5'; read a decimal comma by"),
            ({"x": [0.5], "value": ["burnt"]}, r"got the text 'burnt'; leave the cell empty"),
        ],
    )
    def test_what_a_spreadsheet_does_to_a_table_is_answered_by_what_to_do(self, frame, message):
        name = "width" if "Width" in frame else "x"
        with pytest.raises(rb.SpaceError, match=message):
            rb.Optimizer(rb.Space(**{name: rb.Float(0, 1)}), direction="minimize", seed=0).tell_frame(
                pd.DataFrame(frame)
            )

    def test_of_several_outcomes_no_column_is_named(self):
        opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), objectives={"a": "maximize", "b": "minimize"}, seed=0)
        with pytest.raises(rb.SpaceError, match=r"named OUTCOME and OUTCOME\.sd, got sd='err'; rename them"):
            opt.tell_frame(pd.DataFrame({"x": [0.5], "a": [1.0], "b": [2.0], "err": [0.1]}), sd="err")

    def test_a_row_at_the_point_of_an_open_trial_is_its_value(self):
        opt = optimizer()
        asked = opt.ask(3)
        told = opt.tell_frame(pd.DataFrame([t.params | {"value": value} for value in (1.0, 1.5) for t in asked]))
        assert [t.number for t in told] == [0, 1, 2, 3, 4, 5]
        assert opt.history.counts()["pending"] == 0

    def test_columns_may_have_other_names(self):
        opt = optimizer()
        frame = FRAME.rename(columns={"value": "yield", "x": "params.x"}).assign(error=0.5)
        assert opt.tell_frame(frame, value="yield", sd="error")[2].sd == 0.5

    def test_extra_columns_are_named_and_passed_over_on_request(self):
        opt = optimizer()
        with pytest.raises(rb.SpaceError, match=r"got \['day'\] too; drop them, or pass ignore_extra=True"):
            opt.tell_frame(FRAME.assign(day=3))
        assert len(opt.tell_frame(FRAME.assign(day=3), ignore_extra=True)) == 3

    def test_all_rows_that_break_a_rule_are_told_of_at_once_and_nothing_is_recorded(self):
        opt = optimizer()
        frame = FRAME.astype(object)
        frame.loc[0, "x"], frame.loc[2, "value"] = "wide", "high"
        with pytest.raises(rb.SpaceError, match="2 of 3 rows break a rule") as caught:
            opt.tell_frame(frame)
        assert "row 0: x: must be a finite number, got 'wide'" in str(caught.value)
        assert "row 2: value must be a real number, got the text 'high'; leave the cell empty where" in str(
            caught.value
        )
        assert len(opt.history) == 0

    def test_a_long_list_of_errors_is_cut(self):
        frame = pd.DataFrame({"x": ["warm"] * 30, "n": 1, "c": "a", "value": 1.0})
        with pytest.raises(rb.SpaceError, match=r"\.\.\. and 10 more"):
            optimizer().tell_frame(frame)

    @pytest.mark.parametrize("column", ["x", "value"])
    def test_a_missing_column_is_named(self, column):
        with pytest.raises(rb.SpaceError, match=f"{column}: there must be a column"):
            optimizer().tell_frame(FRAME.drop(columns=column))

    def test_what_was_meant_is_said(self):
        opt = optimizer()
        with pytest.raises(rb.SpaceError, match=r"rename 'result' to 'resul', .*, or say value='result'"):
            opt.tell_frame(FRAME.rename(columns={"value": "result"}), value="resul")
        with pytest.raises(rb.SpaceError, match=r"rename.*'result': 'value'.*, or say value='result'"):
            opt.tell_frame(FRAME.rename(columns={"value": "result"}))
        with pytest.raises(rb.SpaceError, match=r"n: there must be a column .*; if it was the same in all"):
            opt.tell_frame(FRAME.drop(columns="n"))
        with pytest.raises(rb.SpaceError, match="got the text '3,5'; read a decimal comma by"):
            opt.tell_frame(FRAME.assign(value="3,5"))

    def test_a_column_of_noise_that_is_named_must_be_there(self):
        opt = optimizer()
        with pytest.raises(rb.SpaceError, match=r"sd: there must be a column 'eror', .*did you mean 'error'"):
            opt.tell_frame(FRAME.assign(error=0.1), sd="eror", ignore_extra=True)
        assert len(opt.history) == 0
        assert opt.tell_frame(FRAME)[0].sd is None

    def test_rows_that_are_there_already_are_told_again_with_a_warning(self):
        opt = optimizer()
        opt.tell_frame(FRAME)
        with pytest.warns(rb.SpaceWarning, match="2 of 3 rows are in this study already, with the same values"):
            assert len(opt.tell_frame(FRAME)) == 3

    def test_what_is_no_frame_is_refused(self):
        with pytest.raises(TypeError, match="frame must be a pandas DataFrame, got list"):
            optimizer().tell_frame([{"x": 1.0}])


class TestPoints:
    def test_a_series_an_array_of_one_and_numpy_numbers_are_told(self):
        opt = optimizer()
        row = FRAME.drop(columns="value").iloc[0]
        assert opt.tell(row, np.array([1.0])).params == {"x": 0.5, "n": 1, "c": "a"}
        asked = opt.ask()
        assert opt.tell(np.int64(asked.number), pd.Series([2.0])).value == 2.0

    def test_points_are_enqueued_from_a_frame_a_list_or_alone(self):
        opt = optimizer()
        points = FRAME.drop(columns="value")
        assert len(opt.enqueue(points)) == 3
        assert len(opt.enqueue(points.to_dict("records"))) == 3
        assert len(opt.enqueue(points.iloc[0])) == 1
        with pytest.raises(rb.SpaceError, match=r"got \['value'\] too"):
            opt.enqueue(FRAME)
        assert len(opt.enqueue(FRAME, ignore_extra=True)) == 3
        with pytest.raises(TypeError, match="points must be a mapping, a pandas Series or DataFrame"):
            opt.enqueue("x=1")
        with pytest.raises(TypeError, match="each point must be a mapping of parameters or a pandas Series, got 3"):
            opt.enqueue([3])

    def test_predictions_are_in_the_users_units(self):
        opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), seed=0, surrogate="standard", direction="maximize")
        x = np.linspace(0, 1, 12)
        opt.tell_frame(pd.DataFrame({"x": x, "value": 100 + np.sin(6 * x)}))
        one = opt.predict({"x": 0.3})
        assert one.mean == pytest.approx(100 + np.sin(1.8), abs=0.05)
        assert 0 < one.sd < 0.2
        many = opt.predict(pd.DataFrame({"x": [0.3, 0.9]}, index=["a", "b"]))
        assert many.loc["a", "mean"] == pytest.approx(one.mean, rel=1e-14)
        assert list(many.index) == ["a", "b"]
        assert len(opt.predict([])) == 0
        with pytest.raises(rb.SpaceError, match="row 1: x: must lie in"):
            opt.predict([{"x": 0.5}, {"x": 1.5}])

    def test_nothing_told_predicts_nothing(self):
        with pytest.raises(ValueError, match="at least one told value"):
            optimizer().predict({"x": 0.0, "n": 1, "c": "a"})


class TestFrame:
    def test_the_evidence_stands_beside_the_values(self):
        opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0)
        x = np.linspace(0, 1, 14)
        opt.tell_frame(pd.DataFrame({"x": x, "value": np.where(np.arange(14) == 6, 50.0, np.sin(6 * x))}))
        opt.ask()
        frame = opt.frame()
        assert frame.index[frame["flagged"].fillna(False)].tolist() == [6]
        assert frame["evidence"].idxmax() == 6
        assert frame.loc[6, "weight"] < 0.1
        assert frame.loc[14, ["expected", "evidence"]].isna().all()
        assert opt.best().params == opt.best().trial.params

    def test_parameters_with_the_names_of_columns_are_told_apart(self):
        opt = rb.Optimizer(
            rb.Space(trial=rb.Float(0, 1), evidence=rb.Float(0, 1), value=rb.Float(0, 1)), direction="minimize", seed=0
        )
        opt.tell(opt.ask(), 1.0)
        frame = opt.frame().reset_index()
        assert list(frame.columns)[:4] == ["trial", "params.trial", "params.evidence", "params.value"]
