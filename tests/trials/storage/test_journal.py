import pytest

from robustbo.errors import JournalError, JournalWarning, LockTimeout
from robustbo.trials.storage import disk, line, reading
from robustbo.trials.storage.journal import Journal
from robustbo.trials.storage.line import line_of

HEADER = {"seed": 7, "name": "größe\n"}
EVENTS = [
    {"event": "ask", "trial": 0, "params": {"x": 0.1 + 0.2, "c": None}, "origin": "sobol"},
    {"event": "tell", "trial": 0, "value": 1.5e300, "sd": None},
    {"event": "fail", "trial": 1, "reason": 'a "quoted" \u2028 {reason}\n'},
    {"event": "tell", "trial": 2, "value": -0.25, "sd": 0.125},
]
LINES = len(EVENTS) + 1


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.jsonl"
    written = Journal.create(path, HEADER)
    for event in EVENTS:
        written.append(event)
    return path


def last_line(path):
    return path.read_bytes().splitlines(keepends=True)[-1]


def assert_refused_untouched(path, match):
    before = path.read_bytes()
    for reader in (reading.read, Journal.resume):
        with pytest.raises(JournalError, match=match):
            reader(path)
    assert path.read_bytes() == before


def test_what_is_written_is_read(path):
    contents = reading.read(path)
    assert contents.header == {"schema": line.SCHEMA, **HEADER}
    assert contents.events == EVENTS
    assert (contents.mark.end, contents.torn) == (path.stat().st_size, b"")


def test_a_line_is_in_the_file_when_append_returns(path):
    written, _ = Journal.resume(path)
    for number in range(3):
        before = path.read_bytes()
        written.append({"event": "ask", "trial": number})
        assert path.read_bytes().startswith(before)
        assert reading.read(path).events[-1] == {"event": "ask", "trial": number}


def test_a_journal_makes_its_folder_and_takes_a_string(tmp_path):
    path = tmp_path / "a" / "b" / "run.jsonl"
    Journal.create(str(path), HEADER).append(EVENTS[0])
    assert reading.read(str(path)).events == EVENTS[:1]
    assert not list(path.parent.glob("*.new"))


def num_bytes_of_last_line():
    return len(line_of(EVENTS[-1], 0)[0]) + 1  # every checksum has the same length


@pytest.mark.few(20)
@pytest.mark.parametrize("kept", range(1, num_bytes_of_last_line() - 1))
def test_a_torn_last_line_is_dropped_with_a_warning(path, kept):
    data, last = path.read_bytes(), last_line(path)
    path.write_bytes(data[: len(data) - len(last) + kept])
    contents = reading.read(path)
    assert (contents.events, contents.torn) == (EVENTS[:-1], last[:kept])
    with pytest.warns(JournalWarning, match=rf"the last line is torn, {kept} bytes .* cut off; .*: '{{") as caught:
        resumed, contents = Journal.resume(path)
    assert last[:kept].decode() in str(caught[0].message)
    assert contents.events == EVENTS[:-1]
    assert path.read_bytes() == data[: -len(last)]
    resumed.append(EVENTS[-1])
    assert path.read_bytes() == data


def test_every_offset_of_the_last_line_is_tested(path):
    assert len(last_line(path)) == num_bytes_of_last_line()


def test_a_last_line_that_lost_only_its_newline_is_kept(path):
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    assert reading.read(path).events == EVENTS
    resumed, contents = Journal.resume(path)
    assert contents.events == EVENTS
    assert path.read_bytes() == data
    resumed.append(EVENTS[0])
    assert reading.read(path).events == [*EVENTS, EVENTS[0]]


@pytest.mark.parametrize("more", [b"\n", b"\n\n", b"  ", b"\r\n \t\n"])
def test_blank_lines_at_the_end_are_none(path, more):
    data = path.read_bytes()
    path.write_bytes(data + more)
    assert reading.read(path)[1:] == (EVENTS, reading.read(path).mark, b"")
    resumed, _ = Journal.resume(path)
    assert path.read_bytes() == data
    path.write_bytes(data + more)
    resumed.append(EVENTS[0])
    assert path.read_bytes().startswith(data + b'{"event"')
    assert reading.read(path).events == [*EVENTS, EVENTS[0]]


def test_a_last_line_that_is_wholly_lost_cannot_be_seen(path):
    path.write_bytes(path.read_bytes()[: -len(last_line(path))])
    assert Journal.resume(path)[1].events == EVENTS[:-1]


def test_a_resumed_journal_equals_an_unbroken_one(path, tmp_path):
    other = tmp_path / "other.jsonl"
    Journal.create(other, HEADER)
    for event in EVENTS:
        Journal.resume(other)[0].append(event)
    assert other.read_bytes() == path.read_bytes()


def flip(old, new):
    return lambda lines: [line.replace(old, new) for line in lines]


@pytest.mark.parametrize(
    ("damage", "number"),
    [
        (flip(b'"seed": 7', b'"seed": 8'), 1),
        (flip(b'"schema": 1', b'"schema": 3'), 1),
        (flip(b"0.30000000000000004", b"0.30000000000000005"), 2),
        (flip(b"0.30000000000000004", b"0.40000000000000004"), 2),
        (flip(b"1.5e+300", b"1.6e+300"), 3),
        (flip(b"1.5e+300", b"1.5e+900"), 3),
        (flip(b"1.5e+300", b"NaN"), 3),
        (flip(b'"trial": 1', b'"trial":  1'), 4),
        (flip(b"quoted", b"qu\xffted"), 4),
        (flip(b"-0.25", b"0.25"), 5),
        (lambda lines: [*lines[:2], *lines[3:]], 3),
        (lambda lines: lines[1:], 1),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], 2),
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], 4),
        (lambda lines: [*lines[:2], b"\n", *lines[2:]], 3),
        (lambda lines: [*lines[:-1], b"garbage\n"], 5),
        (lambda lines: [*lines[:-1], b"\0" * 40 + b"\n"], 5),
        (lambda lines: [*lines[:-1], b"[1]\n"], 5),
        (lambda lines: [*lines[:-1], lines[-1][:20] + b"\n"], 5),
        (lambda lines: [lines[0][:20]], 1),
    ],
)
def test_damage_is_named_and_left_alone(path, damage, number):
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = damage(lines)
    assert damaged != lines
    path.write_bytes(b"".join(damaged))
    assert_refused_untouched(path, rf"run\.jsonl, line {number}: damaged")


@pytest.mark.parametrize("number", range(LINES))
def test_a_changed_digit_of_a_checksum_is_found(path, number):
    lines = path.read_bytes().splitlines(keepends=True)
    digit = lines[number][-4:-3]
    lines[number] = lines[number][:-4] + (b"0" if digit != b"0" else b"1") + lines[number][-3:]
    path.write_bytes(b"".join(lines))
    assert_refused_untouched(path, f"line {number + 1}: damaged")


def test_a_missing_file_is_an_error(tmp_path):
    for reader in (reading.read, Journal.resume):
        with pytest.raises(JournalError, match=r"nowhere\.jsonl: there is no such journal"):
            reader(tmp_path / "nowhere.jsonl")
    assert not (tmp_path / "nowhere.jsonl").exists()


def test_an_existing_file_is_not_overwritten(path):
    before = path.read_bytes()
    with pytest.raises(JournalError, match=r"run\.jsonl: exists; resume it, or name a new file"):
        Journal.create(path, HEADER)
    assert path.read_bytes() == before


def test_an_empty_file_is_no_journal(tmp_path):
    path = tmp_path / "run.jsonl"
    path.touch()
    assert_refused_untouched(path, r"is empty, but a journal begins with a header")


def test_a_schema_of_the_future_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    with monkeypatch.context() as future:
        future.setattr(line, "SCHEMA", 2)
        Journal.create(path, HEADER)
    assert_refused_untouched(path, r"line 1: must be a header of schema 1, got 2")


def test_the_second_of_two_writers_is_refused_and_nothing_is_lost(path):
    first, second = Journal.resume(path)[0], Journal.resume(path)[0]
    first.append(EVENTS[0])
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(JournalError, match="another process writes to it; resume it again"):
            second.append(EVENTS[1])
    assert path.read_bytes() == before
    first.append(EVENTS[2])
    Journal.resume(path)[0].append(EVENTS[3])
    assert reading.read(path).events == [*EVENTS, EVENTS[0], EVENTS[2], EVENTS[3]]


def test_nobody_can_write_between_reading_and_cutting(path, monkeypatch):
    is_locked = []

    def watched(file, start):
        with pytest.raises(LockTimeout, match="has had it locked"):
            disk.Locked(path, "r+b", 0.0)
        is_locked.append(True)
        return read_from(file, start)

    read_from = disk.read_from
    monkeypatch.setattr(disk, "read_from", watched)
    Journal.resume(path)
    assert is_locked == [True]


def test_an_event_that_is_not_json_is_not_written(path):
    before = path.read_bytes()
    resumed, _ = Journal.resume(path)
    with pytest.raises(ValueError, match="not JSON compliant"):
        resumed.append({"value": float("nan")})
    assert path.read_bytes() == before


@pytest.mark.parametrize("room", [20, 100])
def test_a_full_disk_leaves_no_half_line_behind(path, room):
    resource = pytest.importorskip("resource", reason="limits the size of files on POSIX alone")
    before = path.read_bytes()
    resumed, _ = Journal.resume(path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + room, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            resumed.append(EVENTS[0])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    resumed.append(EVENTS[0])
    assert reading.read(path).events == [*EVENTS, EVENTS[0]]
