"""Listed points: what a data frame must be, what is a row of it, and rows that are added."""

import json

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import ExhaustedWarning, SpaceError, SpaceExhausted
from robustbo.trials.settings import Settings

FRAME = pd.DataFrame(
    {
        "acid": ["HCl", "HNO3", "HCl", "H2SO4"],
        "pH": [2.0, 3.0, 4.5, 1.0],
        "n": [1, 2, 3, 4],
        "dry": [True, False, True, False],
    },
    index=["A1", "A2", "B1", "B2"],
)  # fmt: skip


def test_a_column_is_what_its_values_say():
    pool = rb.Pool(FRAME)
    assert dict(pool.parameters) == {
        "acid": rb.Choice("HCl", "HNO3", "H2SO4"),
        "pH": rb.Float(1.0, 4.5),
        "n": rb.Int(1, 4),
        "dry": rb.Choice(True, False),
    }
    assert [pool.point(i) for i in range(4)] == FRAME.to_dict("records")
    assert pool.size == 4


def test_a_column_can_be_said_otherwise():
    pool = rb.Pool(FRAME, acid=rb.Ordinal("HNO3", "HCl", "H2SO4"), pH=rb.Float(0.1, 14, log=True))
    assert dict(pool.parameters)["pH"] == rb.Float(0.1, 14, log=True)
    assert pool.declared == ("acid", "pH")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda f: f.assign(pH=[2.0, np.nan, 4.5, np.nan]), "^pH: every cell .* is missing in rows A2, B2"),
        (lambda f: f.assign(acid=["a", None, "b", "c"]), "^acid: .* missing in row A2$"),
        (lambda f: f.assign(acid=["a", pd.NA, "b", "c"]), "^acid: .* missing in row A2$"),
        (lambda f: f.assign(acid=pd.array(["a", pd.NA, "b", "c"], dtype="string")), "^acid: .* missing in row A2$"),
        (lambda f: f.assign(n=pd.array([1, 2, None, 4], dtype="Int64")), "^n: .* missing in row B1$"),
        (lambda f: f.assign(pH=[1.0, np.inf, 2.0, 3.0]), "pH: .*finite.*inf"),
        (lambda f: f.assign(acid=pd.to_datetime(["2020-01-01"] * 4)), "^acid: cells are numbers, .* in row A1"),
        (lambda f: pd.concat([f, f.iloc[[1]].rename({"A2": "C7"})]), "row A2 and row C7 are both .*drop_duplicates"),
        (lambda f: f.iloc[:0], "a pool needs at least one row, got none"),
        (lambda f: f.rename(columns={"n": 3}), r"the columns of a pool must have different names \(str\)"),
        (lambda f: f.set_axis(["a", "a", "n", "d"], axis=1), "the columns of a pool must have different names"),
        (lambda f: f.assign(acid=[f"name {i}" for i in range(4)]).loc[["A1"]], "more than one value"),
    ],
)  # fmt: skip
def test_a_frame_that_breaks_a_rule_is_refused_and_the_rows_are_named(change, match):
    with pytest.raises(SpaceError, match=match):
        rb.Pool(change(FRAME))


def test_a_column_of_names_is_refused():
    frame = pd.DataFrame({"name": [f"molecule {i}" for i in range(101)], "x": range(101)})
    with pytest.raises(SpaceError, match="name: a column of words has at most 100 different ones, got 101"):
        rb.Pool(frame)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"pH": rb.Float(2, 14)}, r"row B2: pH: must lie in \[2, 14\], got 1\.0"),
        ({"acid": rb.Choice("HCl", "HNO3")}, r"row B2: acid: must be one of .*'H2SO4'"),
        ({"ph": rb.Float(0, 14)}, "ph: is no column of the pool"),
        ({"pH": rb.Float(0, 14, when={"dry": True})}, r"pH\.when: every row of a pool has all parameters"),
        ({"constraints": ["pH * n <= q"]}, "'q' is no parameter"),
        ({"constraints": ["acid <= 2"]}, "it is on numbers, 'acid' is"),
    ],
)
def test_what_is_said_beside_must_fit_the_rows(given, match):
    with pytest.raises(SpaceError, match=match):
        rb.Pool(FRAME, **given)


def test_only_a_frame_makes_a_pool():
    with pytest.raises(TypeError, match="a pool is made from a pandas DataFrame, got list"):
        rb.Pool([{"x": 1}])


def test_a_point_is_a_row():
    pool = rb.Pool(FRAME)
    point = {"dry": True, "acid": "HCl", "pH": np.float64(2), "n": np.int64(1)}
    assert repr(pool.validate(point)) == repr(FRAME.iloc[0].to_dict())
    for wrong in ({"pH": 3.0}, {"n": 2}, {"dry": 1}):
        with pytest.raises(SpaceError, match="is no row of the pool; add it by add_rows"):
            pool.validate(point | wrong)
    with pytest.raises(SpaceError, match="nn: no such parameter"):
        pool.validate(point | {"nn": 1})


def test_a_pool_returns_from_json():
    pool = rb.Pool(FRAME, pH=rb.Float(0.1, 14, log=True), constraints=["pH <= 4"])
    back = Settings.from_dict(json.loads(json.dumps(Settings(pool).to_dict()))).space
    assert back == pool
    assert hash(back) == hash(pool)
    assert back.digest == pool.digest
    assert rb.Pool(FRAME.iloc[::-1], pH=rb.Float(0.1, 14, log=True), constraints=["pH <= 4"]) != pool


def test_rows_that_are_added_widen_what_was_not_said():
    pool = rb.Pool(FRAME, pH=rb.Float(0, 14))
    more = pd.DataFrame({"acid": ["CO2"], "pH": [6.0], "n": [9], "dry": [False]})
    wider = pool.extended(pool.rows_of(more))
    assert wider.size == 5
    assert dict(wider.parameters)["n"] == rb.Int(1, 9)
    assert dict(wider.parameters)["acid"].values == ("HCl", "HNO3", "H2SO4", "CO2")
    assert dict(wider.parameters)["pH"] == rb.Float(0, 14)
    assert pool.extended([]) is pool
    assert pool.rows_of(more.iloc[:0]) == []


@pytest.mark.parametrize(
    ("more", "match"),
    [
        (FRAME.iloc[[2]], "row 2 of the pool and row B1 are both"),
        (FRAME.drop(columns="n"), r"rows must be a data frame with the columns \['acid', 'pH', 'n', 'dry'\], got"),
        (FRAME.assign(pH=[np.nan, 1, 1, 1]), "pH: .* missing in row A1"),
        (FRAME.assign(n=["four"] * 4), "n: must be a number, as .* is, got 'four'"),
        (FRAME.assign(pH=[20.0, 2.0, 3.0, -1.0]).iloc[[0, 0]], "row A1 and row A1 are both"),
        ([1], "rows must be a data frame with the columns .*, got <class 'list'>|rows must be a data frame"),
    ],
)
def test_rows_that_break_a_rule_are_not_added(more, match):
    opt = rb.Optimizer(rb.Pool(FRAME), direction="minimize", seed=0)
    with pytest.raises(SpaceError, match=match):
        opt.add_rows(more)
    assert opt.settings.space.size == 4
    assert opt.history.rows == ()


def test_each_row_is_asked_for_once_and_those_that_break_a_constraint_never():
    frame = pd.DataFrame({"x": np.arange(12) / 11, "k": list("abc") * 4})
    opt = rb.Optimizer(
        rb.Pool(frame, constraints=["x <= 0.8"]),
        direction="minimize",
        seed=0,
        num_initial=4,
        replicate="never",
        surrogate="standard",
    )
    asked = []
    for _ in range(3):
        for trial in opt.ask(3):
            asked.append(trial.point)
            opt.tell(trial, (trial.params["x"] - 0.5) ** 2)
    assert len(set(asked)) == 9
    with pytest.warns(ExhaustedWarning, match="each of the 9 points"):
        assert opt.ask().reason == "nothing new left"
    assert opt.add_rows(pd.DataFrame({"x": [0.55], "k": ["d"]})) == 13
    assert opt.ask().params == {"x": 0.55, "k": "d"}


def test_the_fixed_values_of_a_pool_choose_its_rows():
    frame = pd.DataFrame({"x": np.arange(12) / 11, "k": list("abc") * 4})
    opt = rb.Optimizer(rb.Pool(frame), direction="minimize", seed=0, num_initial=2)
    trials = opt.ask(4, fixed={"k": "b"})
    assert {trial.params["k"] for trial in trials} == {"b"}
    assert len({trial.point for trial in trials}) == 4
    with pytest.raises(SpaceExhausted, match="all 4 of the space are pending"):
        opt.ask(fixed={"k": "b"})
    with pytest.raises(SpaceError, match=r"no point has {'x': 0\.5}"):
        opt.ask(fixed={"x": 0.5})


def test_a_column_of_names_is_told_of():
    wells = pd.DataFrame({"well": [f"A{i}" for i in range(1, 13)], "dose": range(12)})
    with pytest.warns(rb.SpaceWarning, match="well: differs in every row of the pool.*make it the index"):
        rb.Pool(wells)


def test_whole_numbers_that_no_float_holds_are_refused_and_others_are_what_they_were():
    with pytest.raises(SpaceError, match=r"id: must have numbers that a float can hold, got 67641123456789013; leave"):
        rb.Pool(pd.DataFrame({"id": [67641123456789013, 67641123456789014], "x": [0.1, 0.2]}))
    pool = rb.Pool(pd.DataFrame({"id": [2**46, 2**46 + 2], "x": [0.1, 0.1]}))
    assert [row[0] for row in pool.rows] == [2**46, 2**46 + 2]
