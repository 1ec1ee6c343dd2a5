import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest
import sqlalchemy as sa

import robustbo as rb
from robustbo.errors import JournalError, JournalWriteError, LockTimeout
from robustbo.trials.storage import connections, database, places
from tests.trials import postgres
from tests.trials.storage.rows import engine, optimizer


def test_a_database_that_is_locked_for_long_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "TIMEOUT_S", 0.1)
    address = f"sqlite:///{tmp_path}/lab.db#oven"
    study = optimizer(address)
    with closing(sqlite3.connect(tmp_path / "lab.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LockTimeout, match=r"had it locked for more than 0\.1 s; nothing was recorded"):
            study.tell({"x": 0.5}, 1.0)
        other.execute("ROLLBACK")
    assert study.tell({"x": 0.5}, 1.0).value == 1.0


def test_a_database_that_must_not_be_written_to_is_an_error(postgresql):
    optimizer(postgresql)
    study = rb.Optimizer.resume(postgresql.replace("#", "?options=-c%20default_transaction_read_only%3Don#"))
    with pytest.raises(
        JournalWriteError, match="nothing was recorded: cannot execute INSERT in a read-only transaction"
    ):
        study.tell({"x": 0.5}, 1.0)


def test_a_full_disk_records_nothing(tmp_path):
    resource = pytest.importorskip("resource", reason="limits the size of files on POSIX alone")
    address = f"sqlite:///{tmp_path}/lab.db#oven"
    study = optimizer(address)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "lab.db").stat().st_size, hard))
    try:
        with pytest.raises(JournalWriteError, match="nothing was recorded"):
            study.fail({"x": 0.5}, "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(rb.Optimizer.resume(address).history) == 0
    assert study.tell({"x": 0.5}, 1.0).number == 0


def test_a_commit_of_sqlite_survives_a_power_cut(tmp_path):
    with engine(f"sqlite:///{tmp_path}/lab.db").connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3  # EXTRA


@pytest.mark.parametrize("address", ["oracle+cx_oracle://user:s3cret@host/lab", "nonsense://user:s3cret@host/lab"])
def test_a_driver_that_is_not_there_is_an_error_that_says_what_to_install(address):
    with pytest.raises(
        JournalError, match=r"needs a driver that is not installed .* pip install 'robustbo\[database\]'"
    ) as e:
        places.resume(address)
    assert "s3cret" not in str(e.value)


def test_without_sqlalchemy_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        "from robustbo.trials.storage import places\n"
        "try: places.resume('sqlite:///lab.db')\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("JournalError a journal in a database needs sqlalchemy")
    assert "pip install 'robustbo[database]'" in done.stdout


def test_the_password_is_in_no_message_and_no_name(server):
    wrong = server.address.replace(postgres.PASSWORD, "s3cret")
    nobody = server.address.replace(str(server.port), "1")
    for address in (wrong, nobody):
        for call in (places.resume, optimizer):
            with pytest.raises(JournalError, match=r"postgres:\*\*\*@127\.0\.0\.1") as caught:
                call(f"{address}#oven")
            assert not {"s3cret", postgres.PASSWORD} & set(str(caught.value).replace("@", ":").split(":"))


@contextmanager
def at_commit(address, do):
    """Do something at the next commit, where the connection has yet to be told of it."""
    left = [do]

    def listener(connection):
        if left:
            left.pop()(connection.connection.dbapi_connection)

    sa.event.listen(engine(address), "commit", listener)
    yield
    sa.event.remove(engine(address), "commit", listener)
    assert not left


def ended(address, connection):
    """End a connection of PostgreSQL at its other end."""
    with engine(address).connect() as other:
        other.execute(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": connection.info.backend_pid})


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_connection_that_breaks_during_a_commit_neither_loses_nor_doubles_an_event(postgresql, is_committed):
    def broken(connection):
        if is_committed:
            connection.commit()
        ended(postgresql, connection)

    study = optimizer(postgresql)
    with at_commit(postgresql, broken):
        told = study.tell({"x": 0.5}, 1.0)
    study.tell({"x": 0.25}, 2.0)
    assert (told.number, told.value) == (0, 1.0)
    assert [trial.value for trial in rb.Optimizer.resume(postgresql).history] == [1.0, 2.0]


def test_where_somebody_else_was_faster_a_broken_write_reads_on(postgresql):
    study, other = optimizer(postgresql), rb.Optimizer.resume(postgresql)

    def broken(connection):
        ended(postgresql, connection)
        other.tell({"x": 0.25}, 2.0)

    with at_commit(postgresql, broken):
        assert study.tell({"x": 0.5}, 1.0).number == 1
    assert [trial.value for trial in rb.Optimizer.resume(postgresql).history] == [2.0, 1.0]


@pytest.mark.parametrize("is_committed", [False, True])
def test_an_interrupt_during_a_commit_leaves_nothing_to_be_put_right(address, is_committed):
    def interrupted(connection):
        if is_committed:
            connection.commit()
        raise KeyboardInterrupt

    study = optimizer(address)
    with at_commit(address, interrupted), pytest.raises(KeyboardInterrupt):
        study.tell({"x": 0.5}, 1.0)
    assert study.tell({"x": 0.25}, 2.0).number == int(is_committed)
    assert rb.Optimizer.resume(address).history == study.history


def test_a_server_that_does_not_come_back_is_an_error_that_says_what_is_not_known(postgresql, monkeypatch):
    monkeypatch.setattr(database, "TIMEOUT_S", 0.2)
    monkeypatch.setattr(database, "RETRY_S", 0.05)
    study = optimizer(postgresql)

    def broken(connection, rows):
        raise sa.exc.OperationalError("INSERT", {}, Exception("gone"), connection_invalidated=True)

    with monkeypatch.context() as gone:
        gone.setattr(database, "_insert", broken)
        with pytest.raises(JournalWriteError, match=r"connection broke during a write \(gone\) .* before you tell"):
            study.tell({"x": 0.5}, 1.0)
    assert study.tell({"x": 0.5}, 1.0).number == 0


def test_a_server_may_be_started_again(server, postgresql):
    study = optimizer(postgresql)
    study.tell({"x": 0.5}, 1.0)
    server.stop()
    try:
        for call in (lambda: study.tell({"x": 0.25}, 2.0), study.ask, lambda: rb.Optimizer.resume(postgresql)):
            with pytest.raises(JournalError, match=r"\*\*\*@127\.0\.0\.1.*: cannot be") as caught:
                call()
            assert postgres.PASSWORD not in str(caught.value)
    finally:
        server.start()
    study.tell({"x": 0.25}, 2.0)
    assert [trial.value for trial in rb.Optimizer.resume(postgresql).history] == [1.0, 2.0]
