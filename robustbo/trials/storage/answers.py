"""A server that stops answering: for how long it is waited for, what is said meanwhile, and the error in the end.

A server that hangs does not keep its own deadlines, and a firewall that drops packets breaks no connection. So the
client counts: psycopg looks several times a second whether an answer has come, and between two looks the time is
compared. What an address itself says (``?connect_timeout=60``) goes before the limits for connecting.
"""

import logging
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from functools import cache
from typing import Any

import sqlalchemy as sa

from robustbo.errors import JournalWarning, warn
from robustbo.trials.storage import disk
from robustbo.trials.storage.addresses import Address

CONNECT_S = 10
LEAST_S = 2  # that psycopg waits for a connection
ANSWER_S = 60.0  # to a statement; more than a lock is waited for during a write
LIMITS = {  # of libpq: a peer that is gone is noticed within a minute
    "keepalives": 1,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,  # ms
}
OF_LIBPQ = ("psycopg", "psycopg2")
TIMED_OUT = "ConnectionTimeout"

# What psycopg logs of a connection that broke is raised, too: it is for those who keep a log, and not for standard
# error, where Python puts what nobody keeps.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


def limits(address: Address) -> dict[str, Any]:
    """The arguments of a connection that end it where its other end is gone, except for those that the address has."""
    if address.dialect != "postgresql" or address.url.get_driver_name() not in OF_LIBPQ:
        return {}
    return {key: value for key, value in LIMITS.items() if key not in address.url.query}


class Watched:
    """A watch over a connection of psycopg's, so that no statement waits for ever."""

    place = ""
    allowed_s = 0.0  # for which the server has been told to wait itself

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        """Wait for an answer; see `psycopg.Connection.wait`."""
        return super().wait(self._watch(gen), *args, **kwargs)  # type: ignore[misc]

    def _watch(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        start_s, is_warned, ready = time.monotonic(), False, None
        with closing(gen):
            while True:
                try:
                    state = gen.send(ready)
                except StopIteration as end:
                    return end.value
                ready = yield state
                silent_s = time.monotonic() - start_s - self.allowed_s
                if silent_s > ANSWER_S:
                    self.pgconn.finish()  # type: ignore[attr-defined]
                    raise self.OperationalError(f"the server has not answered for {ANSWER_S:g} s")  # type: ignore[attr-defined]
                if silent_s > disk.PATIENCE_S and not is_warned:
                    is_warned = True
                    warn_of_silence(self.place, ANSWER_S)


def warn_of_silence(place: str, timeout_s: float) -> None:
    """Say that we wait for a server, and for how long at most."""
    warn(
        f"{place}: the server has not answered for {disk.PATIENCE_S:g} s; waiting {timeout_s:g} s at most",
        JournalWarning,
    )


@cache
def _connection_class(base: type, error: type) -> type:
    return type("WatchedConnection", (Watched, base), {"OperationalError": error})


def connector(address: Address) -> Callable[..., Any]:
    """A function that makes a watched connection of psycopg's, for SQLAlchemy's event "do_connect"."""

    def connect(dialect: Any, _: object, args: Any, options: dict[str, Any]) -> Any:
        dbapi = dialect.loaded_dbapi
        kind: Any = _connection_class(dbapi.Connection, dbapi.OperationalError)
        connection = (
            _first(kind, address, args, options) if "connect_timeout" not in options else kind.connect(*args, **options)
        )
        connection.place = address.name
        return connection

    return connect


def _first(kind: Any, address: Address, args: Any, options: dict[str, Any]) -> Any:
    """A connection; where the server is silent that is said, and tried once more."""
    try:
        return kind.connect(*args, **options, connect_timeout=max(LEAST_S, round(disk.PATIENCE_S)))
    except kind.OperationalError as error:
        if type(error).__name__ != TIMED_OUT:
            raise
    warn_of_silence(address.name, CONNECT_S)
    return kind.connect(*args, **options, connect_timeout=CONNECT_S)


@contextmanager
def allow_wait(connection: sa.Connection, time_s: float) -> Iterator[None]:
    """Let a server wait for some time by itself, as it is told to, before its answer is late."""
    driver = connection.connection.driver_connection
    if not isinstance(driver, Watched):
        yield
        return
    driver.allowed_s = time_s
    try:
        yield
    finally:
        driver.allowed_s = 0.0
