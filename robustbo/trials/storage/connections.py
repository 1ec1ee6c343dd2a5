"""The connections of a process to databases, and what to say where one fails: never with a password."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

from robustbo.errors import JournalError, JournalWriteError, LockTimeout
from robustbo.trials import worker
from robustbo.trials.storage.addresses import Address
from robustbo.trials.storage.answers import connector, limits
from robustbo.trials.storage.disk import TIMEOUT_S

SQLITE = "PRAGMA synchronous = EXTRA"  # a commit survives a power cut: the folder is synced too
POSTGRESQL = (  # the server finds out within a minute that a machine is gone, and lets go of what it had locked
    f"SET lock_timeout = {1000 * TIMEOUT_S:.0f}; SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; "
    "SET tcp_keepalives_count = 3"
)
BUSY = "SQLITE_BUSY"
LOCKED = (BUSY, "55P03")  # how the codes begin of what was locked for too long

Failed = Callable[[Address, Exception], JournalError]

_engines: dict[tuple[int, str], sa.Engine] = {}


def unreadable(address: Address, error: Exception) -> JournalError:
    """The error to raise where reading has failed."""
    return _timeout_error(address, error) or JournalError(f"{address.name}: cannot be read: {reason(address, error)}")


def unwritable(address: Address, error: Exception) -> JournalError:
    """The error to raise where nothing was written."""
    message = f"{address.name}: cannot be written, and nothing was recorded: {reason(address, error)}"
    return _timeout_error(address, error) or JournalWriteError(message)


@contextmanager
def explain_errors(failed: Failed, address: Address) -> Iterator[None]:
    """Say of what fails what it was."""
    try:
        yield
    except SQLAlchemyError as error:
        raise failed(address, error) from None


@contextmanager
def connect(address: Address, failed: Failed = unwritable) -> Iterator[sa.Connection]:
    """A connection that has been seen to work; what was not committed at its end has not been.

    Raises:
        JournalError: If no connection is possible.
    """
    with explain_errors(failed, address):
        connection = engine(address).connect()
    is_usable = True
    try:
        yield connection
    except Exception:
        raise
    except BaseException:  # an interrupt leaves it in a state that nobody knows
        is_usable = False
        raise
    finally:
        _release(connection, is_usable)


def _release(connection: sa.Connection, is_usable: bool) -> None:
    """Give a connection back; one that is broken, or might be, is not used again."""
    with suppress(SQLAlchemyError):
        if is_usable:
            connection.close()
            return
    with suppress(SQLAlchemyError):
        connection.invalidate()
    with suppress(SQLAlchemyError):
        connection.close()


def engine(address: Address) -> sa.Engine:
    """The connections of this process to a database; a forked one has its own, and leaves those of its parent alone."""
    key = os.getpid(), address.url.render_as_string(hide_password=False)
    if key not in _engines:
        _engines.setdefault(key, _make_engine(address))
    return _engines[key]


def _make_engine(address: Address) -> sa.Engine:
    try:
        arguments, pool = _options(address)
        database_engine = sa.create_engine(address.url, connect_args=arguments, **pool)
    except (NoSuchModuleError, ImportError) as error:  # the latter too where psycopg lacks its library
        raise JournalError(
            f"{address.name}: needs a driver that is not installed ({reason(address, error)}); "
            "pip install 'robustbo[database]' installs that of PostgreSQL"
        ) from None
    except (SQLAlchemyError, TypeError, ValueError) as error:
        raise JournalError(f"{address.name}: is not a usable address: {reason(address, error)}") from None
    if address.dialect in ("sqlite", "postgresql"):
        sa.event.listen(
            database_engine, "connect", _set_up_sqlite if address.dialect == "sqlite" else _set_up_postgresql
        )
    if address.url.get_driver_name() == "psycopg":
        sa.event.listen(database_engine, "do_connect", connector(address))
    return database_engine


def _options(address: Address) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of a connection, and of the pool of them.

    A SQLite file is opened anew each time. Others keep two: one decides while the other writes.
    """
    if address.is_file:
        return {"timeout": TIMEOUT_S}, {"poolclass": sa.NullPool}
    arguments = limits(address)
    if address.dialect == "postgresql" and "application_name" not in address.url.query:
        arguments["application_name"] = worker.name()  # who decides, where somebody waits for long
    if address.url.get_driver_name() == "psycopg":
        arguments["prepare_threshold"] = None  # prepared statements do not work behind each pool of connections
    return arguments, {"pool_size": 2, "max_overflow": -1, "pool_pre_ping": True}


def _set_up_sqlite(connection: Any, _: object) -> None:
    connection.text_factory = _text
    connection.execute(SQLITE)


def _text(data: bytes) -> str:
    """Any bytes: a damaged line is found by its checksum, and named."""
    return data.decode(errors="surrogateescape")


def _set_up_postgresql(connection: Any, _: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(POSTGRESQL)
    connection.commit()


def reason(address: Address, error: Exception) -> str:
    """A database's words, in a line and without the password."""
    message = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
    return address.without_passwords(message)


def code(error: Exception) -> str:
    """The code of what a database said: an SQLSTATE, or SQLite's name of it; empty where there is none."""
    cause = getattr(error, "orig", None)
    codes = [getattr(cause, name, None) for name in ("sqlstate", "pgcode", "sqlite_errorname")]
    return next((str(text) for text in codes if text), "")


def _timeout_error(address: Address, error: Exception) -> JournalError | None:
    if not code(error).startswith(LOCKED):
        return None
    return LockTimeout(
        f"{address.name}: another process has had it locked for more than {TIMEOUT_S:g} s; nothing was recorded; end "
        "that process if it hangs, and try again"
    )
