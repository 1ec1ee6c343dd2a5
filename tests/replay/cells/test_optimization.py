import json
import math
from functools import partial

import pandas as pd
import pytest

from robustbo.errors import JournalError, ReplayMismatch, SpecError
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.own_loop import run
from robustbo.replay.kinds import read_cells
from robustbo.replay.score.optimization import rows, summary
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.verify import verify
from robustbo.tasks.corruption import Constant
from robustbo.trials.storage.journal import Journal
from robustbo.trials.storage.reading import read

GIVEN = {
    "problem": "hartmann6",
    "corruption": {"kind": "constant", "probability": 0.3, "value": 100.0},
    "methods": ["sobol", "standard", "informed", "oracle"],
    "trials": 9,
    "num_initial": 7,
    "seed": 3,
    "replications": 1,
}


def cell(folder, method="standard", **changes):
    return OptimizationCell.of(RunSpec.model_validate(GIVEN | changes), method, 0, folder)


def copied(made, folder, method):
    """The same record elsewhere."""
    other = cell(folder, method)
    other.journal.parent.mkdir()
    for place in ("journal", "record"):
        getattr(other, place).write_bytes(getattr(made, place).read_bytes())
    return other


def rewrite(path, events):
    """A journal of the same header with other events."""
    header = read(path).header
    path.unlink()
    journal = Journal.create(path, header)
    for event in events:
        journal.append(event)


def quietly(*_):
    pass


def values(path):
    """What a journal says, without how long it took."""
    timings = ("fit_s", "acquisition_s", "by", "at")
    return [{key: value for key, value in event.items() if key not in timings} for event in read(path).events]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    made = cell(tmp_path_factory.mktemp("whole"))
    run(made, quietly)
    return made


@pytest.fixture(scope="module")
def informed(tmp_path_factory):
    made = cell(tmp_path_factory.mktemp("informed"), "informed")
    run(made, quietly)
    return made


def test_truth_is_beside_the_run_and_not_in_it(whole):
    entries, flagged = whole.entries(), whole.flags()
    told = [event["value"] for event in values(whole.journal) if event["event"] == "tell"]
    assert told == [entry["value"] for entry in entries]
    assert any(entry["corrupted"] for entry in entries)
    assert all((entry["value"] == 100.0) == entry["corrupted"] for entry in entries)
    assert all(entry["clean"] < 4.0 for entry in entries)
    assert not any("clean" in event or "corrupted" in event for event in values(whole.journal))
    assert flagged == []


def test_recommendations_begin_with_the_last_initial_point(whole):
    assert [entry["recommended"] is not None for entry in whole.entries()] == [False] * 6 + [True] * 3


def test_all_methods_meet_the_same_corruption_and_the_oracle_is_told_the_truth(whole, tmp_path):
    oracle = cell(tmp_path, "oracle")
    run(oracle, quietly)
    theirs, ours = oracle.entries(), whole.entries()
    assert [e["corrupted"] for e in theirs] == [e["corrupted"] for e in ours]
    told = [event["value"] for event in values(oracle.journal) if event["event"] == "tell"]
    assert told == [entry["clean"] for entry in theirs]
    assert [e["clean"] for e in theirs[:7]] == [e["clean"] for e in ours[:7]]


class TestInformed:
    """The plain GP that is told, as each comes, which values are wrong."""

    def test_exactly_the_wrong_values_are_excluded(self, informed, whole):
        entries, flagged = informed.entries(), informed.flags()
        wrong = [entry["trial"] for entry in entries if entry["corrupted"]]
        excluded = [event["trial"] for event in values(informed.journal) if event["event"] == "exclude"]
        assert excluded == wrong == [e["trial"] for e in whole.entries() if e["corrupted"]] != []
        assert flagged == []
        assert all(entry["recommended"] not in wrong for entry in entries)

    def test_what_it_was_told_is_no_finding_of_its_own(self, informed):
        (row,) = summary(rows([informed]), ["informed"]).to_dict("records")
        assert pd.isna(row["flagged"])
        assert math.isnan(row["precision"])
        assert math.isnan(row["recall"])

    def test_a_record_is_the_same_twice(self, informed):
        assert verify(informed).bits == GIVEN["trials"]

    @pytest.mark.parametrize("fault", ["missing", "too many", "too late"])
    def test_an_exclusion_that_is_not_as_it_should_be_is_found(self, informed, tmp_path, fault):
        other, wrong = copied(informed, tmp_path, "informed"), [e["corrupted"] for e in informed.entries()]
        right, bad = wrong.index(False), wrong.index(True)
        kept = [
            e for e in read(other.journal).events if fault == "too many" or e["event"] != "exclude" or e["trial"] != bad
        ]
        more = {"missing": [], "too many": [right], "too late": [bad]}[fault]
        rewrite(other.journal, [*kept, *({"event": "exclude", "trial": trial} for trial in more)])
        what = f"trial {bad}: excluded then" if fault == "too late" else "excluded trials"
        with pytest.raises(ReplayMismatch, match=f"{what}: recorded"):
            verify(other)

    @pytest.mark.few(1)
    @pytest.mark.parametrize("kept", range(1, 24))
    def test_it_goes_on_from_anywhere(self, informed, tmp_path, kept):
        again = copied(informed, tmp_path, "informed")
        lines = again.journal.read_bytes().splitlines(keepends=True)[:kept]
        again.journal.write_bytes(b"".join(lines))
        ended = sum(b'"tell"' in line for line in lines)  # of which the truth has all, or all but the last
        truth = again.record.read_bytes().splitlines(keepends=True)
        again.record.write_bytes(b"".join(truth[: max(1, ended)]))
        run(again, quietly)
        assert values(again.journal) == values(informed.journal)
        assert values(again.record) == values(informed.record)

    def test_nothing_is_recommended_while_everything_is_wrong(self, tmp_path):
        always = {"kind": "constant", "probability": 1.0, "value": 100.0, "trials": list(range(8))}
        made = cell(tmp_path, "informed", corruption=always)
        run(made, quietly)
        entries, flagged = made.entries(), made.flags()
        assert [entry["recommended"] for entry in entries] == [None] * 8 + [8]
        assert flagged == []

    def test_ax_cannot_exclude(self, tmp_path):
        with pytest.raises(ValueError, match='sees = "errors" needs engine = "robustbo", got \'ax\''):
            cell(tmp_path, "a", methods={"a": {"surrogate": "standard", "sees": "errors", "engine": "ax"}})


def test_sobol_never_leaves_the_sequence(tmp_path):
    made = cell(tmp_path, "sobol")
    run(made, quietly)
    assert {event["origin"] for event in values(made.journal) if event["event"] == "ask"} == {"sobol"}


def test_corruption_is_drawn_from_seed_and_trial_alone(whole):
    half = Constant(0.5)
    draw = partial(whole.spec.measure, half, {}, root=whole.root)
    masks = [[draw(clean, number=t)[1] for t in range(50)] for clean in (0.0, 1e9)]
    assert masks[0] == masks[1]
    assert 10 < sum(masks[0]) < 40


def test_trials_that_cannot_be_hit_measure_the_truth(tmp_path):
    always = {"kind": "constant", "probability": 1.0, "value": 100.0, "trials": [2, 5]}
    spec = cell(tmp_path, corruption=always).spec
    corruption = spec.build_corruption()
    found = [spec.measure(corruption, {}, 1.0, root=0, number=t) for t in range(7)]
    assert found == [(100.0, True) if t in (2, 5) else (1.0, False) for t in range(7)]


@pytest.mark.few(3)
@pytest.mark.parametrize("lost", range(1, 8))
def test_whatever_a_kill_leaves_out_is_computed_again_to_the_same_bits(whole, tmp_path, lost):
    """Cut both journals at all the places where the last trial's writes can end."""
    again = cell(tmp_path)
    again.journal.parent.mkdir()
    events, truths = (path.read_bytes().splitlines(keepends=True) for path in (whole.journal, whole.record))
    order = [(events, 1), (events, 1), (truths, 1)] * 3  # ask, tell, truth; the flags come last
    for lines, _ in [(truths, 1), *reversed(order)][:lost]:
        lines.pop()
    again.journal.write_bytes(b"".join(events))
    again.record.write_bytes(b"".join(truths))
    run(again, quietly)
    assert values(again.journal) == values(whole.journal)
    assert values(again.record) == values(whole.record)


def test_more_trials_later_are_the_same_as_at_once(whole, tmp_path):
    again = cell(tmp_path, trials=8)
    run(again, quietly)
    run(cell(tmp_path), quietly)
    assert values(again.journal) == values(whole.journal)
    assert cell(tmp_path).entries() == whole.entries()


def test_a_finished_cell_is_left_as_it_is(whole):
    before = whole.journal.read_bytes(), whole.record.read_bytes()
    run(whole, quietly)
    assert (whole.journal.read_bytes(), whole.record.read_bytes()) == before


@pytest.mark.parametrize(
    "changed",
    [{"value": {"a": 1.0}}, {"clean": {"a": 1.0}}, {"corrupted": ["a"]}, {"recommended": [0]}, {"clean": {}}],
    ids=str,
)
def test_a_trial_that_tells_of_several_outcomes_among_trials_of_one_value_is_refused(whole, tmp_path, changed):
    again = copied(whole, tmp_path, "standard")
    first, second, *rest = read(again.record).events
    rewrite(again.record, [first, {**second, **changed}, *rest])
    with pytest.raises(JournalError, match="trial 1 is recorded as"):
        again.entries()


def test_a_record_that_has_a_setting_by_two_names_is_refused(whole, tmp_path):
    header, events = read(whole.record).header["cell"], read(whole.record).events
    with pytest.raises(SpecError, match="remeasure is called replicate now, got both"):
        OptimizationCell.from_record(tmp_path, {**header, "replicate": "any"}, events)


def test_another_spec_does_not_continue_a_cell(whole):
    other = cell(whole.folder, corruption={"kind": "constant", "probability": 0.1, "value": 100.0})
    with pytest.raises(SpecError, match=r"another spec.*\n  corruption.probability: recorded 0.3, now 0.1"):
        run(other, quietly)


class TestVerify:
    def test_a_record_is_the_same_twice(self, whole):
        (found,) = read_cells(whole.folder)
        assert found.spec.trials == 9
        first, second = verify(found), verify(found)
        assert first == second
        assert first.bits == 9

    @pytest.mark.slow
    def test_diagnoses_are_recomputed_too(self, tmp_path):
        options = {"start": 7, "every": 1, "tail": 0.2}
        made = cell(tmp_path, "f", methods={"f": {"surrogate": "filtered", "options": options}})
        run(made, quietly)
        assert verify(made).bits == 9
        lines = made.journal.read_text().splitlines()
        assert [json.loads(line)["event"] for line in lines[1:]].count("diagnose") == 2
        events = [json.loads(line) for line in lines]
        for event in events:
            event.pop("check")
            event.pop("schema", None)
        changed = next(event for event in events if event.get("event") == "diagnose")
        changed["outliers"], changed["percentiles"] = [0], [0.5]
        made.journal.unlink()
        journal = Journal.create(made.journal, events[0])
        for event in events[1:]:
            journal.append(event)
        with pytest.raises(ReplayMismatch, match=r"trial 7: diagnosis: recorded .*recomputed"):
            verify(made)

    @pytest.mark.parametrize(
        ("function", "what"),
        [
            ("check.optimization.step", "trial 0: ask"),
            ("spec.optimization.RunSpec.measure", "trial 0: measured value"),
            ("check.optimization.recommend", "recommended"),
            ("check.optimization.flags", "flags"),
        ],
    )
    def test_any_difference_is_found_and_shown(self, whole, monkeypatch, function, what):
        class Other:
            @staticmethod
            def events(trial):
                return [{"event": "ask", "trial": trial, "params": "other"}]

        name = function.rpartition(".")[-1]
        made = {"step": Other(), "measure": (9.9, False), "recommend": 99, "flags": [99]}[name]
        monkeypatch.setattr(f"robustbo.replay.{function}", lambda *_, **__: made)
        with pytest.raises(ReplayMismatch, match=rf"standard, replication 0, .*{what}: recorded .*recomputed"):
            verify(whole)

    def test_a_folder_without_a_record_is_named(self, tmp_path):
        with pytest.raises(SpecError, match="expected a recorded run"):
            read_cells(tmp_path)
