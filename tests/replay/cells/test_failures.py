"""Cells whose trials may fail."""

import json
import math

import pytest

from robustbo.errors import ReplayMismatch
from robustbo.replay.cells.engine import run
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.kinds import KINDS, read_cells
from robustbo.replay.output.report import write
from robustbo.replay.score.optimization import rows, summary
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.verify import verify, verify_folder
from robustbo.trials.storage.reading import read

DISC = {"kind": "failure", "region": "disc", "center_1": 0.542773, "center_2": 0.151667, "radius": 0.4}
GIVEN = {
    "problem": "branin",
    "corruption": DISC,
    "methods": {"standard": {}, "oracle": {}, "ignoring": {"surrogate": "standard", "failures": "ignore"}},
    "trials": 9,
    "num_initial": 7,
    "seed": 3,
    "replications": 1,
}


def cell(folder, method="standard", **changes):
    return OptimizationCell.of(RunSpec.model_validate(GIVEN | changes), method, 0, folder)


def ran(made):
    run(made, lambda number, value: None)
    return made


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return ran(cell(tmp_path_factory.mktemp("whole")))


def states(made):
    return [event["event"] for event in read(made.journal).events if event["event"] in ("tell", "fail")]


def test_a_failed_trial_is_told_as_one_and_has_no_value(whole):
    entries, corruption = whole.entries(), whole.spec.build_corruption()
    asked = [event["params"] for event in read(whole.journal).events if event["event"] == "ask"]
    failed = [entry["value"] is None for entry in entries]
    assert failed == [corruption.fails_at(params) for params in asked]
    assert any(failed)
    assert not all(failed)
    assert states(whole) == ["fail" if gone else "tell" for gone in failed]
    assert not any(entry["corrupted"] for entry in entries)
    assert all(math.isfinite(entry["clean"]) for entry in entries)
    assert all(not failed[entry["recommended"]] for entry in entries if entry["recommended"] is not None)


def test_an_oracle_is_told_everything(whole, tmp_path):
    oracle = ran(cell(tmp_path, "oracle"))
    assert set(states(oracle)) == {"tell"}
    assert [e["value"] is None for e in oracle.entries()[:7]] == [e["value"] is None for e in whole.entries()[:7]]
    assert not rows([oracle])["failed"].any()
    assert verify(oracle).bits == 9


def test_nothing_is_recommended_while_everything_fails(tmp_path):
    made = ran(cell(tmp_path, "standard", corruption={"kind": "failure", "probability": 1.0}))
    assert [entry["recommended"] for entry in made.entries()] == [None] * 9
    assert made.flags() == []
    found = rows([made])
    assert found["inference"].isna().all()
    assert found["oracle"].isna().all()
    assert summary(found, ["standard"])["failed"][0] == 9
    assert verify(made).bits == 9


def test_whether_it_learns_is_the_methods_choice_and_only_where_trials_fail(tmp_path):
    assert cell(tmp_path).settings.failures == "learn"
    assert cell(tmp_path, "ignoring").settings.failures == "ignore"
    other = cell(tmp_path, corruption={"kind": "constant", "probability": 0.1})
    assert other.settings.failures == "ignore"
    assert "failures" not in other.description
    assert cell(tmp_path, "ignoring").description["failures"] == "ignore"
    assert cell(tmp_path).description["corruption"] == DISC  # no probability, as it is not said


def test_it_is_verified_and_what_is_not_as_recorded_is_found(whole):
    assert verify(whole).bits == 9


@pytest.mark.parametrize("fault", ["another fails", "it has a value"])
def test_a_difference_is_found(whole, monkeypatch, fault):
    measure = RunSpec.measure

    def other(self, *arguments, number, **given):
        value, is_corrupted = measure(self, *arguments, number=number, **given)
        if (value is None) == (fault == "it has a value"):
            value = 1.0 if value is None else None
        return value, is_corrupted

    monkeypatch.setattr(RunSpec, "measure", other)
    with pytest.raises(ReplayMismatch, match="measured value: recorded"):
        verify(whole)


@pytest.mark.few(1)
@pytest.mark.parametrize("kept", [0, 2, 5])
def test_it_goes_on_from_anywhere(whole, tmp_path, kept):
    other = cell(tmp_path)
    other.journal.parent.mkdir()
    for place in ("journal", "record"):
        lines = getattr(whole, place).read_bytes().splitlines(keepends=True)
        getattr(other, place).write_bytes(b"".join(lines[: 2 * kept + 1 if place == "journal" else kept + 1]))
    ran(other)
    assert other.entries() == whole.entries()
    assert states(other) == states(whole)


def test_tables_and_pictures_are_made_and_agree(whole):
    found = rows([whole])
    assert found["failed"].tolist() == [entry["value"] is None for entry in whole.entries()]
    assert found["value"].isna().tolist() == found["failed"].tolist()
    assert found.loc[found["failed"], "flagged"].eq(False).all()
    told = [(entry["clean"]) for entry in whole.entries() if entry["value"] is not None]
    assert found["oracle"].iloc[-1] == min(told)
    write(whole.folder, whole.spec)
    verify_folder(whole.folder, read_cells(whole.folder))
    kind = KINDS["optimization"]
    row = kind.summary(found, ["standard"], whole.spec).iloc[0].to_dict()
    assert kind.readable(row)["failed"] == found["failed"].sum()
    ((chart,),) = kind.charts(whole.spec, kind.tables(found, whole.spec))
    assert "optimum" not in [note.text for note in chart.notes]  # it may fail


def test_a_run_without_failures_has_no_such_column(tmp_path):
    made = ran(cell(tmp_path, corruption={"kind": "constant", "probability": 0.1}))
    assert "failed" not in rows([made])
    assert "failed" not in summary(rows([made]), ["standard"])


@pytest.mark.filterwarnings("ignore")  # what peers and their libraries say to their own developers
class TestPeers:
    @pytest.mark.few(1)
    @pytest.mark.parametrize("method", ["optuna-gp", "optuna-tpe", "ax-default", "ax-viability"])
    def test_each_runs_is_told_of_failures_and_recommends_what_did_not_fail(self, method, tmp_path):
        made = ran(cell(tmp_path, method, methods=[method], trials=14, num_initial=5))
        entries = made.entries()
        failed = [entry["value"] is None for entry in entries]
        assert sum(failed) >= 3  # from so many on Ax's transform does something
        assert states(made) == ["fail" if gone else "tell" for gone in failed]
        assert not failed[entries[-1]["recommended"]]
        origins = {event["origin"] for event in read(made.journal).events if event["event"] == "ask"}
        assert origins == {method.split("-")[0]}  # and none is drawn because a generation failed
        assert verify(made).bits == 0

    @pytest.mark.parametrize("method", ["optuna-gp", "ax-default", "ax-viability"])
    def test_where_everything_fails_nothing_is_recommended(self, method, tmp_path):
        corruption = {"kind": "failure", "probability": 1.0}
        made = ran(cell(tmp_path, method, methods=[method], trials=6, num_initial=5, corruption=corruption))
        assert {entry["recommended"] for entry in made.entries()} == {None}

    def test_optuna_asks_the_same_twice(self, tmp_path):
        first, second = (ran(cell(tmp_path / name, "optuna-gp", methods=["optuna-gp"])) for name in "ab")
        assert json.dumps(first.entries()) == json.dumps(second.entries())

    def test_ax_is_replaced_where_its_generation_fails(self, tmp_path, monkeypatch):
        def broken(*_, **__):
            raise RuntimeError("no model")

        monkeypatch.setattr("ax.api.client.Client.get_next_trials", broken)
        made = ran(cell(tmp_path, "ax-default", methods=["ax-default"], trials=3))
        assert [e["origin"] for e in read(made.journal).events if e["event"] == "ask"] == ["random"] * 3
        assert len({entry["clean"] for entry in made.entries()}) == 3
