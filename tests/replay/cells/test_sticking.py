"""Cells whose sensor sticks: what a trial measures depends on the trial before it."""

import pytest

from robustbo.errors import ReplayMismatch
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.own_loop import run
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.verify import verify
from robustbo.trials.storage.journal import Journal
from robustbo.trials.storage.reading import read

GIVEN = {
    "problem": "branin",
    "corruption": {"kind": "sticks", "probability": 0.4},
    "methods": ["standard", "sobol"],
    "trials": 10,
    "seed": 3,
    "replications": 1,
}


def cell(folder, method="standard", **changes):
    return OptimizationCell.of(RunSpec.model_validate(GIVEN | changes), method, 0, folder)


def quietly(*_):
    pass


def stuck(made):
    return [entry["trial"] for entry in made.entries() if entry["corrupted"]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    made = cell(tmp_path_factory.mktemp("whole"))
    run(made, quietly)
    return made


def test_a_stuck_trial_measures_what_the_one_before_did(whole):
    entries = whole.entries()
    assert 0 < len(stuck(whole)) < len(entries)
    for entry in entries:
        expected = entries[entry["trial"] - 1]["value"] if entry["corrupted"] else entry["clean"]
        assert entry["value"] == expected
    assert verify(whole).bits == 10


def test_every_method_is_stuck_at_the_same_trials(whole):
    other = cell(whole.folder, "sobol")
    run(other, quietly)
    assert stuck(other) == stuck(whole)
    assert [entry["clean"] for entry in other.entries()] != [entry["clean"] for entry in whole.entries()]


def test_it_goes_on_where_it_was_stopped(whole, tmp_path):
    first = stuck(whole)[-1]
    for trials in (first, 10):
        again = cell(tmp_path, trials=trials)
        run(again, quietly)
    assert again.entries() == whole.entries()


def test_another_value_than_the_one_before_is_found(whole, tmp_path):
    again = cell(tmp_path)
    run(again, quietly)
    contents, first = read(again.record), stuck(whole)[0]
    again.record.unlink()
    journal = Journal.create(again.record, contents.header)
    for event in contents.events:
        is_changed = event.get("trial") == first
        journal.append({**event, "value": event["value"] + 1.0} if is_changed else event)
    with pytest.raises(ReplayMismatch, match=f"trial {first}: measured value"):
        verify(again)
