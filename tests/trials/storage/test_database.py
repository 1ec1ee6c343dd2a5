import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import JournalError, JournalExists, JournalWriteError
from robustbo.trials.storage import line, places
from robustbo.trials.storage.addresses import parse
from robustbo.trials.storage.journal_file import JournalFile
from robustbo.trials.storage.log import Conflict, Mark
from tests.trials.storage.rows import EVENTS, HEADER, changed, lines, optimizer, written


def test_what_is_written_is_read(address):
    _, mark = written(address)
    contents = places.contents(address)
    assert contents.header == {"schema": line.SCHEMA, **HEADER}
    assert (contents.events, contents.mark, contents.torn) == (EVENTS, mark, b"")


def test_the_rows_are_the_lines_of_a_journal_file(address, tmp_path):
    written(address)
    file, mark = JournalFile.create(tmp_path / "run.jsonl", HEADER)
    with file.turn() as turn:
        for event in EVENTS:  # of a call of several a file's lines say so, where a database has a transaction
            mark = turn.append([event], mark)
    assert lines(address) == (tmp_path / "run.jsonl").read_text().splitlines()


def test_a_log_reads_on_from_where_it_has_read(address):
    made, mark = written(address)
    other, contents = places.resume(address)
    assert not made.has_grown(mark)
    with other.turn() as turn:
        later = turn.append(EVENTS[:2], contents.mark)
    assert made.has_grown(mark)
    with made.turn() as turn:
        assert turn.behind(mark) == (EVENTS[:2], later)
        assert turn.behind(later) == ([], later)
        assert turn.append([], later) == later


def test_of_two_behind_the_same_row_one_is_in_conflict_and_leaves_nothing(postgresql):
    made, mark = written(postgresql)
    with made.turn() as one, made.turn() as other:
        one.append(EVENTS[:1], mark)
        with pytest.raises(Conflict):
            other.append(EVENTS[1:], mark)
    assert places.contents(postgresql).events == [*EVENTS, EVENTS[0]]


def test_events_are_written_all_or_none(address):
    made, mark = written(address)
    changed(address, "INSERT INTO robustbo_events VALUES (:study, :number, 'another')", number=mark.length + 2)
    before = lines(address)
    with made.turn() as turn, pytest.raises(JournalWriteError, match="nothing was recorded"):
        turn.append(EVENTS, mark)
    assert lines(address) == before


def test_a_study_that_is_there_is_not_begun_again(address):
    optimizer(address).ask()
    before = lines(address)
    with pytest.raises(FileExistsError, match=f"{parse(address).study}: exists"):
        places.create(address, HEADER)
    with pytest.raises(JournalExists, match=f"{parse(address).study}: exists; resume it"):
        optimizer(address)
    assert len(optimizer(address, if_exists="resume").history) == 1
    assert lines(address) == before


def test_a_study_that_is_not_there_is_an_error_that_names_those_that_are(address):
    written(address)
    with pytest.raises(JournalError, match=f"there is no study 'kiln'; the database has .*'{parse(address).study}'"):
        places.resume(address.partition("#")[0] + "#kiln")


def test_a_database_that_is_not_there_is_an_error_and_is_not_made(tmp_path):
    with pytest.raises(JournalError, match=r"lab\.db#oven: there is no such database"):
        places.resume(f"sqlite:///{tmp_path}/lab.db#oven")
    assert not [*tmp_path.iterdir()]


def test_a_database_without_a_table_has_no_studies(tmp_path):
    (tmp_path / "lab.db").touch()
    with pytest.raises(JournalError, match="there is no study 'oven'; the database has none yet"):
        places.resume(f"sqlite:///{tmp_path}/lab.db#oven")


def test_a_file_that_is_no_database_is_an_error(tmp_path):
    (tmp_path / "lab.db").write_text("garbage" * 1000)
    for reader in (places.resume, lambda address: places.create(address, HEADER)):
        with pytest.raises(JournalError, match=r"lab\.db#oven: cannot be .*: file is not a database"):
            reader(f"sqlite:///{tmp_path}/lab.db#oven")


def test_the_folder_of_a_file_is_made(tmp_path):
    address = f"sqlite:///{tmp_path}/a b/#1%20/lab.db".replace("#", "%") + "#oven"
    written(address)
    assert places.contents(address).events == EVENTS


def test_studies_do_not_see_each_other(address):
    other = f"{address}-other"
    made, mark = written(address)
    written(other, EVENTS[:1])
    assert not made.has_grown(mark)
    assert places.contents(address).events == EVENTS
    assert places.contents(other).events == EVENTS[:1]


def test_a_deleted_study_or_file_is_not_written_to(address):
    made, mark = written(address)
    changed(address, "DELETE FROM robustbo_events WHERE study = :study")
    assert not made.has_grown(mark)
    with made.turn() as turn, pytest.raises(JournalError, match="lost"):
        turn.behind(mark)
    if made.address.is_file:
        made.address.file.unlink()
        assert not made.has_grown(mark)
        with pytest.raises(JournalWriteError, match=r"is gone .* and nothing was recorded"), made.turn():
            pass
        assert not made.address.file.exists()


def test_a_copy_that_was_pickled_goes_on_with_the_study(address):
    first = optimizer(address)
    trial = first.ask()
    copy = pickle.loads(pickle.dumps(first))
    copy.tell(trial, 1.0)
    first.ask()
    assert copy.history == first.history == rb.Optimizer.resume(address).history
    assert first.history.counts() == {"told": 1, "pending": 1, "queued": 0, "failed": 0, "excluded": 0}


@pytest.mark.few(1)
def test_a_table_is_told_as_a_whole(address):
    rows = pd.DataFrame({"x": [i / 1000 for i in range(1000)], "value": [float(i) for i in range(1000)]})
    optimizer(address).tell_frame(rows)
    assert [trial.value for trial in rb.Optimizer.resume(address).history] == [*rows["value"]]


@pytest.mark.slow
def test_threads_lose_nothing_and_are_given_nothing_twice(address):
    optimizer(address)
    studies = [rb.Optimizer.resume(address) for _ in range(4)]

    def work(number):
        study = studies[number % len(studies)]  # two threads each
        return [study.tell(study.ask(), 100.0 * number + i) for i in range(25)]

    with ThreadPoolExecutor(8) as pool:
        told = [trial for trials in pool.map(work, range(8)) for trial in trials]
    assert sorted(trial.number for trial in told) == list(range(200))
    history = rb.Optimizer.resume(address).history
    assert [history[trial.number] for trial in told] == told
    assert all(study.history == history for study in studies)
    assert len({trial.point for trial in history}) == 200


@pytest.mark.parametrize("text", ["sqlite://#oven", "sqlite:///#oven", "sqlite:///:memory:#oven", "sqlite:///:memory:"])
def test_a_study_in_memory_is_refused(text):
    for call in (optimizer, places.resume, places.contents):
        with pytest.raises(JournalError, match=r"must be a file .*, is in memory, where all is lost"):
            call(text)


def test_many_begin_the_same_study_at_once(address):
    ready = threading.Barrier(8)

    def begin(_):
        ready.wait()
        return optimizer(address, if_exists="resume").ask().number

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(begin, range(8))) == list(range(8))


def test_the_mark_behind_a_header_is_that_of_no_events(address):
    _, mark = places.create(address, HEADER)
    assert mark == Mark(0, line.header_line(HEADER)[1])
    assert places.contents(address).mark == mark
