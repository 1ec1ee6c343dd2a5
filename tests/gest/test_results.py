"""Whose a result is, and what became of the evaluation: all of a list is recorded, or nothing."""

import math

import numpy as np
import pandas as pd
import pytest
from gest_api.vocs import VOCS

from robustbo.errors import SpaceWarning
from robustbo.gest import RobustGenerator

VARIABLES = {"x": [0, 1], "n": {1, 2, 4}, "mode": {"a", "b"}}


@pytest.fixture
def generator():
    return RobustGenerator(VOCS(variables=VARIABLES, objectives={"f": "MINIMIZE"}), seed=0)


@pytest.fixture
def constrained():
    rules = {"c": ["LESS_THAN", 0.5], "d": ["BOUNDS", -1.0, 1.0]}
    return RobustGenerator(
        VOCS(variables={"x": [0, 1]}, objectives={"f": "MINIMIZE"}, constraints=rules, observables=["o"]), seed=0
    )


def trial(generator, number=-1):
    return generator.optimizer.history.trials[number]


def test_a_value_ends_the_suggested_trial(generator):
    points = generator.suggest(2)
    generator.ingest([points[1] | {"f": 2.5}])
    assert [t.state for t in generator.optimizer.history] == ["pending", "told"]
    assert trial(generator, 1).value == 2.5


@pytest.mark.parametrize("identifier", [np.int64(0), 0.0, np.float64(0), np.array(0)])
@pytest.mark.parametrize("value", [np.float32(2.5), np.array(2.5), np.int8(2), 2, True + 1])
def test_numbers_may_be_of_any_type(generator, identifier, value):
    (point,) = generator.suggest(1)
    row = {"x": np.float64(point["x"]), "n": float(point["n"]), "mode": np.str_(point["mode"])}
    generator.ingest([row | {"_id": identifier, "f": value}])
    assert trial(generator).value == float(value)
    assert type(trial(generator).value) is float


def test_of_a_suggested_point_the_identifier_is_enough(generator):
    (point,) = generator.suggest(1)
    generator.ingest([{"_id": point["_id"], "f": 1.0}])
    assert trial(generator).state == "told"


def test_a_point_may_lose_digits_on_the_way(generator):
    (point,) = generator.suggest(1)
    generator.ingest([point | {"x": np.float32(point["x"]), "f": 1.0}])
    assert trial(generator).params["x"] == point["x"]


@pytest.mark.parametrize("digits", [13, 10])
def test_a_variable_of_tiny_range_is_where_it_was_measured(digits):
    generator = RobustGenerator(VOCS(variables={"x": [0, 1e-9]}, objectives={"f": "MINIMIZE"}), seed=0)
    first, second = generator.suggest(2)
    generator.ingest([first | {"x": round(first["x"], digits), "f": 1.0}, second | {"x": 0.95e-9, "f": 2.0}])
    kept = [trial(generator, number).params["x"] for number in (0, 1)]
    assert kept == [first["x"] if digits == 10 else round(first["x"], 13), 0.95e-9]


@pytest.mark.parametrize("missing", [{}, {"_id": None}, {"_id": math.nan}, {"_id": pd.NA}])
def test_a_point_of_another_is_a_measurement_of_its_own(generator, missing):
    generator.suggest(1)
    generator.ingest([{"x": 0.25, "n": 4, "mode": "b", "f": 1.0, "extra": "ignored"} | missing])
    found = trial(generator)
    assert (found.number, found.params, found.origin) == (1, {"x": 0.25, "n": 4, "mode": "b"}, "user")


def test_a_point_without_identifier_that_is_being_evaluated_is_that_one(generator):
    (point,) = generator.suggest(1)
    del point["_id"]
    generator.ingest([point | {"f": 1.0}])
    assert [t.state for t in generator.optimizer.history] == ["told"]


GOOD = {"_id": 0, "f": 1.0}
THERE = {"x": 0.5, "n": 1, "mode": "a", "f": 1.0}
BAD = [
    ({"_id": 7, "f": 1.0}, "result 1: _id must be that of a point that this generator suggested, got 7"),
    ({"_id": -1, "f": 1.0}, "_id must be that of a point that this generator suggested, got -1"),
    ({"_id": 2, "f": 1.0}, "_id must be that of a point that this generator suggested, got 2"),
    ({"_id": 0.5, "f": 1.0}, "_id must be a whole number, or missing, got 0.5"),
    ({"_id": math.inf, "f": 1.0}, "_id must be a whole number, or missing, got inf"),
    ({"_id": "1", "f": 1.0}, "_id must be a whole number, or missing, got '1'"),
    ({"_id": 1, "mode": "c", "f": 1.0}, "mode must be .*, as suggested with _id 1, got 'c'"),
    ({"_id": 1, "x": "wide", "f": 1.0}, "x must be a real number, got 'wide'"),
    ({"_id": 1, "f": "high"}, "f must be a real number, got 'high'"),
    ({"_id": 1, "f": [1.0, 2.0]}, "f must be a real number"),
    (THERE | {"x": 1e6}, r"x: must lie in \[0.0, 1.0\], got 1000000.0"),
    (THERE | {"mode": "z"}, r"mode: must be one of .*, got 'z'"),
    (THERE | {"x": math.nan}, "x: must be a finite number, got nan"),
    ({"x": 0.5, "f": 1.0}, r"a result without _id must have every variable, \['n', 'mode'\] is missing"),
]


@pytest.mark.parametrize(("bad", "why"), BAD)
def test_one_bad_result_and_nothing_is_recorded(generator, bad, why):
    generator.suggest(2)
    generator.ingest([THERE])  # number 2, which was not suggested
    before = generator.optimizer.history
    with pytest.raises(ValueError, match=f"(?s)1 of 3 results break a rule, and robustbo recorded none:.*{why}"):
        generator.ingest([GOOD, bad, THERE | {"x": 0.75}])
    assert generator.optimizer.history == before


def test_a_readback_is_where_its_point_was_measured(generator):
    first, second = generator.suggest(2)
    with pytest.warns(SpaceWarning, match="outside the space"):
        generator.ingest([first | {"x": 1.003, "f": 1.0}, second | {"x": second["x"] + 1e-9, "f": 2.0}])
    told, near = generator.optimizer.history
    assert told.params["x"] == 1.003
    assert told.target["x"] == first["x"]
    assert near.target is None
    generator.ingest([first | {"x": 1.003, "f": 1.0}])  # the same again
    assert len(generator.optimizer.history) == 2


def test_each_bad_result_is_told_of_up_to_twenty(generator):
    with pytest.raises(ValueError, match=r"(?s)25 of 25 results.*result 0: .*result 19: .*and 5 more"):
        generator.ingest([GOOD] * 25)


@pytest.mark.parametrize("given", [THERE, "f", 5, pd.DataFrame([THERE]), [GOOD, 5]])
def test_results_are_a_list_of_dicts(generator, given):
    generator.suggest(1)
    with pytest.raises(TypeError, match="results must be a list of dicts"):
        generator.ingest(given)
    assert trial(generator).state == "pending"


FAILED = [
    ({}, "no value of f"),
    ({"f": None}, "no value of f"),
    ({"f": pd.NA}, "no value of f"),
    ({"f": math.nan}, "f is nan"),
    ({"f": np.float32("nan")}, "f is nan"),
    ({"f": -math.inf}, "f is -inf"),
    ({"xopt_error": True, "xopt_error_str": "Traceback\nValueError: no beam\n"}, "Traceback\nValueError: no beam"),
    ({"f": 1.0, "xopt_error": np.True_, "xopt_error_str": math.nan}, "xopt_error"),
    ({"f": math.nan, "xopt_error": math.nan}, "f is nan"),
    ({"xopt_error": True, "xopt_error_str": "x" * 5000}, "x" * 2000),
]


@pytest.mark.parametrize(("result", "reason"), FAILED)
def test_an_evaluation_without_a_value_has_failed(generator, result, reason):
    (point,) = generator.suggest(1)
    generator.ingest([point | result])
    assert (trial(generator).state, trial(generator).reason, trial(generator).retry) == ("failed", reason, None)
    report = generator.failures()
    assert report.index.tolist() == [point["_id"]]
    assert report.loc[point["_id"], "reason"] == reason
    assert report.loc[point["_id"], "x"] == point["x"]


@pytest.mark.parametrize("error", [{"xopt_error": False}, {"xopt_error": math.nan}, {"xopt_error_str": "odd"}])
def test_no_error_is_none(generator, error):
    (point,) = generator.suggest(1)
    generator.ingest([point | error | {"f": 1.0}])
    assert trial(generator).state == "told"


OUTCOMES = [
    ({"c": 0.2, "d": 1.0}, "told", None, None),
    ({"c": 0.5, "d": 0.0}, "failed", "breaks c < 0.5: c is 0.5, f is 3.0", False),
    ({"c": 0.2, "d": np.float64(-2)}, "failed", "breaks -1.0 <= d <= 1.0: d is -2.0, f is 3.0", False),
    ({"c": math.nan, "d": 0.0}, "failed", "no value of c; f is 3.0", None),
]


@pytest.mark.parametrize(("values", "state", "reason", "retry"), OUTCOMES)
def test_what_breaks_a_constraint_gives_no_value(constrained, values, state, reason, retry):
    (point,) = constrained.suggest(1)
    constrained.ingest([point | values | {"f": 3.0}])
    found = trial(constrained)
    assert (found.state, found.reason, found.retry) == (state, reason, retry)


def test_a_constraint_must_be_there_where_the_objective_is(constrained):
    (point,) = constrained.suggest(1)
    with pytest.raises(ValueError, match="d: a result must have the value of every constraint"):
        constrained.ingest([point | {"f": 3.0, "c": 0.0}])
    constrained.ingest([point | {"xopt_error": True}])
    assert trial(constrained).state == "failed"
