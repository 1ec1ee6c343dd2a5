import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest
import sqlalchemy as sa

from robustbo.errors import JournalError, JournalWarning, LockTimeout
from robustbo.trials import worker
from robustbo.trials.storage import connections, decisions, disk
from robustbo.trials.storage.addresses import parse
from robustbo.trials.storage.decisions import decision_lock

HOLD = """
import sys, time
from robustbo.trials.storage.addresses import parse
from robustbo.trials.storage.decisions import decision_lock
with decision_lock(parse(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_decides_at_a_time(address):
    inside = []

    def decide(_):
        with decision_lock(parse(address)):
            inside.append(threading.get_ident())
            before = len(inside)
            threading.Event().wait(0.01)
            assert len(inside) == before
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(decide, range(16)))


def test_who_waits_for_long_is_told_who_decides(address, monkeypatch):
    monkeypatch.setattr(decisions, "DECISION_TIMEOUT_S", 0.2)
    who = rf"process {os.getpid()} has" if parse(address).is_file else rf"{worker.name()} has been deciding"
    with decision_lock(parse(address)):
        with pytest.raises(LockTimeout, match=rf"{who}.* for more than 0\.2 s; nothing was recorded; end that process"):
            decision_lock(parse(address)).__enter__()
        with decision_lock(parse(f"{address}-other")):
            pass
    with decision_lock(parse(address)):
        pass


def test_who_waits_is_told_for_whom(address, monkeypatch):
    monkeypatch.setattr(disk, "PATIENCE_S", 0.1)
    monkeypatch.setattr(decisions, "DECISION_TIMEOUT_S", 0.3)
    who = rf"process {os.getpid()}" if parse(address).is_file else worker.name()
    said = pytest.warns(JournalWarning, match=rf"{who} has it locked; waiting for it, 0\.3 s")
    with decision_lock(parse(address)), said, pytest.raises(LockTimeout):
        decision_lock(parse(address)).__enter__()


def test_the_lock_of_a_process_that_is_killed_is_free(address, monkeypatch):
    monkeypatch.setattr(decisions, "DECISION_TIMEOUT_S", 10.0)
    with subprocess.Popen([sys.executable, "-c", HOLD, address], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"held\n"
        process.send_signal(signal.SIGKILL)
        with decision_lock(parse(address)):
            pass


def test_a_decision_ends_well_although_its_connection_has_broken(postgresql):
    others = sa.text(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = :name "
        "AND pid <> pg_backend_pid()"
    )
    with decision_lock(parse(postgresql)), connections.engine(parse(postgresql)).connect() as connection:
        assert connection.scalar(others, {"name": worker.name()})
    with decision_lock(parse(postgresql)):
        pass


def test_a_lock_that_cannot_be_had_is_an_error(tmp_path):
    address = parse(f"sqlite:///{tmp_path}/lab.db#oven")
    address.lock_file.mkdir()
    with pytest.raises(JournalError, match=r"\.lock: must be a file that is locked, .* a folder; delete it"):
        decision_lock(address).__enter__()


def test_an_unreachable_server_is_an_error(server):
    with pytest.raises(JournalError, match="nothing was recorded: connection failed"):
        decision_lock(parse(server.address.replace(str(server.port), "1"))).__enter__()


def test_elsewhere_nobody_is_kept_from_deciding():
    assert isinstance(decision_lock(parse("mysql+pymysql://user@host/lab#oven")), nullcontext)
