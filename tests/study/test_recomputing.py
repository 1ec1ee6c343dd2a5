"""Asks computed again from what each had seen."""

import threading
from functools import partial

import pytest

import robustbo as rb
from robustbo.errors import ReplayMismatch
from robustbo.replay.check.asks import UNREPEATABLE, verify_journal
from robustbo.replay.verify import verdicts
from robustbo.study import next_trials
from robustbo.study.recomputing import REMEMBERED, decisions, recompute_asks
from robustbo.trials.codec import open_journal
from robustbo.trials.history import History
from robustbo.trials.repair.salvage import salvage_journal, write
from robustbo.trials.settings import Settings
from robustbo.trials.storage.journal import Journal
from robustbo.trials.storage.reading import read

SPACE = rb.Space(x=rb.Float(0.0, 1.0))
SETTINGS = Settings(SPACE)


class Seen:
    """What a decision had seen, in the place of a decision."""

    def __init__(self, settings, history, trial, fits, fixed):
        self.history = history

    def events(self, trial):
        return [{"event": "ask", "trial": trial, "params": {}, "seen": self.history.counts()}]


def ask(trial, **more):
    return {"event": "ask", "trial": trial, "params": {"x": 0.5}, **more}


def tell(trial):
    return {"event": "tell", "trial": trial, "value": 1.0, "sd": None}


def diagnose(trial):
    return {"event": "diagnose", "trial": trial, "observations": 1, "outliers": [], "percentiles": [], "void": False}


def seen(events):
    """By trial: what its decision had seen."""
    made = decisions(SETTINGS, events, decide=Seen)
    return {d.recorded["trial"]: (d.recomputed["seen"]["told"], d.recomputed["seen"]["pending"]) for d in made}


def decisive(event):
    return {key: value for key, value in event.items() if key not in UNREPEATABLE}


class TestWhatADecisionHadSeen:
    def test_all_before_it(self):
        assert seen([ask(0), tell(0), ask(1), ask(2), tell(1), ask(3)]) == {0: (0, 0), 1: (1, 0), 2: (1, 1), 3: (2, 1)}

    def test_not_what_others_told_meanwhile(self):
        events = [ask(0), ask(1), tell(0), tell(1), ask(2, unseen=[3, 4]), ask(3, unseen=[3, 4]), ask(4)]
        assert seen(events)[2] == (1, 1)
        assert seen(events)[3] == (1, 2)  # the first of its batch, which it has seen
        assert seen(events)[4] == (2, 2)

    def test_not_the_diagnosis_made_with_it(self):
        events = [ask(0), tell(0), diagnose(1), ask(1), diagnose(2), ask(2, unseen=[1, 2])]
        found = list(decisions(SETTINGS, events, decide=Diagnoses))
        assert [d.diagnosis for d in found] == [None, events[2], events[4]]
        assert [d.recomputed["diagnoses"] for d in found] == [0, 0, 1]

    def test_a_salvaged_ask_is_passed_over(self):
        assert seen([ask(0), tell(0), ask(1, salvaged=True), ask(2)]) == {0: (0, 0), 2: (1, 1)}

    def test_what_was_overlooked_long_ago_is_folded_again(self):
        count = 2 * REMEMBERED
        events = [event for trial in range(count) for event in (ask(trial), tell(trial))]
        assert seen([*events, ask(count, unseen=[3, len(events)])])[count] == (1, 1)

    def test_every_prefix_is_the_plain_fold(self):
        events = [event for trial in range(5) for event in (ask(trial), tell(trial))]
        made = {d.recorded["trial"]: d.recomputed["seen"] for d in decisions(SETTINGS, events, decide=Seen)}
        assert made == {n: History().apply_all(events[: 2 * n]).counts() for n in range(5)}

    def test_ten_thousand_events_are_not_folded_again_for_each(self, monkeypatch):
        folded = []
        extended = History.apply_all
        monkeypatch.setattr(History, "apply_all", lambda self, more: (folded.extend(more), extended(self, more))[1])
        last = 5000
        events = [ask(0), ask(1)]
        for trial in range(2, last):
            events += [tell(trial - 2), ask(trial, unseen=[len(events), len(events) + 1])]
        assert seen(events)[last - 1] == (last - 3, 2)
        assert len(folded) < 3 * len(events)


class Diagnoses(Seen):
    def events(self, trial):
        return [{"event": "ask", "trial": trial, "params": {}, "diagnoses": len(self.history.diagnoses)}]


def optimization(journal, **options):
    return rb.Optimizer(
        SPACE, direction="minimize", seed=1, num_initial=3, journal=journal, **{"surrogate": "standard", **options}
    )


class TestJournals:
    @pytest.fixture
    def journal(self, tmp_path):
        path = tmp_path / "j.jsonl"
        opt = optimization(path)
        for trial in (*opt.ask(2), opt.ask(), *opt.ask(2)):
            opt.tell(trial, trial.params["x"] ** 2)
        opt.enqueue({"x": 0.25})
        opt.tell({"x": 0.125}, 0.5)
        for trial in opt.ask(2):
            opt.tell(trial, trial.params["x"] ** 2)
        opt.exclude(0)
        opt.ask(2)
        return path

    def test_each_ask_is_the_same(self, journal):
        settings, _ = open_journal(journal)
        pairs = list(recompute_asks(settings, read(journal).events))
        assert len(pairs) == 8
        assert all(decisive(then) == decisive(now) for then, now in pairs)
        assert verify_journal(journal).bits == 8

    def test_so_is_one_that_had_not_seen_a_value(self, tmp_path, monkeypatch):
        opt = optimization(tmp_path / "j.jsonl")
        trials = opt.ask(5)
        for trial in trials[:4]:
            opt.tell(trial, trial.params["x"] ** 2)
        late = partial(rb.Optimizer.resume(tmp_path / "j.jsonl").tell, trials[4], 0.1)
        hand_out = next_trials.hand_out

        def decide(*arguments):
            made = hand_out(*arguments)
            thread = threading.Thread(target=late)
            thread.start()
            thread.join()
            return made

        monkeypatch.setattr("robustbo.study.next_trials.hand_out", decide)
        opt.ask(2)
        monkeypatch.undo()
        opt.ask()
        asks = [event.get("unseen") for event in read(tmp_path / "j.jsonl").events if event["event"] == "ask"]
        assert asks[5:] == [[9, 10], [9, 10], None]
        assert verify_journal(tmp_path / "j.jsonl").bits == 8

    def test_so_are_those_of_threads(self, tmp_path):
        opt = optimization(tmp_path / "j.jsonl")

        def live():
            for _ in range(4):
                trial = opt.ask()
                opt.tell(trial, trial.params["x"] ** 2)

        threads = [threading.Thread(target=live) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert verify_journal(tmp_path / "j.jsonl").bits == 16

    def test_diagnoses_are_computed_again_too(self, tmp_path):
        options = {"start": 4, "every": 1, "tail": 0.2}
        opt = optimization(tmp_path / "j.jsonl", surrogate="filtered", surrogate_options=options, replicate="never")
        for _ in range(7):
            trial = opt.ask()
            opt.tell(trial, 9.0 if trial.number == 2 else trial.params["x"] ** 2)
        assert opt.history.diagnoses
        assert verify_journal(tmp_path / "j.jsonl").bits == 7

    def test_a_difference_is_found_and_shown(self, journal):
        contents = read(journal)
        journal.unlink()
        written = Journal.create(journal, contents.header)
        for event in contents.events:
            changed = event["event"] == "ask" and event["trial"] == 3
            written.append({**event, "params": {"x": 0.123}} if changed else event)
        with pytest.raises(ReplayMismatch, match=r"j.jsonl, trial 3: ask: recorded .*0\.123.*recomputed"):
            verify_journal(journal)
        (row,) = verdicts([str(journal)])
        assert (row["run"], row["asks"]) == (str(journal), None)
        assert "trial 3: ask" in row["verdict"]

    def test_a_salvaged_journal_is_computed_again_up_to_the_loss(self, journal, tmp_path):
        lines = journal.read_bytes().splitlines(keepends=True)
        (lost,) = [n for n, line in enumerate(lines) if b'"ask"' in line and b'"trial": 4' in line]
        lines[lost] = b"?" * 50 + b"\n"
        journal.write_bytes(b"".join(lines))
        found = salvage_journal(journal)
        write(found, tmp_path / "new.jsonl")
        assert found.salvaged_from == 6  # 4 and 5 are those that were enqueued, and told
        assert verify_journal(tmp_path / "new.jsonl").bits == 4

    def test_a_log_of_no_events_has_nothing_to_compute(self, tmp_path):
        optimization(tmp_path / "j.jsonl")
        assert verify_journal(tmp_path / "j.jsonl").bits == 0
