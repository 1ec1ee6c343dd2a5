"""The right to decide on the next point of a study in a database: one process at a time, while others append.

On PostgreSQL it is an advisory lock that lasts as long as a transaction of its own, so that it ends with the process,
whatever ends it, and works behind a pool of connections. For a file it is a lock on another beside it. Elsewhere there
is none: of two who decide at once one finds that a trial has begun since, and decides again.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from robustbo.errors import LockTimeout
from robustbo.trials.storage import disk
from robustbo.trials.storage.addresses import Address
from robustbo.trials.storage.answers import allow_wait
from robustbo.trials.storage.connections import code, connect, explain_errors, unwritable
from robustbo.trials.storage.journal_file import DECISION_TIMEOUT_S
from robustbo.trials.storage.lock_files import lock_file

LOCK_NOT_AVAILABLE = "55P03"
NO_LIMIT = "0"
LIMITS = sa.select(
    sa.func.set_config("lock_timeout", sa.bindparam("limit"), True),  # True: for this transaction
    sa.func.set_config("statement_timeout", NO_LIMIT, True),
    sa.func.set_config("idle_in_transaction_session_timeout", NO_LIMIT, True),
)
LOCK = sa.select(sa.func.pg_advisory_xact_lock(sa.bindparam("first"), sa.bindparam("second")))
HOLDER = sa.text(
    "SELECT a.application_name FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid "
    "WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND a.datname = current_database() "
    "AND l.classid::bigint = :first AND l.objid::bigint = :second"
)


def decision_lock(address: Address) -> AbstractContextManager[object]:
    """Keep others from deciding on a study's next point, where that is possible.

    Raises:
        LockTimeout: If somebody else decides for long.
        JournalError: If the lock cannot be had.
    """
    if address.is_file:
        return _file(address)
    return _advisory(address) if address.dialect == "postgresql" else nullcontext()


def _file(address: Address) -> AbstractContextManager[object]:
    try:
        return lock_file(address.lock_file, DECISION_TIMEOUT_S)
    except FileNotFoundError as error:
        raise unwritable(address, error) from None


@contextmanager
def _advisory(address: Address) -> Iterator[None]:
    with connect(address) as connection:  # whose end ends the transaction
        is_locked = False
        if disk.PATIENCE_S < DECISION_TIMEOUT_S and not (is_locked := _acquire(address, connection, disk.PATIENCE_S)):
            disk.warn_of_lock(address.name, _holder(address, connection), DECISION_TIMEOUT_S)
        if not (is_locked or _acquire(address, connection, DECISION_TIMEOUT_S)):
            raise LockTimeout(
                f"{address.name}: {_holder(address, connection)} has been deciding on a next point for more than "
                f"{DECISION_TIMEOUT_S:g} s; nothing was recorded; end that process if it hangs, and try again"
            )
        yield


def _acquire(address: Address, connection: sa.Connection, timeout_s: float) -> bool:
    """Return whether the lock was acquired within some time."""
    first, second = address.key
    try:
        connection.execute(LIMITS, {"limit": f"{1000 * timeout_s:.0f}"})
        with allow_wait(connection, timeout_s):
            connection.execute(LOCK, {"first": first, "second": second})
    except SQLAlchemyError as error:
        if code(error) != LOCK_NOT_AVAILABLE:
            raise unwritable(address, error) from None
        return False
    return True


def _holder(address: Address, connection: sa.Connection) -> str:
    """The process that holds the lock."""
    first, second = (number & 0xFFFFFFFF for number in address.key)  # as pg_locks shows them
    with explain_errors(unwritable, address):
        connection.rollback()
        return connection.scalar(HOLDER, {"first": first, "second": second}) or disk.ANOTHER
