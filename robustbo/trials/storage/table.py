"""The table of a database that studies are kept in, a row a line of a journal."""

from contextlib import suppress
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from robustbo.errors import JournalError
from robustbo.trials.storage.addresses import Address
from robustbo.trials.storage.connections import connect, explain_errors, unreadable, unwritable

TABLE = sa.Table(
    "robustbo_events",
    sa.MetaData(),
    sa.Column("study", sa.String(255), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("line", sa.Text, nullable=False),
)


def make_table(address: Address) -> None:
    """Make the table of a database that has none, and look at one that is there.

    Raises:
        JournalError: If it cannot be made, or is none that this program makes.
    """
    with explain_errors(unwritable, address):
        try:
            if address.is_file:
                address.file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(address, error) from None
        with connect(address) as connection:
            if not sa.inspect(connection).has_table(TABLE.name):
                with suppress(SQLAlchemyError):  # somebody else makes it at this moment; if not, a write will say why
                    connection.execute(sa.schema.CreateTable(TABLE, if_not_exists=True))
                    connection.commit()
            else:
                check_key(address, connection)


def check_key(address: Address, connection: sa.Connection) -> None:
    """Raise a `JournalError` for a table that would take a row twice: of two who write it, neither would be told."""
    key = [column.name for column in TABLE.primary_key]
    with explain_errors(unreadable, address):
        inspected = sa.inspect(connection)
        unique_keys: list[Any] = [inspected.get_pk_constraint(TABLE.name)["constrained_columns"]]
        unique_keys += [index["column_names"] for index in inspected.get_indexes(TABLE.name) if index["unique"]]
    if not any(sorted(map(str, columns)) == sorted(key) for columns in unique_keys):
        raise JournalError(
            f"{address.name}: the table {TABLE.name} must have the primary key ({', '.join(key)}), and has lost it, so "
            "that two could write the same row; copy its rows into a table that has it"
        )
