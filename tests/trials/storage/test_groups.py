import json
import os
import signal
import subprocess
import sys
import threading

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import JournalWarning
from robustbo.trials.repair.salvage import salvage_journal
from robustbo.trials.storage import reading
from robustbo.trials.storage.groups import GROUP, group_events, num_unfinished, place_in

SPACE = rb.Space(x=rb.Float(0.0, 1.0))
COUNT = 5
TABLE = pd.DataFrame({"x": [k / COUNT for k in range(COUNT)], "value": [float(k) for k in range(COUNT)]})
TORN = rf"the last call is torn: of its {COUNT} events only \d are there, and none counts; repeat it, .* cut off"


def begun(path):
    opt = rb.Optimizer(SPACE, direction="minimize", acquisition="sobol", seed=0, journal=path)
    opt.tell(opt.ask(), 0.5)
    return opt


CALLS = {
    "tell_frame": lambda opt: opt.tell_frame(TABLE),
    "ask": lambda opt: opt.ask(COUNT),
    "enqueue": lambda opt: opt.enqueue([{"x": k / COUNT} for k in range(COUNT)]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_cut_anywhere_a_call_of_many_is_there_as_a_whole_or_not_at_all(tmp_path, call):
    path = tmp_path / "lab.jsonl"
    opt = begun(path)
    before, history = path.read_bytes(), opt.history
    call(opt)
    data, whole = path.read_bytes(), opt.history
    ends = [at for at in range(len(before), len(data)) if data[at : at + 1] == b"\n"]
    assert len(ends) == COUNT
    for cut in sorted({len(before) + 7, *ends[:-1], *(end + 1 for end in ends[:-1]), *(end - 9 for end in ends)}):
        path.write_bytes(data[:cut])
        assert reading.read(path).torn == data[len(before) : cut]
        said = "last line is torn" if cut < ends[0] else TORN
        with pytest.warns(JournalWarning, match=said):
            again = rb.Optimizer.resume(path)
        assert (again.history, path.read_bytes()) == (history, before)
        call(again)
        assert len(rb.Optimizer.resume(path).history) == len(whole)
    path.write_bytes(data[:-1])  # the newline alone is missing: all is there
    assert rb.Optimizer.resume(path).history == whole


def test_what_is_torn_while_a_study_is_open_is_cut_off_by_the_next_write(tmp_path):
    path = tmp_path / "lab.jsonl"
    opt = begun(path)
    before = path.read_bytes()
    opt.tell_frame(TABLE)
    data = path.read_bytes()
    path.write_bytes(before)
    again = rb.Optimizer.resume(path)
    path.write_bytes(data[: data.rstrip().rfind(b"\n") + 1])
    assert again.tell({"x": 0.3}, 1.0).number == 1
    assert rb.Optimizer.resume(path).history == again.history


def test_only_events_of_one_call_say_that_they_are_a_group(tmp_path):
    path = tmp_path / "lab.jsonl"
    opt = begun(path)
    assert GROUP.encode() not in path.read_bytes()
    opt.tell_frame(TABLE)
    places = [place_in(rb_line) for rb_line in map(json.loads, path.read_bytes().splitlines())]
    assert places == [None] * 3 + [(k, COUNT) for k in range(1, COUNT + 1)]
    assert all(GROUP not in event for event in reading.read(path).events)


def test_lines_that_an_older_version_appended_to_a_torn_call_are_kept_and_so_is_it():
    group = [place_in(event) for event in group_events([{}] * 3)]
    assert num_unfinished(group[:2]) == 2
    assert num_unfinished([*group[:2], None]) == num_unfinished([*group[:2], *group]) == num_unfinished([(2, 3)]) == 0


@pytest.mark.parametrize("word", [[0, 2], [3, 2], [1], "1", None, [1.0, 2.0]])
def test_nonsense_is_no_group(word):
    assert place_in({GROUP: word}) is None


class TestRepair:
    @pytest.fixture
    def cut(self, tmp_path):
        path = tmp_path / "lab.jsonl"
        begun(path).tell_frame(TABLE)
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:-2]))
        return path

    def test_a_torn_call_is_left_out_and_said_so(self, cut):
        found = salvage_journal(cut)
        assert [left.line for left in found.left] == [4, 5, 6]
        assert all("repeat the call" in left.why for left in found.left)
        assert len(found.history) == 1

    def test_unless_it_is_wanted(self, cut, tmp_path):
        found = salvage_journal(cut, keep=[6])
        assert len(found.history) == 4
        (tmp_path / "new.jsonl").write_bytes(found.data)
        assert rb.Optimizer.resume(tmp_path / "new.jsonl").history == found.history

    @pytest.mark.parametrize("number", [5, 8])
    def test_what_is_proven_of_a_damaged_call_is_kept(self, tmp_path, number):
        path = tmp_path / "lab.jsonl"
        begun(path).tell_frame(TABLE)
        lines = path.read_bytes().splitlines(keepends=True)
        lines[number - 1] = lines[number - 1].replace(b'"value": ', b'"value": 7')
        path.write_bytes(b"".join(lines))
        found = salvage_journal(path)
        assert (len(found.history), [left.line for left in found.left]) == (COUNT, [number])
        (tmp_path / "new.jsonl").write_bytes(found.data)
        assert rb.Optimizer.resume(tmp_path / "new.jsonl").history == found.history

    def test_a_whole_call_needs_none(self, tmp_path):
        path = tmp_path / "lab.jsonl"
        begun(path).tell_frame(TABLE)
        assert salvage_journal(path).is_whole


TELL = """
import sys
import pandas as pd
import robustbo as rb
from robustbo.trials.storage import disk
write = disk.Locked.write
def slow(file, data):  # as a system that writes a large file does
    return write(file, bytes(data)[:997])
disk.Locked.write = slow
opt = rb.Optimizer.resume(sys.argv[1])
print("ready", flush=True)
while True:
    opt.tell_frame(pd.DataFrame({"x": [k / 300 for k in range(300)], "value": 1.0}))
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*torn:robustbo.JournalWarning")
def test_kills_between_the_writes_of_a_call_leave_all_of_it_or_nothing(tmp_path):
    path = tmp_path / "lab.jsonl"
    begun(path)
    for kill in range(2):
        size = path.stat().st_size
        with subprocess.Popen([sys.executable, "-W", "ignore", "-c", TELL, path], stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            while path.stat().st_size < size + 5000 * (kill + 1):
                threading.Event().wait(0.0005)
            os.kill(process.pid, signal.SIGKILL)
        assert (len(rb.Optimizer.resume(path).history) - 1) % 300 == 0
