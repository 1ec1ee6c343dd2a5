"""The log of an optimization in a database: a journal's lines, a row each, that many machines append to.

A row's number is part of the key, so that of two who append behind the same row one fails, reads on and tries again;
no lock is held while anybody thinks. SQLite, which does not serve many at once, is locked for the moment of a write.
An answer that is lost, because the connection broke, is no loss: the rows are written once more, and if they are there
already they are ours.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from robustbo.errors import JournalError, JournalMissing, JournalWriteError
from robustbo.trials.storage import addresses, decisions
from robustbo.trials.storage.addresses import Address
from robustbo.trials.storage.connections import code, connect, explain_errors, reason, unreadable, unwritable
from robustbo.trials.storage.disk import TIMEOUT_S
from robustbo.trials.storage.line import SCHEMA, Event, header_line, lines_of, parse
from robustbo.trials.storage.lock_files import check_lock
from robustbo.trials.storage.log import Conflict, Mark
from robustbo.trials.storage.reading import Contents
from robustbo.trials.storage.table import TABLE, check_key, make_table

CONFLICTS = ("40001", "40P01")  # SQLSTATEs: could not be serialized, deadlock
RETRY_S = 0.5


def display_name(address: str) -> str:
    """An address without its password."""
    return addresses.parse(address).name


def create(address: str, header: Mapping[str, Any]) -> tuple["DatabaseLog", Mark]:
    """Begin a study.

    Raises:
        FileExistsError: If it is there.
        JournalWriteError: If it cannot be written.
    """
    log = DatabaseLog(addresses.parse(address))
    line, check = header_line(header)
    make_table(log.address)
    with log.turn() as turn:
        try:
            turn.write([line], 0)
        except Conflict:
            raise FileExistsError(f"{log.name}: exists") from None
    return log, Mark(0, check)


def resume(address: str, *, is_watched: bool = False) -> tuple["DatabaseLog", Contents]:
    """A study to append to, or only to watch, and what is in it.

    Raises:
        JournalError: If there is none of that name, or a row is damaged; the message has its number.
    """
    log = DatabaseLog(addresses.parse(address))
    if log.address.is_gone:
        raise JournalMissing(f"{log.name}: there is no such database")
    with connect(log.address, unreadable) as connection:
        with explain_errors(unreadable, log.address):
            studies = _studies(connection)
        if log.address.study not in studies:
            names = ", ".join(map(repr, studies)) or "none yet"
            raise JournalMissing(f"{log.name}: there is no study {log.address.study!r}; the database has {names}")
        check_key(log.address, connection)
        if log.address.is_file and not is_watched:
            check_lock(log.address.lock_file)
        (header, *events), mark = DatabaseTurn(log, connection).behind(Mark(length=-1))
    if (schema := header.get("schema")) != SCHEMA:
        raise JournalError(
            f"{log.name}, row 0: must be a header of schema {SCHEMA}, got {schema!r}; use a newer robustbo"
        )
    return log, Contents(dict(header), [dict(event) for event in events], mark, b"")


def _studies(connection: sa.Connection) -> list[str]:
    """The names of the studies in a database."""
    if not sa.inspect(connection).has_table(TABLE.name):
        return []
    return list(connection.scalars(sa.select(TABLE.c.study).where(TABLE.c.number == 0).order_by(TABLE.c.study)))


class DatabaseLog:
    """The log that a study in a database is; see `trials.storage.log.Log`. It can be pickled, and used after a fork."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.name = address.name

    def has_grown(self, mark: Mark) -> bool:
        """Return whether there is more than up to a mark (or less); a study that is gone has not grown."""
        if self.address.is_gone:
            return False
        query = sa.select(sa.func.max(TABLE.c.number)).where(TABLE.c.study == self.address.study)
        with connect(self.address, unreadable) as connection, explain_errors(unreadable, self.address):
            last = connection.scalar(query)
        return last is not None and last != mark.length

    @contextmanager
    def turn(self) -> Iterator["DatabaseTurn"]:
        """A connection; with SQLite nobody else writes meanwhile.

        Raises:
            JournalWriteError: If the database cannot be reached, or must not be written to.
            LockTimeout: If somebody else has it locked for long.
        """
        if self.address.is_gone:
            raise JournalWriteError(f"{self.name}: is gone (deleted or moved), and nothing was recorded; restore it")
        with connect(self.address) as connection:
            if self.address.dialect == "sqlite":
                with explain_errors(unwritable, self.address):
                    connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield DatabaseTurn(self, connection)

    def decision_lock(self) -> AbstractContextManager[object]:
        """Keep others from deciding; see `trials.storage.decisions`."""
        return decisions.decision_lock(self.address)


class DatabaseTurn:
    """A study's rows; see `trials.storage.log.Turn`."""

    def __init__(self, log: DatabaseLog, connection: sa.Connection) -> None:
        self._log, self._connection = log, connection
        self._address = log.address

    def behind(self, mark: Mark) -> tuple[list[Event], Mark]:
        """The events behind a mark, whose own row is looked at again."""
        query = (
            sa.select(TABLE.c.number, TABLE.c.line)
            .where(TABLE.c.study == self._address.study, TABLE.c.number >= mark.length)
            .order_by(TABLE.c.number)
        )
        with explain_errors(unreadable, self._address):
            rows = [(number, line) for number, line in self._connection.execute(query)]
        if mark.length >= 0:
            (number, line), *rows = rows or [(None, None)]
            if number != mark.length or not str(line).endswith(f'"check": "{mark.check:08x}"}}'):
                raise JournalError(f"{self._log.name}, row {mark.length}: is not as it was: lost or changed")
        return self._follow(rows, mark)

    def _follow(self, rows: Sequence[tuple[int, object]], mark: Mark) -> tuple[list[Event], Mark]:
        events: list[Event] = []
        length, check = mark.length, mark.check
        for length, (number, line) in enumerate(rows, start=mark.length + 1):
            if number != length:
                raise JournalError(f"{self._log.name}, row {length}: lost; what follows is row {number}")
            data = line.encode(errors="surrogateescape") if isinstance(line, str) else b""
            if (parsed := parse(data, check)) is None:
                raise JournalError(f"{self._log.name}, row {number}: damaged (checksum or syntax); it is left as it is")
            content, check = parsed
            events.append(content)
        return events, Mark(length, check)

    def append(self, events: Sequence[Event], mark: Mark) -> Mark:
        """Write events behind a mark, all or none."""
        lines, check = lines_of(events, mark.check)
        if lines:
            self.write(lines, mark.length + 1)
        return Mark(mark.length + len(lines), check)

    def write(self, lines: Sequence[str], first: int) -> None:
        """Write rows from a number on, all or none; once more where the connection breaks, so that it is known.

        Raises:
            Conflict: If there are others.
            JournalWriteError: If they cannot be written.
        """
        study = self._address.study
        rows = [{"study": study, "number": number, "line": line} for number, line in enumerate(lines, start=first)]
        try:
            _insert(self._connection, rows)
        except DBAPIError as error:
            if error.connection_invalidated:
                self._write_again(rows, error)
            else:
                raise self._write_error(rows, error) from None
        except SQLAlchemyError as error:
            raise unwritable(self._address, error) from None

    def _write_error(self, rows: Sequence[Mapping[str, Any]], error: DBAPIError) -> Exception:
        """The error to raise where the database has refused rows: a conflict, if others are in their place."""
        if code(error) in CONFLICTS:
            return Conflict()
        if isinstance(error, IntegrityError):
            with explain_errors(unwritable, self._address):
                self._connection.rollback()
                if _line_at(self._connection, rows[0]) is not None:
                    return Conflict()
        return unwritable(self._address, error)

    def _write_again(self, rows: Sequence[Mapping[str, Any]], error: DBAPIError) -> None:
        """Write rows of which it is not known whether they have been written."""
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            with suppress(SQLAlchemyError, JournalWriteError), connect(self._address) as connection:
                try:
                    return _insert(connection, rows)
                except IntegrityError:
                    connection.rollback()
                    lines = [_line_at(connection, row) for row in rows]
                if lines == [row["line"] for row in rows]:
                    return None
                raise Conflict
            time.sleep(RETRY_S)
        raise JournalWriteError(
            f"{self._log.name}: the connection broke during a write ({reason(self._address, error)}) and the database "
            f"has not answered for {TIMEOUT_S:g} s; when it answers, look whether it recorded the event before you "
            "tell it again"
        )


def _insert(connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    connection.execute(sa.insert(TABLE), rows)
    connection.commit()


def _line_at(connection: sa.Connection, row: Mapping[str, Any]) -> str | None:
    """The line in place of a row; None if there is none."""
    is_there = (TABLE.c.study == row["study"]) & (TABLE.c.number == row["number"])
    return connection.scalar(sa.select(TABLE.c.line).where(is_there))
