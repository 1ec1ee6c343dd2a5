"""Several values of a point, and results that are given once more."""

import io
import math

import pandas as pd
import pytest
from gest_api.vocs import VOCS

from robustbo.gest import RobustGenerator

X = VOCS(variables={"x": [0, 1]}, objectives={"f": "MINIMIZE"})


@pytest.fixture
def generator():
    return RobustGenerator(X, seed=0)


def ended(generator):
    return [(t.number, t.state, t.value, t.repeats, t.origin) for t in generator.optimizer.history]


def test_several_values_of_a_point_are_measurements_of_their_own(generator):
    (point,) = generator.suggest(1)
    generator.ingest([point | {"f": 1.0}, point | {"f": 1.5}, point | {"f": 1.0}])
    first, *further = ended(generator)
    assert first == (0, "told", 1.0, None, "sobol")
    assert further == [(1, "told", 1.5, 0, "late"), (2, "told", 1.0, 0, "late")]
    assert {t.params["x"] for t in generator.optimizer.history} == {point["x"]}


def test_a_late_value_of_a_point_that_failed_and_a_late_failure(generator):
    lost, good = generator.suggest(2)
    generator.ingest([lost, good | {"f": 1.0}])
    generator.ingest([lost | {"f": 2.0}])
    generator.ingest([good])
    assert [entry[1:] for entry in ended(generator)] == [
        ("failed", None, None, "sobol"),
        ("told", 1.0, None, "sobol"),
        ("told", 2.0, 0, "late"),
        ("failed", None, 1, "late"),
    ]
    assert generator.failures()["again"].tolist() == ["told", "told"]


def test_what_is_there_already_is_not_recorded_again(generator):
    points = generator.suggest(3)
    results = [points[0] | {"f": 1.0}, points[0] | {"f": 1.0}, points[1], points[2] | {"f": 0.123456789012345}]
    results += [{"x": 0.25, "f": 4.0}, {"x": 0.25, "f": 4.0}, {"x": 0.75}]
    generator.ingest(results)
    before = generator.optimizer.history
    assert len(before) == 7
    generator.ingest(results)
    generator.ingest([row | {"f": round(row["f"], 10)} for row in results if "f" in row])  # as JSON has it
    generator.ingest([{"x": 0.25, "f": 4.0}])
    assert generator.optimizer.history == before
    generator.ingest([*results, {"x": 0.25, "f": 4.0}, points[0] | {"f": 1.1}, {"x": 0.25 + 1e-6, "f": 4.0}])
    assert len(generator.optimizer.history) == 10


@pytest.mark.parametrize("values", [[1e-13, 5e-13, 9e-13], [1e9, 1e9 + 0.3, 1e9 + 0.6]])
def test_values_of_a_point_that_differ_by_little_are_all_kept(generator, values):
    (point,) = generator.suggest(1)
    for value in values:
        generator.ingest([point | {"f": value}])
    assert [trial.value for trial in generator.optimizer.history] == values


@pytest.mark.parametrize("unit", [1e-17, 1e-3, 1.0, 1e17])
def test_values_that_went_through_json_are_not_recorded_again(generator, unit):
    rows = [point | {"f": math.pi * unit * (1 + i)} for i, point in enumerate(generator.suggest(4))]
    generator.ingest(rows)
    text = pd.DataFrame(rows).to_json(orient="records")
    generator.ingest(pd.read_json(io.StringIO(text)).to_dict("records"))
    assert len(generator.optimizer.history) == 4


def test_a_value_that_equals_an_earlier_one_ends_the_trial_that_repeats_it(generator):
    generator.ingest([p | {"f": (p["x"] - 0.3) ** 2} for p in generator.suggest(7)])
    (point,) = generator.suggest(1)
    generator.ingest([point | {"f": -50.0}])
    (again,) = generator.suggest(1)
    assert again["x"] == point["x"]
    generator.ingest([again | {"f": -50.0}])
    assert generator.optimizer.pending() == []
    assert set(generator.outliers().loc[[point["_id"], again["_id"]], "remeasured"]) == {"confirmed"}


def test_nothing_is_recorded_of_nothing(generator):
    generator.ingest([])
    assert len(generator.optimizer.history) == 0
    assert generator.outliers().columns.tolist()[:2] == ["x", "value"]
    assert generator.outliers().index.name == generator.failures().index.name == "_id"


def test_a_point_that_was_taken_back_may_still_be_told_and_told_twice(generator):
    (point,) = generator.suggest(1)
    generator.optimizer.requeue(generator.optimizer.pending())
    generator.ingest([point | {"f": 1.0}])
    assert ended(generator) == [(0, "told", 1.0, None, "sobol")]
    generator.ingest([point | {"f": 2.0}])
    assert ended(generator)[1:] == [(1, "told", 2.0, 0, "late")]


def test_a_variable_may_have_the_name_of_a_column():
    generator = RobustGenerator(
        VOCS(variables={"value": [0, 1], "again": [0, 1]}, objectives={"f": "MINIMIZE"}), seed=0
    )
    first, second, third = generator.suggest(3)
    generator.ingest([first | {"f": 1.0}, second | {"f": 2.0}, third])
    report = generator.outliers()
    assert report.loc[first["_id"], ["params.value", "again", "value"]].tolist() == [
        first["value"],
        first["again"],
        1.0,
    ]
    assert generator.failures().columns.tolist()[:3] == ["value", "params.again", "reason"]


def test_results_of_before_an_amendment_are_not_recorded_again(generator):
    points = generator.suggest(3)
    results = [point | {"f": float(i)} for i, point in enumerate(points)]
    generator.ingest(results)
    generator.optimizer.amend(2, 0.123)
    generator.optimizer.amend(2, 0.456)
    generator.ingest(results)
    assert [(state, value) for _, state, value, *_ in ended(generator)] == [
        ("told", 0.0),
        ("told", 1.0),
        ("told", 0.456),
    ]
