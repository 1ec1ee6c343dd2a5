"""A run with workers in error: who measures is told, or hidden, and the record is verified."""

from pathlib import Path

import pytest

from robustbo.errors import SpecError
from robustbo.foreign.tables import check_columns
from robustbo.replay.cells import own_loop
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.check.comparison import Match
from robustbo.replay.check.optimization import check
from robustbo.replay.score.optimization import columns, rows, summary
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.spec.reading import load
from robustbo.trials.codec import open_journal

pytestmark = pytest.mark.filterwarnings("ignore:standard takes no sources")

RUNS = Path(__file__).parents[3] / "runs"

SPEC = {
    "problem": "hartmann3",
    "trials": 9,
    "num_initial": 5,
    "replications": 1,
    "noise": {"share": 0.02},
    "corruption": {"kind": "source-step", "begin": 3, "error": -1.0},
    "methods": {
        "told": {"surrogate": "standard"},
        "hidden": {"surrogate": "standard", "sources": "hidden"},
        "corrected": {"surrogate": "standard", "sources": "hidden", "sees": "corrected"},
    },
}


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    spec, folder = RunSpec.model_validate(SPEC), tmp_path_factory.mktemp("run")
    result = {name: OptimizationCell.of(spec, name, 0, folder) for name in spec.methods}
    for cell in result.values():
        own_loop.run(cell, lambda *_: None)
    return result


def history(cell):
    return open_journal(cell.journal)[1]


def test_who_measures_is_told_unless_hidden(cells):
    workers = [trial.sources["worker"] for trial in history(cells["told"])]
    assert sorted(workers[:4]) == sorted(workers[4:8]) == ["w0", "w1", "w2", "w3"]
    assert not any(trial.sources for trial in history(cells["hidden"]))


def test_one_worker_is_in_error_and_an_oracle_is_told_without(cells):
    workers = [trial.sources["worker"] for trial in history(cells["told"])]
    entries = cells["corrected"].entries()
    wrong = [entry["trial"] for entry in entries if entry["corrupted"]]
    assert wrong == [number for number, worker in enumerate(workers) if worker == "w0" and number >= 3]
    spread = cells["told"].spec.load_problem().sample.std()
    off = [entry["value"] - trial.value for entry, trial in zip(entries, history(cells["corrected"]), strict=True)]
    assert off == pytest.approx([-spread if number in wrong else 0.0 for number in range(9)], abs=1e-9)
    assert any(entry["clean"] != entry["value"] for entry in entries if entry["trial"] not in wrong)


def test_sources_in_doubt_are_recorded_and_scored_where_they_are_told(cells):
    assert cells["told"].sources_in_doubt() == []  # this surrogate takes none
    assert cells["hidden"].sources_in_doubt() is None
    table = rows([*cells.values()])
    check_columns(table, columns(table), "results.csv")
    assert {*table["source"]} == {"w0", "w1", "w2", "w3"}
    assert table.loc[table["method"] == "hidden", "doubted"].isna().all()
    result = summary(table, [*cells]).set_index("method")
    assert (result["named"]["told"], result["others_named"]["told"]) == (0.0, 0.0)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", SPEC["methods"])
def test_the_record_is_verified(cells, name):
    assert check(cells[name]).verdict == Match.BITS


def test_a_method_that_says_nothing_of_sources_has_its_hash_of_before():
    spec = RunSpec.model_validate(SPEC)
    assert "sources" not in spec.cell("told")
    assert spec.cell("hidden")["sources"] == "hidden"


def test_several_outcomes_have_no_workers():
    with pytest.raises((ValueError, SpecError), match="source-step"):
        RunSpec.model_validate(SPEC | {"problem": "branin-currin", "noise": None})


@pytest.mark.few(1)
@pytest.mark.parametrize("path", sorted(RUNS.glob("sources-*.toml")), ids=lambda path: path.stem)
def test_recorded_specs_are_read_and_run(path, tmp_path):
    spec = load(path, ["trials=5", "replications=1"])
    assert {"hidden", "corrected"} < set(spec.methods)
    for name in spec.methods:
        cell = OptimizationCell.of(spec, name, 0, tmp_path)
        own_loop.run(cell, lambda *_: None)
        assert len(cell.entries()) == 5
        assert (cell.sources_in_doubt() is None) == (name in ("hidden", "corrected"))
