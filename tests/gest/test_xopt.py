"""Inside Xopt, to the end: failures, wrong values, batches, an asynchronous loop, several shots, and a restart."""

import random
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
import yaml
from gest_api.vocs import VOCS
from xopt import AsynchronousXopt, Evaluator, Xopt
from xopt.errors import XoptError
from xopt.stopping_conditions import MaxEvaluationsCondition

from robustbo.gest import RobustGenerator

# what Xopt's own asynchronous loop does with pandas
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.drop:DeprecationWarning")

PLANE = VOCS(variables={"x": [0, 1], "y": [0, 1]}, objectives={"f": "MINIMIZE"}, constants={"charge": 2.0})
LINE = VOCS(variables={"x": [0, 1], "n": {1, 2, 5}}, objectives={"f": "MAXIMIZE"})


class Machine:
    """Noise of 0.01, a beam that is lost in a corner, and now and then a value that is wrong."""

    def __init__(self, *wrong):
        self.random, self.count, self.wrong = random.Random(5), 0, wrong

    def __call__(self, point):
        assert point["charge"] == 2.0
        self.count += 1
        if point["x"] > 0.6 and point["y"] > 0.4:
            raise RuntimeError("beam lost")
        value = (point["x"] - 0.3) ** 2 + (point["y"] - 0.6) ** 2 + self.random.gauss(0, 0.01)
        return {"f": value - 20 * self.random.uniform(1, 2) if self.count in self.wrong else value}


def value(point):
    return {"f": -((point["x"] - 0.3) ** 2) - 0.1 * (point["n"] - 2) ** 2}


def steps(X, count):
    for _ in range(count):
        X.step()
    return X


def points(data):
    return data[["x", "n", "_id"]].to_numpy().tolist()


@pytest.mark.slow
def test_to_the_end_with_failures_and_wrong_values():
    evaluator = Evaluator(function=Machine(4, 13, 17))
    generator = RobustGenerator(PLANE, seed=3)
    X = Xopt(
        generator=generator,
        evaluator=evaluator,
        strict=False,
        stopping_condition=MaxEvaluationsCondition(max_evaluations=24),
    )
    X.run()
    assert X.data["_id"].tolist() == list(range(24))
    lost = X.generator.failures()
    assert lost.index.tolist() == X.data.index[X.data["xopt_error"]].tolist() != []
    assert lost["reason"].str.endswith("RuntimeError: beam lost").all()
    report = X.generator.outliers()
    assert sorted(report.index[report["flagged"]]) == [3, 12, 16]
    best = X.generator.best()
    assert abs(best.params["x"] - 0.3) < 0.1
    assert abs(best.params["y"] - 0.6) < 0.15
    assert abs(best.mean) < 0.02
    assert len(generator.optimizer.history) == 0  # Xopt works on a copy of its own


def test_an_error_that_ends_xopt_leaves_the_point_open():
    X = Xopt(generator=RobustGenerator(PLANE, seed=1, num_initial=50), evaluator=Evaluator(function=Machine()))
    with pytest.raises(XoptError, match="beam lost"):
        steps(X, 50)
    optimizer = X.generator.optimizer
    (lost,) = optimizer.pending()
    assert lost.number == X.n_data
    optimizer.requeue(lost)
    assert X.generator.suggest(1)[0]["_id"] == lost.number


def test_a_batch_for_an_executor():
    with ThreadPoolExecutor(3) as executor:
        X = Xopt(
            generator=RobustGenerator(LINE, seed=1, surrogate="standard"),
            evaluator=Evaluator(function=value, executor=executor, max_workers=3),
        )
        steps(X, 4)
    assert X.data["_id"].tolist() == list(range(12))
    assert len(X.data[["x", "n"]].drop_duplicates()) == 12
    assert X.generator.best().params["n"] == 2


def test_an_asynchronous_loop_with_failures():
    def fragile(point):
        return value(point) if point["n"] < 5 else 1 / 0

    with ThreadPoolExecutor(3) as executor:
        X = AsynchronousXopt(
            generator=RobustGenerator(LINE, seed=1, surrogate="standard"),
            evaluator=Evaluator(function=fragile, executor=executor, max_workers=3),
            strict=False,
        )
        while X.n_data < 12:
            X.step()
    generator, is_lost = X.generator, X.data["xopt_error"].astype(bool)
    assert sorted(generator.outliers().index) == sorted(X.data["_id"][~is_lost])
    assert sorted(generator.failures().index) == sorted(X.data["_id"][is_lost]) != []
    assert len(generator.optimizer.history) == X.n_data + len(generator.optimizer.pending())


def test_several_shots_of_a_point():
    shots = Evaluator(function=lambda point: {"f": [value(point)["f"] + error for error in (0.0, 0.01, -0.01)]})
    X = Xopt(generator=RobustGenerator(LINE, seed=1), evaluator=shots)
    steps(X, 3)
    history = X.generator.optimizer.history
    assert [t.value for t in history] == X.data["f"].tolist()
    assert [t.repeats for t in history] == [None, 0, 0, None, 3, 3, None, 6, 6]


def test_data_of_others_and_what_xopt_samples_itself():
    before = pd.DataFrame([{"x": 0.1 * i, "n": 2} for i in range(4)])
    before["f"] = [value(row)["f"] for row in before.to_dict("records")]
    X = Xopt(generator=RobustGenerator(LINE, seed=1), evaluator=Evaluator(function=value), data=before)
    X.random_evaluate(2, seed=0)
    X.step()
    X.random_evaluate(1, seed=1)
    X.step()
    history = X.generator.optimizer.history
    assert [t.value for t in history] == X.data["f"].tolist()
    assert [t.origin for t in history] == ["user"] * 6 + ["model", "user", "model"]


@pytest.mark.slow
def test_a_restart_from_a_dump_and_a_journal_changes_nothing(tmp_path):
    def xopt(folder, **rest):
        generator = RobustGenerator(LINE, seed=1, journal=folder / "points.jsonl", if_exists="resume")
        return Xopt(generator=generator, evaluator=Evaluator(function=value), **rest)

    (tmp_path / "unbroken").mkdir()
    unbroken = steps(xopt(tmp_path / "unbroken"), 14)
    first = steps(xopt(tmp_path), 10)
    first.random_evaluate(2, seed=0)
    first.dump(tmp_path / "xopt.yaml")
    dumped = yaml.safe_load((tmp_path / "xopt.yaml").read_text())
    assert dumped["generator"] == {"name": "robustbo.gest.generator.RobustGenerator"}

    again = xopt(tmp_path, data=pd.DataFrame(dumped["data"]).rename(index=int).sort_index())
    assert again.generator.optimizer.history == first.generator.optimizer.history
    assert steps(again, 2).data["_id"].tolist()[-1] == 13
    assert points(first.data[:10]) == points(unbroken.data[:10])
    assert "RobustGenerator" in repr(again)


@pytest.mark.slow
def test_a_restart_from_the_journal_alone_goes_on_with_the_same_points(tmp_path):
    unbroken = Xopt(generator=RobustGenerator(LINE, seed=1), evaluator=Evaluator(function=value))
    found = []
    for _ in range(3):
        generator = RobustGenerator(LINE, seed=1, journal=tmp_path / "points.jsonl", if_exists="resume")
        found += points(steps(Xopt(generator=generator, evaluator=Evaluator(function=value)), 4).data)
    assert found == points(steps(unbroken, 12).data)
