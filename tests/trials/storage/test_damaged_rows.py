import sqlite3
from contextlib import closing

import pytest

from robustbo.errors import JournalError
from robustbo.trials.storage import line, places
from robustbo.trials.storage.addresses import parse
from tests.trials.storage.rows import changed, lines, written


def flip(number, old, new):
    return (
        f"UPDATE robustbo_events SET line = replace(line, '{old}', '{new}') WHERE study = :study AND number = {number}"
    )


@pytest.mark.parametrize(
    ("damage", "match"),
    [
        (flip(0, '"seed": 7', '"seed": 8'), "row 0: damaged"),
        (flip(1, "0.30000000000000004", "0.30000000000000005"), "row 1: damaged"),
        (flip(2, "1.5e+300", "NaN"), "row 2: damaged"),
        (flip(3, '"trial": 1', '"trial":  1'), "row 3: damaged"),
        (flip(4, '"check": "', '"check": "0'), "row 4: damaged"),
        ("UPDATE robustbo_events SET line = '' WHERE study = :study AND number = 2", "row 2: damaged"),
        ("UPDATE robustbo_events SET line = '[1]' WHERE study = :study AND number = 2", "row 2: damaged"),
        ("DELETE FROM robustbo_events WHERE study = :study AND number = 2", "row 2: lost; what follows is row 3"),
        ("UPDATE robustbo_events SET number = 9 WHERE study = :study AND number = 2", "row 2: lost"),
        (
            "UPDATE robustbo_events SET line = (SELECT line FROM robustbo_events WHERE study = :study AND number = 1) "
            "WHERE study = :study AND number = 2",
            "row 2: damaged",
        ),
    ],
)
def test_a_damaged_row_is_named_and_left_alone(address, damage, match):
    written(address)
    changed(address, damage)
    before = lines(address)
    for reader in (places.contents, places.resume):
        with pytest.raises(JournalError, match=f"{parse(address).study}, {match}"):
            reader(address)
    assert lines(address) == before


@pytest.mark.parametrize("value", [b"\xff\xfe", b"", None, 7])
def test_a_row_that_is_no_text_is_damaged(tmp_path, value):
    address = f"sqlite:///{tmp_path}/lab.db#oven"
    written(address)
    with closing(sqlite3.connect(tmp_path / "lab.db")) as connection:
        connection.execute("CREATE TABLE copy (study, number, line, PRIMARY KEY (study, number))")  # without NOT NULL
        connection.execute("INSERT INTO copy SELECT * FROM robustbo_events")
        connection.execute("UPDATE copy SET line = CAST(? AS TEXT) WHERE number = 3", [value])
        connection.executescript("DROP TABLE robustbo_events; ALTER TABLE copy RENAME TO robustbo_events")
        connection.commit()
    with pytest.raises(JournalError, match="row 3: damaged"):
        places.resume(address)


@pytest.mark.parametrize(
    "damage", ["DELETE FROM robustbo_events WHERE study = :study AND number = 4", flip(4, "-0.25", "-0.35")]
)
def test_a_last_row_that_is_gone_or_changed_is_seen_by_who_has_read_it(address, damage):
    made, mark = written(address)
    changed(address, damage)
    changed(address, flip(4, '"check": "', '"check": "0'))
    with made.turn() as turn, pytest.raises(JournalError, match="row 4: is not as it was: lost or changed"):
        turn.behind(mark)


def test_a_schema_of_the_future_is_refused(address, monkeypatch):
    with monkeypatch.context() as future:
        future.setattr(line, "SCHEMA", 2)
        written(address)
    with pytest.raises(JournalError, match="row 0: must be a header of schema 1, got 2; use a newer robustbo"):
        places.resume(address)
