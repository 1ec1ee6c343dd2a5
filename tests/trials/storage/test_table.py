"""The table of a database is one that takes each row once."""

import sqlite3
from contextlib import closing

import pytest

import robustbo as rb
from robustbo.errors import JournalError

SPACE = rb.Space(x=rb.Float(0, 1))


@pytest.fixture
def address(tmp_path):
    address = f"sqlite:///{tmp_path}/lab.db#oven"
    rb.Optimizer(SPACE, direction="minimize", seed=1, journal=address).tell({"x": 0.5}, 1.0)
    with closing(sqlite3.connect(tmp_path / "lab.db")) as connection:
        connection.execute("CREATE TABLE copy AS SELECT * FROM robustbo_events")
        connection.executescript("DROP TABLE robustbo_events; ALTER TABLE copy RENAME TO robustbo_events")
        connection.commit()
    return address


def test_one_without_its_key_is_refused(address):
    for act in (rb.Optimizer.resume, lambda to: rb.Optimizer(SPACE, direction="minimize", journal=to + "2")):
        with pytest.raises(JournalError, match=r"must have the primary key \(study, number\), and has lost it"):
            act(address)


def test_an_index_that_is_unique_will_do(address, tmp_path):
    with closing(sqlite3.connect(tmp_path / "lab.db")) as connection:
        connection.execute("CREATE UNIQUE INDEX one ON robustbo_events (study, number)")
        connection.commit()
    assert len(rb.Optimizer.resume(address).history) == 1
