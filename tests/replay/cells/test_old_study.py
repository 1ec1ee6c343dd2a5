"""A run whose methods are told of old studies first: recorded, resumed, verified and scored."""

import numpy as np
import pytest
from pydantic import ValidationError

from robustbo.replay.cells import own_loop
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.check.comparison import Match
from robustbo.replay.check.optimization import check
from robustbo.replay.score.optimization import rows
from robustbo.replay.spec.optimization import RunSpec
from robustbo.tasks.old_study import OldStudy
from robustbo.tasks.problem import load
from robustbo.trials.codec import open_journal

BRANIN = load("branin")
SPEC = {
    "problem": "branin",
    "trials": 4,
    "num_initial": 3,
    "recommend_every": 4,
    "replications": 1,
    "noise": {"share": 0.02},
    "old_studies": {"2024": {"relation": "offset", "values": 4}, "2025": {"values": 2, "wrong": 1.0}},
    "methods": {
        "told": {"surrogate": "relevance-pursuit", "acquisition": "sobol"},
        "hidden": {"surrogate": "standard", "acquisition": "sobol", "sources": "hidden"},
    },
}


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    spec, folder = RunSpec.model_validate(SPEC), tmp_path_factory.mktemp("run")
    result = {name: OptimizationCell.of(spec, name, 0, folder) for name in spec.methods}
    for cell in result.values():
        with pytest.raises(KeyboardInterrupt):
            own_loop.run(cell, _stop)
        own_loop.run(cell, lambda *_: None)
    return result


def _stop(number, _):
    if number == 2:
        raise KeyboardInterrupt


def test_old_values_come_first_and_are_no_trials_of_the_record(cells):
    trials = open_journal(cells["told"].journal)[1].trials[:]
    assert [trial.source for trial in trials] == ["2024"] * 4 + ["2025"] * 2 + ["target"] * 4
    off = [trial.value - BRANIN(trial.params) for trial in trials[:4]]
    spread = BRANIN.sample.std()
    assert off == pytest.approx([spread] * 4, abs=0.2 * spread)
    assert all(abs(trial.value - BRANIN(trial.params)) > 1.8 * spread for trial in trials[4:6])
    table = rows([cells["told"]])
    assert table["trial"].tolist() == [0, 1, 2, 3]
    assert table["recommended"].dropna().between(0, 3).tolist() == [True]


def test_those_from_whom_it_is_hidden_meet_the_same_noise(cells):
    assert not any(trial.sources for trial in open_journal(cells["hidden"].journal)[1])
    noise = [[entry["value"] - entry["clean"] for entry in cells[name].entries()] for name in cells]
    assert noise[0] == pytest.approx(noise[1])


@pytest.mark.parametrize("name", SPEC["methods"])
def test_the_record_is_verified(cells, name):
    assert check(cells[name]).verdict == Match.BITS


def test_a_spec_without_them_has_its_hash_of_before(cells):
    plain = RunSpec.model_validate({key: value for key, value in SPEC.items() if key != "old_studies"})
    assert "old_studies" not in plain.cell("told")
    again = OptimizationCell.from_record(cells["told"].folder, cells["told"].description, [])
    assert again.spec.old_studies == cells["told"].spec.old_studies


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": ["standard"]}, 'method .standard. must have sources = "hidden" beside old studies, .*standard'),
        ({"methods": ["optuna-gp"]}, "must have sources = .*'engine': 'optuna-gp'"),
        ({"problem": "branin-currin", "noise": None}, "old_studies need a problem of one outcome"),
        ({"old_studies": {"target": {}}}, "must have another name than what is optimized"),
        ({"old_studies": {"2025": {"problem": "hartmann3"}}}, "must have the parameters of the target's"),
        ({"old_studies": {"2025": {"relation": "wrong"}}}, "relation"),
    ],
)
def test_what_cannot_be_is_refused(changes, message):
    with pytest.raises(ValidationError, match=message):
        RunSpec.model_validate(SPEC | changes)


def readings(relation, size=1.0):
    study = OldStudy(BRANIN, BRANIN, relation, size, values=30)
    points, values = zip(*study.measurements(7, "old"), strict=True)
    return np.array([BRANIN(point) for point in points]), np.array(values)


def test_what_each_relation_reads():
    center, spread = BRANIN.sample.mean(), BRANIN.sample.std()
    f, y = readings("identical")
    assert (y == f).all()
    f, y = readings("scaled", -0.5)
    assert y == pytest.approx(center - 0.5 * (f - center))
    f, y = readings("biased", 0.5)
    assert 0.25 * spread < (y - f).std() < spread
    assert readings("biased", 0.5)[1] == pytest.approx(y, abs=0)
    f, y = readings("unrelated")
    assert abs(np.corrcoef(f, y)[0, 1]) < 0.6
