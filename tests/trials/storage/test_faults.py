"""Each call to the system that an ask, a tell and a beginning make fails once in every way: nothing is lost by it."""

import os
import warnings
from datetime import timedelta

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import JournalError
from robustbo.trials import worker
from robustbo.trials.repair.salvage import salvage_journal
from robustbo.trials.storage import disk
from tests.trials.storage.faults import DEATHS, ERRORS, INTERRUPTS, LASTING, Calls, meanwhile

SPACE = rb.Space(x=rb.Float(0.0, 1.0), c=rb.Choice("a", "b"))
TOLD = {0: 10.0, 1: 11.0}


def begin(path):
    return rb.Optimizer(SPACE, direction="minimize", seed=1, acquisition="sobol", journal=path, if_exists="resume")


def prepared(path):
    """A study with two told trials and one that waits for its value."""
    opt = begin(path)
    for number, value in TOLD.items():
        opt.tell(opt.ask(), value)
        assert opt.history[number].value == value
    opt.ask()
    return opt


LONG_AGO = "1970-01-01T00:00:00.000001+00:00"
DONE, OTHERS = "done", "others wrote, too"
OPERATIONS = {
    "tell": lambda opt, _: opt.tell(2, 12.0),
    "ask": lambda opt, _: opt.ask(),
    "ask for three": lambda opt, _: opt.ask(3),
    "tell a table": lambda opt, _: opt.tell_frame(TABLE),
    "fail": lambda opt, _: opt.fail(2),
    "enqueue": lambda opt, _: opt.enqueue({"x": 0.5, "c": "b"}),
    "requeue": lambda opt, _: opt.requeue(2),
    "amend": lambda opt, _: opt.amend(1, 11.5),
    "resume": lambda _, path: rb.Optimizer.resume(path),
    "begin": lambda _, path: begin(path.with_name("new")),
}


TABLE = pd.DataFrame({"x": [0.1, 0.2], "c": ["a", "b"], "value": [1.0, 2.0]})
NEW = {"ask": 1, "ask for three": 3, "tell a table": 2, "enqueue": 1}  # trials


@pytest.fixture(params=OPERATIONS)
def operation(request):
    return OPERATIONS[request.param]


@pytest.fixture(autouse=True)
def no_long_waits(monkeypatch):
    monkeypatch.setattr(disk, "TIMEOUT_S", 0.05)


def calls_of(operation, folder):
    """How many calls to the system it makes."""
    path = folder / "counted"
    opt, calls = prepared(path), Calls()
    with calls.watched():
        operation(opt, path)
    assert {"__init__", "flock", "fstat"} <= set(calls.names)
    return len(calls.names)


def each(operation, folder, faults):
    """Every call broken in every way: the fault's name, a study of its own, and the calls."""
    (folder / "count").mkdir()
    count = calls_of(operation, folder / "count")
    for name, fault in faults.items():
        for at in range(1, count + 1):
            place = folder / f"{name} {at}"
            place.mkdir()
            path = place / "study.jsonl"
            yield path, prepared(path), Calls(at, fault)


def check(operation, path, opt, before, said):
    """All that was acknowledged is there, for the object at hand, for others, and for the next call of each.

    And all or nothing of a call is: nothing where it said so.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.JournalWarning)  # a torn last line
        again = rb.Optimizer.resume(path)
    assert again.history == opt.history
    for number, value in TOLD.items():
        assert opt.history[number].value in (value, value + 0.5)
    if isinstance(said, JournalError) and "not recorded" in str(said):
        assert opt.history == before
    elif said is DONE:
        assert opt.history != before
    if said is not OTHERS and "whether" not in str(said):
        new = {NEW[name] for name in NEW if operation is OPERATIONS[name]}
        assert len(opt.history) - len(before) in {0, *new}
    asked, other = opt.ask(), again.ask()
    assert len({asked.number, other.number, *(t.number for t in before.trials if t.state != "queued")}) > len(before)
    opt.tell(asked, 1.0)
    again.tell(other, 2.0)
    assert rb.Optimizer.resume(path).history == opt.history == again.history
    check_new(path.with_name("new"))


def check_new(path):
    """A study whose beginning failed can be begun."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.JournalWarning)
        opt = begin(path)
    opt.tell(opt.ask(), 1.0)
    assert rb.Optimizer.resume(path).history == opt.history


def outcome(operation, opt, path, calls, *errors):
    """`DONE`, or the error; None where there is nothing to record."""
    try:
        with calls.watched():
            operation(opt, path)
    except errors as error:
        return error
    return DONE if records(operation) else None


def records(operation):
    return operation not in (OPERATIONS["resume"], OPERATIONS["begin"])


@pytest.mark.few(1)
def test_each_error_of_the_system_loses_nothing(operation, tmp_path):
    for path, opt, calls in each(operation, tmp_path, ERRORS):
        before = opt.history
        check(operation, path, opt, before, outcome(operation, opt, path, calls, JournalError))
        assert calls.names[-1] == "unlink" or not list(path.parent.glob(".*.new"))


@pytest.mark.slow
def test_nor_does_one_that_lasts(operation, tmp_path):
    for path, opt, calls in each(operation, tmp_path, {name: ERRORS[name] for name in LASTING}):
        calls._lasts = True
        before = opt.history
        check(operation, path, opt, before, outcome(operation, opt, path, calls, JournalError))


@pytest.mark.slow
def test_nor_an_interrupt(operation, tmp_path):
    for path, opt, calls in each(operation, tmp_path, INTERRUPTS):
        before = opt.history
        check(operation, path, opt, before, outcome(operation, opt, path, calls, KeyboardInterrupt))


@pytest.mark.few(1)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_nor_a_kill(operation, tmp_path):
    for path, opt, calls in each(operation, tmp_path, DEATHS):
        child = os.fork()
        if not child:
            outcome(operation, opt, path, calls)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) in (0, 9)
        check(operation, path, opt, opt.history, None)


@pytest.mark.few(2)
def test_another_writer_at_any_moment(operation, tmp_path):
    told = []

    def tell():
        try:
            told.append(other.tell({"x": 0.25, "c": "a"}, 25.0).number)
        except rb.LockTimeout:  # it is locked just then
            told.append(None)

    disk.TIMEOUT_S = 0.02
    for path, opt, calls in each(operation, tmp_path, {"other": meanwhile(tell)}):
        other = rb.Optimizer.resume(path)
        before = opt.history
        outcome(operation, opt, path, calls)
        assert all(opt.history[number].value == 25.0 for number in told if number is not None)
        check(operation, path, opt, before, OTHERS)
        told.clear()


def test_a_clock_that_goes_back(tmp_path, monkeypatch):
    for path, opt, calls in each(
        OPERATIONS["ask for three"],
        tmp_path,
        {"clock": meanwhile(lambda: monkeypatch.setattr(worker, "now", lambda: LONG_AGO))},
    ):
        assert outcome(OPERATIONS["ask for three"], opt, path, calls)
        monkeypatch.undo()
        assert len(opt.pending()) == 4
        assert opt.pending()[-1].number in (2, 5)  # the order of asking is not lost
        assert len(opt.requeue(older_than=timedelta(days=365))) in (0, 3)
        assert rb.Optimizer.resume(path).history == opt.history


@pytest.mark.few(3)
def test_nor_does_a_clock_that_goes_back_at_any_moment(operation, tmp_path, monkeypatch):
    for path, opt, calls in each(operation, tmp_path, {"clock": lambda *given: None}):
        before = opt.history
        with monkeypatch.context() as clock:
            calls._fault = meanwhile(lambda clock=clock: clock.setattr(worker, "now", lambda: LONG_AGO))
            said = outcome(operation, opt, path, calls)
        check(operation, path, opt, before, said)


@pytest.mark.few(3)
def test_a_deleted_file_is_said_to_be_gone_and_nothing_is_put_in_its_place(operation, tmp_path):
    if not records(operation):
        pytest.skip("needs no file that is there")
    for path, opt, calls in each(operation, tmp_path, {"deleted": lambda *given: None}):
        kept = path.read_bytes()
        calls._fault = meanwhile(path.unlink)
        outcome(operation, opt, path, calls, JournalError)
        assert not path.exists()
        with pytest.raises(JournalError, match="is gone"):
            opt.ask()
        assert not path.exists()
        path.write_bytes(kept)  # put back
        opt = rb.Optimizer.resume(path)
        check(operation, path, opt, opt.history, None)


def changed(operation, folder, change):
    """Each study whose file is changed at a call: the file, and what the next ask says; it leaves the file as it is."""
    if not records(operation):
        pytest.skip("needs no file that is there")
    noticed = 0
    for path, opt, calls in each(operation, folder, {"changed": None}):
        calls._fault = meanwhile(lambda path=path: change(path))
        outcome(operation, opt, path, calls, JournalError)
        before, said = path.read_bytes(), None
        try:
            opt.ask()
        except JournalError as error:
            noticed, said = noticed + 1, str(error)
        assert said is None or path.read_bytes() == before
        yield path, said
    assert noticed > 5  # what is changed during the write is noticed by others alone


@pytest.mark.few(7)
@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_file_that_is_cut_short_is_noticed_and_left_as_it_is(operation, is_replaced, tmp_path):
    def cut(path):
        data = path.read_bytes()
        if is_replaced:
            path.unlink()
        path.write_bytes(data[: len(data) // 2])

    for path, said in changed(operation, tmp_path, cut):
        if said is None:  # cut between its last look at the file's size and the write: there is a hole now
            with pytest.raises(JournalError, match=r"line \d: damaged"):
                rb.Optimizer.resume(path)
        else:
            assert "cut short" in said or "damaged" in said


@pytest.mark.few(4)
def test_a_value_that_is_edited_is_noticed_and_the_others_can_be_proven(operation, tmp_path):
    def edit(path):
        path.write_bytes(path.read_bytes().replace(b'"value": 10.0', b'"value": 90.0'))

    for path, said in changed(operation, tmp_path, edit):
        assert said is None or "line 3: damaged" in said
        for reader in (rb.Optimizer, rb.Study):
            with pytest.raises(JournalError, match="line 3: damaged"):
                reader.resume(path)
        found = salvage_journal(path)
        assert [left.line for left in found.left] == [3]
        assert [t.value for t in found.history.trials[:2]] in ([None, 11.0], [None, 11.5])
