import pandas as pd
import pytest

from robustbo.replay.cells import own_loop as cells
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.spec.optimization import RunSpec


def found(pairs):
    return pd.DataFrame([("a", "x-0", i, p, 0.5, value) for i, (p, value) in enumerate(pairs)], columns=COLUMNS)


COLUMNS = ["run", "cell", "trial", "said", "share", "value"]


def test_who_says_what_is_the_case_loses_less(load):
    module = load("quality.failures_calibration")
    told = found([(0.9, True), (0.9, True), (0.1, False)])
    losses = module.losses(told)
    assert losses["run"].tolist() == ["a", "all"]
    assert losses["said"].iloc[0] == pytest.approx(0.105, abs=1e-3)
    assert losses["share"].iloc[0] == pytest.approx(0.693, abs=1e-3)
    assert (module.losses(found([(0.1, True), (0.9, False)]))["said"] > losses["share"]).all()


def test_each_range_has_its_share(load):
    calibration = load("quality.failures_calibration")
    table = calibration.reliability(found([(0.03, False), (0.95, True), (1.0, True), (0.95, False)]))
    assert table["asks"].tolist() == [1, 0, 0, 0, 0, 0, 0, 3]
    assert table["values"].iloc[-1] == pytest.approx(0.667, abs=1e-3)


def test_asks_after_the_first_failure_are_looked_at(load, tmp_path):
    spec = RunSpec(
        problem="branin",
        corruption={"kind": "failure", "region": "disc", "radius": 0.5},
        methods={"relevance-pursuit": {"surrogate": "standard"}},
        trials=9,
        num_initial=5,
        replications=1,
    )
    cell = OptimizationCell.of(spec, "relevance-pursuit", 0, tmp_path)
    cells.run(cell, lambda *_: None)
    rows = load("quality.failures_calibration").value_probabilities(cell.journal, "disc")
    states = [entry["value"] is not None for entry in cell.entries()]
    first = states.index(False)
    assert rows["trial"].tolist() == list(range(first + 1, 9))
    assert rows["value"].tolist() == states[first + 1 :]
    assert rows["said"].between(0, 1).all()
