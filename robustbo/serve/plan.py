"""A study as it is written into the form of its beginning: parameters, constraints and what is measured."""

from __future__ import annotations

from typing import Any, NamedTuple

import tomli_w

from robustbo.searchspace.space import Space
from robustbo.serve.forms import Fields, number_in, text_in
from robustbo.serve.served import Served
from robustbo.sheets.cells import number_of
from robustbo.trials.outcome import Outcome
from robustbo.trials.outcomes import DIRECTIONS
from robustbo.trials.storage.places import Place

MOST_PARAMETERS, MOST_OUTCOMES = 40, 8
KINDS = {"float": "a number", "int": "a whole number", "choice": "one of several", "ordinal": "a level, in order"}
GOALS = ("maximize", "minimize", "keep its bounds")


class Plan(NamedTuple):
    """A study that may be begun.

    Attributes:
        space: Its parameters and constraints.
        options: The other arguments of `Optimizer`.
    """

    space: Space
    options: dict[str, Any]

    def begin(self, place: Place | None) -> Served:
        """The study, with a new journal, or without one, for a look at its first points."""
        return Served(self.space, journal=place, **self.options)

    def toml(self) -> str:
        """The space and what is measured as TOML, as ``robustbo create`` reads it."""
        content: dict[str, Any] = {"constraints": self.space.texts} if self.space.texts else {}
        outcomes = [outcome.to_dict() for outcome in self.options["outcome"]]
        return tomli_w.dumps(content | self.space.to_dict() | ({"outcome": outcomes} if outcomes else {}))


def read_plan(fields: Fields) -> Plan:
    """The study that is in a form.

    Raises:
        ValueError, TypeError: If it cannot be begun; the message says what to change.
    """
    rows = [row for at in range(MOST_PARAMETERS) if (row := _row(fields, f"p{at}"))["name"]]
    if not rows:
        raise ValueError("there must be a parameter: write its name, and what it may be")
    names = [_label(row) for row in rows]
    if len({*names}) < len(names):
        raise ValueError(f"each parameter must have a name of its own, got {names}")
    constraints = [line.strip() for line in str(fields.get("constraints", "")).splitlines() if line.strip()]
    parameters = {name: _parameter(name, row) for name, row in zip(names, rows, strict=True)}
    return Plan(Space.from_dict(parameters, constraints), _outcome_options(fields) | _seed(fields))


def _row(fields: Fields, prefix: str) -> dict[str, str]:
    keys = ("name", "unit", "kind", "low", "high", "step", "log", "values", "goal", "least", "most")
    return {key: text_in(fields, f"{prefix}.{key}") for key in keys}


def _label(row: dict[str, str]) -> str:
    return f"{row['name']} ({row['unit']})" if row["unit"] else row["name"]


def _parameter(name: str, row: dict[str, str]) -> dict[str, Any]:
    """A parameter in its plain form."""
    kind = row["kind"] or "float"
    if kind in ("choice", "ordinal"):
        texts = [text.strip() for text in row["values"].split(";") if text.strip()]
        values = [_value(text) if kind == "ordinal" else text for text in texts]
        return {"kind": kind, "values": values}
    bounds = {key: _number(name, key, row[key], kind) for key in ("low", "high", "step") if row[key]}
    if missing := [key for key in ("low", "high") if key not in bounds]:
        raise ValueError(f"{name}: the {' and the '.join(missing)} end must be filled in")
    return {"kind": kind, **bounds, **({"log": True} if row["log"] else {})}


def _number(name: str, key: str, text: str, kind: str) -> float | int:
    number = number_in(f"{name}: {key}", text)
    return int(number) if kind == "int" and number.is_integer() else number


def _value(text: str) -> float | str:
    number = number_of(text)
    return text if number is None else number


def _outcome_options(fields: Fields) -> dict[str, Any]:
    rows = [row for at in range(MOST_OUTCOMES) if (row := _row(fields, f"o{at}"))["name"]]
    if not rows:
        raise ValueError("there must be something that is measured: write its name")
    outcomes = [_outcome(row) for row in rows]
    bounds = [text for row in rows for text in _bounds(row)]
    objectives = {row["name"]: row["goal"] for row in rows if row["goal"] in DIRECTIONS}
    if not objectives:
        raise ValueError("something that is measured must be maximized or minimized")
    if len(rows) == 1 and not bounds:
        return {"outcome": outcomes, "direction": rows[0]["goal"]}
    return {"outcome": outcomes, "objectives": objectives, "outcome_constraints": bounds}


def _outcome(row: dict[str, str]) -> Outcome:
    ends = {key: number_in(f"{row['name']}: {key}", row[key]) for key in ("low", "high") if row[key]}
    return Outcome(row["name"], unit=row["unit"], **ends)


def _bounds(row: dict[str, str]) -> list[str]:
    signs = {"least": ">=", "most": "<="}
    texts = {key: row[key] for key in signs if row[key]}
    if row["goal"] == GOALS[2] and not texts:
        raise ValueError(f"{row['name']}: there must be a bound that it is to keep, at least or at most")
    return [f"{row['name']} {signs[key]} {number_in(row['name'], text)!r}" for key, text in texts.items()]


def _seed(fields: Fields) -> dict[str, Any]:
    """The seed of the form, by which its preview has the same first points as the study."""
    text = text_in(fields, "seed")
    return {"seed": int(text)} if text.isdigit() and len(text) < 10 else {}
