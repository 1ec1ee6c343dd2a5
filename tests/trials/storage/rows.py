"""Studies for the tests of databases: written, read and changed row by row."""

import sqlalchemy as sa

import robustbo as rb
from robustbo.trials.storage import connections, database, places
from robustbo.trials.storage.addresses import parse

HEADER = {"seed": 7, "name": "größe\n"}
EVENTS = [
    {"event": "ask", "trial": 0, "params": {"x": 0.1 + 0.2, "c": None}, "origin": "sobol"},
    {"event": "tell", "trial": 0, "value": 1.5e300, "sd": None},
    {"event": "fail", "trial": 1, "reason": "'); DROP TABLE robustbo_events; -- \u2028 %s :a \0 {reason}\n"},
    {"event": "tell", "trial": 2, "value": -0.25, "sd": 0.125},
]
SPACE = rb.Space(x=rb.Float(0.0, 1.0))


def written(address, events=EVENTS):
    made, mark = places.create(address, HEADER)
    with made.turn() as turn:
        return made, turn.append(events, mark)


def optimizer(address, **options):
    return rb.Optimizer(SPACE, direction="minimize", acquisition="sobol", seed=0, journal=address, **options)


def engine(address):
    return connections.engine(parse(address))


def lines(address):
    asked = sa.select(database.TABLE.c.line).where(database.TABLE.c.study == parse(address).study)
    with engine(address).connect() as connection:
        return list(connection.scalars(asked.order_by(database.TABLE.c.number)))


def changed(address, statement, **parameters):
    with engine(address).begin() as connection:
        connection.execute(sa.text(statement), {"study": parse(address).study, **parameters})
