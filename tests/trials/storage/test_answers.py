import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

import robustbo as rb
from robustbo.errors import JournalError, JournalWarning, JournalWriteError
from robustbo.trials.storage import answers, database, disk, places
from robustbo.trials.storage.addresses import parse
from tests.trials.storage.rows import engine, optimizer

SHORT_S, LIMIT_S = 0.2, 0.6


@pytest.fixture
def soon(monkeypatch):
    """Deadlines that a test can wait for."""
    monkeypatch.setattr(disk, "PATIENCE_S", SHORT_S)
    monkeypatch.setattr(answers, "ANSWER_S", LIMIT_S)
    monkeypatch.setattr(answers, "CONNECT_S", 2)  # psycopg waits for two seconds at least
    monkeypatch.setattr(database, "TIMEOUT_S", LIMIT_S)


@contextmanager
def stopped(address, *others):
    """Stop the processes that serve the connections of this one, as a machine that hangs would, and others."""
    asked = sa.text("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'")
    with engine(address).connect() as connection:
        pids = [*connection.scalars(asked), *others]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


SILENT = rf"\*\*\*@.*the server has not answered for {SHORT_S} s; waiting {LIMIT_S} s"


def test_a_connection_that_hangs_is_replaced_by_another(postgresql, soon):
    study = optimizer(postgresql)
    with stopped(postgresql), pytest.warns(JournalWarning, match=SILENT):
        assert study.tell({"x": 0.5}, 1.0).value == 1.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*the server has not answered:robustbo.errors.JournalWarning")  # more than one
def test_a_server_that_stops_answering_is_waited_for_aloud_and_not_for_ever(server, postgresql, soon):
    study = optimizer(postgresql)
    all_of_it = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
    with stopped(postgresql, all_of_it):
        for call in (lambda: study.tell({"x": 0.5}, 1.0), study.ask):
            with pytest.raises(JournalError, match=r"cannot be .*timeout expired"):
                call()
    assert study.tell({"x": 0.5}, 1.0).number == 0


def test_one_that_stops_answering_during_a_write_leaves_open_whether_it_was_written(postgresql, soon, monkeypatch):
    study, insert = optimizer(postgresql), database._insert

    def hanging(connection, rows):
        with monkeypatch.context() as once:
            once.setattr(database, "_insert", insert)
            with stopped(postgresql):
                insert(connection, rows)

    monkeypatch.setattr(database, "_insert", hanging)
    why = r"broke during a write \(the server has not answered for 0\.6 s\) .* before you tell"
    with pytest.warns(JournalWarning, match="has not answered"), pytest.raises(JournalWriteError, match=why):
        study.tell({"x": 0.5}, 1.0)


@pytest.mark.slow
def test_a_port_that_is_silent_is_waited_for_aloud_and_not_for_ever(soon):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://user:s3cret@127.0.0.1:{silent.getsockname()[1]}/lab#oven"
        with (
            pytest.warns(JournalWarning, match=r"user:\*\*\*@127.* has not answered for 0\.2 s; waiting 2 s at most"),
            pytest.raises(JournalError, match=r"cannot be read: .*timeout expired"),
        ):
            places.resume(address)


def test_a_lock_that_the_server_waits_for_is_no_silence(postgresql, monkeypatch):
    study, other = optimizer(postgresql), rb.Optimizer.resume(postgresql)
    assert study.ask().number == 0
    with engine(postgresql).connect() as connection:
        monkeypatch.setattr(answers, "ANSWER_S", 0.0)
        monkeypatch.setattr(disk, "PATIENCE_S", 60.0)
        with answers.allow_wait(connection, 60.0):
            assert connection.scalar(sa.text("SELECT 1 FROM pg_sleep(0.3)")) == 1
        with pytest.raises(sa.exc.OperationalError, match=r"has not answered for 0 s"):
            connection.scalar(sa.text("SELECT 1 FROM pg_sleep(0.3)"))
    monkeypatch.undo()
    assert other.ask().number == 1


def test_what_the_address_says_goes_before_our_limits():
    plain, own = (parse(f"postgresql://user@host/lab{query}#oven") for query in ("", "?keepalives_idle=5"))
    assert answers.limits(plain) == answers.LIMITS
    assert answers.limits(own) == {k: v for k, v in answers.LIMITS.items() if k != "keepalives_idle"}
    assert answers.limits(parse("mysql+pymysql://user@host/lab#oven")) == {}


BROKEN = """
import sys
import sqlalchemy as sa
import robustbo as rb
from robustbo.trials.storage import database
from robustbo.trials.storage.addresses import parse
from robustbo.trials.storage.connections import engine

place, insert = sys.argv[1], database._insert
space = rb.Space(x=rb.Float(0, 1))
opt = rb.Optimizer(space, direction="minimize", acquisition="sobol", seed=0, journal=place)

def broken(connection, rows):
    database._insert = insert
    pid = connection.scalar(sa.text("SELECT pg_backend_pid()"))
    with engine(parse(place)).connect() as other:
        other.execute(sa.text(f"SELECT pg_terminate_backend({pid})"))
    return insert(connection, rows)

database._insert = broken
print([trial.number for trial in opt.ask(3)], len(rb.Optimizer.resume(place).history))
"""


@pytest.mark.slow
def test_a_connection_that_breaks_in_a_write_of_several_says_nothing_on_standard_error(postgresql):
    done = subprocess.run([sys.executable, "-c", BROKEN, postgresql], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 1, 2] 3\n", "")
