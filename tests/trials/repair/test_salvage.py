"""A damaged journal made whole; the two in data/ are what threads made of one with an older version."""

import json
import random
import re
import time
from pathlib import Path

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import JournalError
from robustbo.searchspace.space import Choice, Float, Space
from robustbo.trials.codec import header, open_journal
from robustbo.trials.repair import proof, report
from robustbo.trials.repair.salvage import salvage_journal, write
from robustbo.trials.settings import Settings
from robustbo.trials.storage.journal import Journal
from robustbo.trials.storage.line import header_line, line_of
from robustbo.trials.storage.reading import read

DATA = Path(__file__).parents[1] / "data"
SETTINGS = Settings(Space(x=Float(0.0, 1.0), c=Choice("a", "b")), seed=3)


def ask(trial, **more):
    return {"event": "ask", "trial": trial, "params": at(trial), "origin": "model", **more}


def at(trial):
    return {"x": trial / 64, "c": "ab"[trial % 2]}


def tell(trial, value=None, **more):
    return {"event": "tell", "trial": trial, "value": float(trial) if value is None else value, "sd": None, **more}


EVENTS = [event for trial in range(5) for event in (ask(trial), tell(trial))]  # trial t: lines 2 t + 2, 2 t + 3


@pytest.fixture
def journal(tmp_path):
    """Writes events as a journal, damages its lines, and salvages it."""

    def damaged(events, damage=lambda lines: lines, **options):
        path = tmp_path / "j.jsonl"
        path.unlink(missing_ok=True)
        written = Journal.create(path, header(SETTINGS))
        for event in events:
            written.append(event)
        path.write_bytes(b"\n".join([*damage(path.read_bytes().splitlines()), b""]))
        return salvage_journal(path, **options)

    return damaged


@pytest.fixture
def tree(tmp_path):
    """Writes events that say which line (from 1) they are chained to, as threads with a stale checksum did."""

    def made(*events):
        line, check = header_line(header(SETTINGS))
        lines, checks = [line], [check]
        for before, event in events:
            line, check = line_of(event, checks[before - 1])
            lines.append(line)
            checks.append(check)
        path = tmp_path / "tree.jsonl"
        path.write_text("".join(f"{line}\n" for line in lines))
        return salvage_journal(path)

    return made


def lost(*numbers):
    """Damage: these lines cannot be read any more."""
    return lambda lines: [b"\0" * len(text) if n in numbers else text for n, text in enumerate(lines, start=1)]


def events_of(found):
    return [json.loads(line) for line in found.data.splitlines()[1:]]


def told(found):
    return {trial.number: (trial.params["x"] * 64, trial.value) for trial in found.history.having("told")}


def left(found):
    return {line: why for line, why, _ in found.left}


class TestWhatIsRefused:
    @pytest.mark.parametrize("damage", [lost(1), lambda lines: lines[1:], lambda lines: [lines[0][:-9], *lines[1:]]])
    def test_settings_that_cannot_be_proven(self, journal, damage):
        with pytest.raises(JournalError, match=r"j.jsonl: its header \(line 1\) is damaged, so the settings"):
            journal(EVENTS, damage)

    def test_a_changed_setting(self, journal):
        changed = lambda lines: [lines[0].replace(b'"seed": 3', b'"seed": 4'), *lines[1:]]  # noqa: E731
        with pytest.raises(JournalError, match="its header"):
            journal(EVENTS, changed)
        found = journal(EVENTS, changed, keep=[1])
        assert (found.left, [remark.line for remark in found.remarks], found.salvaged_from) == ([], [1], 0)

    @pytest.mark.parametrize("text", ["", "trial,value\n0,1\n", '{"a": 1}\n', "\0" * 99])
    def test_what_is_no_journal(self, tmp_path, text):
        path = tmp_path / "table.csv"
        path.write_text(text)
        with pytest.raises(JournalError, match=r"table.csv: is not a journal of robustbo"):
            salvage_journal(path)

    def test_a_missing_file_and_a_database(self, tmp_path):
        with pytest.raises(JournalError, match="there is no such journal"):
            salvage_journal(tmp_path / "nowhere")
        with pytest.raises(JournalError, match="only a file can be repaired"):
            salvage_journal("sqlite:///lab.db#name")

    def test_a_file_that_exists_is_not_overwritten(self, journal, tmp_path):
        found, there = journal(EVENTS, lost(3)), tmp_path / "there.jsonl"
        there.write_text("mine")
        with pytest.raises(JournalError, match=r"there.jsonl: exists, and robustbo does not overwrite it"):
            write(found, there)
        assert there.read_text() == "mine"


class TestFitting:
    def test_a_whole_journal_is_whole(self, journal):
        found = journal(EVENTS)
        assert found.is_whole
        assert (found.left, found.remarks, found.moved, found.salvaged_from) == ([], [], [], None)

    def test_lines_in_another_order_are_put_in_theirs_and_nothing_is_marked(self, journal):
        found = journal(EVENTS, sorted)
        assert (found.data, found.salvaged_from) == (journal(EVENTS).data, None)
        assert not found.is_whole

    def test_the_point_of_a_line_that_only_the_next_proves_must_be_one_of_the_space(self, journal):
        events = [*EVENTS[:4], {**EVENTS[4], "params": {"x": 2.0, "c": "a"}}, *EVENTS[5:]]
        assert "x: must lie in [0.0, 1.0], got 2.0" in left(journal(events, lost(5)))[6]

    def test_what_nothing_proves_is_kept_on_request(self, journal):
        found = journal(EVENTS, lambda lines: [line.replace(b": 2.0", b": 2.5") for line in lines], keep=[7])
        assert told(found)[2] == (2, 2.5)
        assert [tuple(remark) for remark in found.remarks] == [(7, proof.BY_REQUEST)]
        assert found.salvaged_from == 3

    def test_a_torn_last_line_changes_nothing_else(self, journal, tmp_path):
        found = journal(EVENTS, lambda lines: [*lines[:-1], lines[-1][:20]])
        assert events_of(found) == events_of(journal(EVENTS))[:-1]
        assert (left(found), found.moved, found.salvaged_from) == ({11: proof.TORN}, [], None)

    def test_a_lost_ask_takes_its_value_along_and_the_others_move_up(self, journal):
        found = journal(EVENTS, lost(6))
        assert left(found) == {
            6: "cannot be read",
            7: "the line that began trial 2 is lost, so nothing can be said of it",
        }
        assert told(found) == {0: (0, 0.0), 1: (1, 1.0), 2: (3, 3.0), 3: (4, 4.0)}
        assert [tuple(moved) for moved in found.moved] == [(8, 3, 2), (10, 4, 3)]
        assert [event.get("salvaged") for event in events_of(found)[::2]] == [None, None, True, True]
        assert found.salvaged_from == 2

    def test_asks_before_a_loss_are_as_they_were_and_what_later_ones_have_not_seen_is_unknown(self, journal):
        events = [ask(0), ask(1), tell(0), ask(2, unseen=[2, 3]), tell(1), ask(3, unseen=[4, 5]), tell(3)]
        made = events_of(journal(events, lost(6)))
        assert [(event["trial"], event.get("unseen")) for event in made if event["event"] == "ask"] == [
            (0, None),
            (1, None),
            (2, [2, 3]),
            (3, None),
        ]

    def test_repeats_and_diagnoses_point_to_where_their_trials_are_now(self, journal):
        diagnosis = {"event": "diagnose", "trial": 7, "observations": 5, "void": False}
        events = [
            *EVENTS,
            {**ask(5), "params": at(2), "repeats": 2, "reason": "re-measure"},
            {**ask(6), "params": at(3), "repeats": 3, "reason": "re-measure"},
            {**diagnosis, "outliers": [2, 3], "percentiles": [0.01, 0.99]},
            ask(7),
        ]
        found = journal(events, lost(6))
        assert [(t.repeats, t.reason) for t in found.history.trials[4:]] == [
            (None, None),
            (2, "re-measure"),
            (None, None),
        ]
        (made,) = found.history.diagnoses
        assert (made.trial, made.outliers, made.percentiles) == (6, (2,), (0.99,))

    def test_a_correction_of_a_lost_value_is_a_value(self, journal):
        found = journal([*EVENTS, {"event": "amend", "trial": 1, "value": 7.5, "sd": 0.5}], lost(5))
        assert (found.history[1].value, found.history[1].sd) == (7.5, 0.5)
        assert (12, "the value that it corrects is lost; it is the value of trial 1 now") in found.remarks

    def test_an_event_that_its_trial_does_not_allow_any_more_is_left_out(self, journal):
        found = journal([*EVENTS, {"event": "exclude", "trial": 1}], lost(5))
        assert left(found)[12] == "trial 1 must be told for it, and is pending"

    def test_an_event_of_a_newer_robustbo_is_not_dropped(self, journal):
        with pytest.raises(JournalError, match=r"line 12: 'dance' is an event of a newer robustbo, .* update robustbo"):
            journal([*EVENTS, {"event": "dance", "trial": 1}])

    def test_an_event_of_a_newer_robustbo_that_nothing_proves_is_left_out(self, journal):
        found = journal([*EVENTS, {"event": "dance", "trial": 1}], lost(11))
        assert "cannot be read" in left(found)[12]

    def test_verdicts_on_one_of_several_outcomes_are_kept(self, tmp_path):
        path = tmp_path / "several.jsonl"
        opt = rb.Optimizer(SETTINGS.space, objectives={"a": "maximize", "b": "minimize"}, seed=0, journal=path)
        opt.tell(at(0), {"a": 1.0, "b": 2.0})
        opt.exclude(0, outcome="a")
        opt.include(0, outcome="a")
        opt.exclude(0, outcome="b")
        opt.exclude(0, outcome="a")
        assert salvage_journal(path).is_whole
        lines = path.read_bytes().splitlines()
        path.write_bytes(b"\n".join([*lost(4)(lines), b""]))  # the inclusion
        assert left(salvage_journal(path))[6].endswith(
            "'a' of trial 0 must be told to exclude it, it is excluded already"
        )

    @pytest.mark.parametrize("number", range(2, 12))
    def test_what_is_salvaged_goes_on(self, journal, tmp_path, number):
        found, new = journal(EVENTS, lost(number)), tmp_path / "new.jsonl"
        write(found, new)
        assert open_journal(new)[1] == found.history
        contents = read(new)
        assert (len(contents.events), contents.torn) == (found.num_events, b"")
        Journal.resume(new)[0].append(ask(len(found.history)))
        assert salvage_journal(new).is_whole


class TestThreads:
    """Each wrote whole lines, chained to a stale predecessor."""

    def test_every_value_is_there(self):
        found = salvage_journal(DATA / "threads.jsonl")
        lines = [json.loads(line) for line in (DATA / "threads.jsonl").read_text().splitlines()]
        assert (found.left, found.remarks) == ([], [])
        assert sorted(t.value for t in found.history) == sorted(e["value"] for e in lines if e.get("event") == "tell")
        assert len(found.history) == 16
        points = {e["trial"]: e["params"] for e in lines if e.get("event") == "ask"}
        values = {e["trial"]: e["value"] for e in lines if e.get("event") == "tell" and "params" not in e}
        assert all((found.history[n].params, found.history[n].value) == (points[n], values[n]) for n in points)
        assert len(found.moved) == 7

    def test_asked_at_once(self):
        found = salvage_journal(DATA / "threads_asking.jsonl")
        lines = [json.loads(line) for line in (DATA / "threads_asking.jsonl").read_text().splitlines()]
        assert sorted(t.value for t in found.history) == sorted(e["value"] for e in lines if e.get("event") == "tell")
        assert set(left(found).values()) == {"is a copy of line 2"}
        late = [(t.repeats, t.params) for t in found.history if t.origin == "late"]
        assert late == [(0, found.history[0].params)] * 2

    def test_a_second_value_of_a_trial_is_a_trial_that_repeats_it(self, tree):
        found = tree((1, ask(0)), (2, tell(0, 1.0)), (2, tell(0, 2.0)), (4, ask(1)))
        late = found.history[1]
        assert (late.value, late.repeats, late.origin, late.params) == (2.0, 0, "late", at(0))
        assert [tuple(moved) for moved in found.moved] == [(5, 1, 2)]

    def test_a_number_given_twice_is_two_trials_and_each_value_goes_where_its_line_is_chained_to(self, tree):
        twin = {**ask(0), "params": at(9)}
        found = tree(
            (1, ask(0)), (1, twin), (3, tell(0, 9.0)), (2, tell(0, 0.0)), (4, {"event": "exclude", "trial": 0})
        )
        assert [(t.params, t.value, t.state) for t in found.history] == [
            (at(0), 0.0, "told"),
            (at(9), 9.0, "excluded"),
        ]
        what = "2 trials had number 0, at other points; this is taken to be of the one that is trial"
        assert [tuple(remark) for remark in found.remarks] == [
            (line, f"{what} {trial} now") for line, trial in [(4, 1), (5, 0), (6, 1)]
        ]

    def test_a_value_of_a_trial_that_is_told_is_of_the_other_that_is_open(self, tree):
        twin = {**ask(0), "params": at(9)}
        found = tree((1, ask(0)), (1, twin), (3, tell(0, 9.0)), (4, tell(0, 0.0)))
        assert told(found) == {0: (0, 0.0), 1: (9, 9.0)}

    def test_a_repeat_is_of_the_trial_at_its_point(self, tree):
        twin, again = {**ask(0), "params": at(9)}, {**ask(1), "params": at(9), "repeats": 0}
        found = tree((1, ask(0)), (1, twin), (2, again))
        assert found.history[2].repeats == 1


@pytest.mark.few(15)
@pytest.mark.parametrize("seed", range(60))
def test_whatever_happens_to_a_journal_nothing_is_invented(journal, tmp_path, seed):
    """Bytes change, lines are lost, torn, copied and moved: each trial that is left has its point and its value."""
    draw = random.Random(seed)

    def damage(lines):
        head, *rest = lines
        for _ in range(draw.randint(1, 4)):
            i, j = (draw.randrange(len(rest)) for _ in range(2))
            match draw.randrange(5):
                case 0:
                    k = draw.randrange(len(rest[i]))
                    rest[i] = rest[i][:k] + bytes([draw.choice(b"\0 0x\xff")]) + rest[i][k + 1 :]
                case 1:
                    del rest[i]
                case 2:
                    rest[i] = rest[i][: draw.randrange(len(rest[i]))]
                case 3:
                    rest.insert(i, rest[j])
                case 4:
                    rest[i], rest[j] = rest[j], rest[i]
        return [head, *rest]

    found = journal(EVENTS, damage)
    assert all(trial.params == at(round(trial.params["x"] * 64)) for trial in found.history)
    assert all(value == x for x, value in told(found).values())
    new = tmp_path / "new.jsonl"
    write(found, new)
    assert open_journal(new)[1] == found.history


def test_the_report_counts_and_names(journal):
    found = journal(EVENTS, lost(4, 9))
    name = "runs/j.jsonl"
    text = report.lines(name, found, report.beside(Path(name)))
    assert text[0] == "runs/j.repaired.jsonl: kept 7 events of 4 trials (3 told, 1 pending)"
    assert text[1] == "left out: 3 lines"
    assert re.match("the asks from trial 1 on are marked", text[2])
    tables = report.tables(found)
    assert [row["line"] for row in tables["left out"]] == [4, 5, 9]
    assert re.fullmatch(r"\d+ zero bytes", tables["left out"][0]["it says"])
    assert tables["new numbers"] == [{"line": "6 to 10", "before": "2 to 4", "now": "1 to 3"}]
    assert json.loads(json.dumps(report.report(found, None)))["moved"][0] == {"line": 6, "before": 2, "now": 1}


def test_ten_thousand_lines_take_seconds(tmp_path):
    path = tmp_path / "long.jsonl"
    line, check = header_line(header(SETTINGS))
    lines = [line]
    for trial in range(5000):
        for event in ({**ask(trial), "params": {"x": (trial % 64) / 64, "c": "a"}}, tell(trial)):
            line, check = line_of(event, check)
            lines.append(line)
    lines[7000] = "?" * 80
    path.write_text("".join(f"{line}\n" for line in lines))
    started = time.perf_counter()
    found = salvage_journal(path)
    assert time.perf_counter() - started < 20
    assert len(found.history) == 5000


def test_a_line_to_keep_must_be_there(tmp_path):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=1, journal=tmp_path / "j")
    opt.tell(opt.ask(), 1.0)
    with pytest.raises(JournalError, match="line 9: there is no such line to keep; the last one is 3"):
        salvage_journal(tmp_path / "j", [2, 9])


def test_rows_that_were_added_to_a_pool_stay(tmp_path):
    opt = rb.Optimizer(
        rb.Pool(pd.DataFrame({"x": [0.0, 1.0, 2.0]})), direction="maximize", acquisition="sobol", journal=tmp_path / "j"
    )
    opt.tell(opt.ask(), 1.0)
    opt.add_rows(pd.DataFrame({"x": [7.0, 8.0]}))
    opt.tell({"x": 7.0}, 3.0)
    opt.tell({"x": 1.0}, 2.0)
    whole, lines = opt.history, (tmp_path / "j").read_bytes().splitlines()
    (tmp_path / "j").write_bytes(b"\n".join([*lines[:-1], lines[-1].replace(b"2.0", b"2.5"), b""]))
    salvage = salvage_journal(tmp_path / "j")
    assert [left.line for left in salvage.left] == [len(lines)]
    write(salvage, tmp_path / "mended")
    again = rb.Optimizer.resume(tmp_path / "mended")
    assert [trial.params for trial in again.history] == [trial.params for trial in whole][:-1]
    assert len(again.settings.space.rows) == 5
    assert again.pending() == []
    assert {again.ask().params["x"] for _ in range(3)} >= {8.0}
