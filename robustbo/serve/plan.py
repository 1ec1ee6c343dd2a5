"""A study as it is written into the form of its beginning: parameters, constraints and what is measured."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import tomli_w

from robustbo.searchspace.labels import parts
from robustbo.searchspace.parameters.reading import read_parameter
from robustbo.searchspace.pool import Pool
from robustbo.searchspace.space import Space
from robustbo.serve.forms import Fields, number_in, text_in
from robustbo.serve.names import read_condition, read_constraint
from robustbo.serve.served import Served
from robustbo.sheets.cells import number_of
from robustbo.sheets.points import frame_of
from robustbo.trials.outcome import Outcome
from robustbo.trials.outcomes import DIRECTIONS
from robustbo.trials.storage.places import Place

MOST_PARAMETERS, MOST_OUTCOMES = 40, 8
KINDS = {"float": "a number", "int": "a whole number", "choice": "one of several", "ordinal": "a level, in order"}
LABELS = {"low": "From", "high": "To", "step": "Step"}  # of the fields of a number
GOALS = ("maximize", "minimize", "keep its bounds")


class Misfit(ValueError):
    """Something in the form that cannot be.

    Attributes:
        field: The row or the field of the form.
    """

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        super().__init__(message)


@contextmanager
def at_field(field: str) -> Iterator[None]:
    """Within it errors are of a field of the form."""
    try:
        yield
    except Misfit:
        raise
    except (ValueError, TypeError) as error:
        raise Misfit(field, str(error)) from None


class Plan(NamedTuple):
    """A study that may be begun.

    Attributes:
        space: Its parameters and constraints.
        options: The other arguments of `Optimizer`.
        described: Its parameters in their plain form; of a pool those of columns that are not what their values say.
    """

    space: Space
    options: dict[str, Any]
    described: dict[str, Any]

    def begin(self, place: Place | None) -> Served:
        """The study, with a new journal, or without one, for a look at its first points."""
        return Served(self.space, journal=place, **self.options)

    def toml(self) -> str:
        """The space and what is measured as TOML, below the command by which ``robustbo create`` begins the study."""
        content: dict[str, Any] = {"constraints": self.space.texts} if self.space.texts else {}
        outcomes = [outcome.to_dict() for outcome in self.options["outcome"]]
        text = tomli_w.dumps(content | self.described | ({"outcome": outcomes} if outcomes else {}))
        return f"# {shlex.join(self._command())}\n\n{text}"

    def _command(self) -> list[str]:
        """The words of the command; what is wanted of the outcomes is in no file."""
        options, words = self.options, ["robustbo", "create", "JOURNAL", "space.toml"]
        words += ["--pool", "TABLE"] if self.space.is_pool else []
        words += ["--direction", options["direction"]] if "direction" in options else []
        for name, direction in options.get("objectives", {}).items():
            words += ["--objective", f"{name}:{direction}"]
        for bound in options.get("outcome_constraints", ()):
            words += ["--outcome-constraint", bound]
        return words + (["--seed", f"{options['seed']}"] if "seed" in options else [])


def read_plan(fields: Fields, table: IO[bytes] | None = None) -> Plan:
    """The study that is in a form.

    Args:
        fields: The form.
        table: The points to choose from, as a CSV file or a workbook, where the form has such; parameters of the form
            are then of columns that are not what their values say.

    Raises:
        ValueError, TypeError: If it cannot be begun; the message says what to change.
    """
    rows = {f"p{at}": row for at in range(MOST_PARAMETERS) if (row := _row(fields, f"p{at}"))["name"]}
    if not rows and table is None:
        raise Misfit("p0", "there must be a parameter: write its name, and what it may be")
    parameters: dict[str, Any] = {}
    for field, row in rows.items():
        with at_field(field):
            if (name := _label(row)) in parameters:
                raise ValueError(f"each parameter must have a name of its own, got {name!r} twice")
            parameters[name] = _parameter(name, row)
            read_parameter(name, parameters[name])
    for field, row in rows.items():
        if row["when"]:
            with at_field(field):
                parameters[_label(row)]["when"] = _condition(_label(row), row["when"], parameters)
    texts = [line.strip() for line in str(fields.get("constraints", "")).splitlines() if line.strip()]

    def space_with(texts: list[str]) -> Space:
        return Space.from_dict(parameters, texts) if table is None else _pool(table, parameters, texts)

    with at_field("p0" if table is None else "pool"):
        space = space_with([])
    with at_field("constraints"):
        space = space_with([read_constraint(text, space.names) for text in texts]) if texts else space
    described = space.to_dict() if table is None else parameters
    return Plan(space, _outcome_options(fields) | _seed(fields), described)


def _pool(table: IO[bytes], parameters: dict[str, Any], constraints: list[str]) -> Pool:
    declared = {name: read_parameter(name, parameter) for name, parameter in parameters.items()}
    table.seek(0)
    frame = frame_of(table, declared)
    return Pool(frame, **declared, **({"constraints": constraints} if constraints else {}))


def _row(fields: Fields, prefix: str) -> dict[str, str]:
    keys = ("name", "unit", "kind", "low", "high", "step", "log", "values", "when", "goal", "least", "most")
    return {key: text_in(fields, f"{prefix}.{key}") for key in keys}


def _label(row: dict[str, str]) -> str:
    return f"{row['name']} ({row['unit']})" if row["unit"] else row["name"]


def _parameter(name: str, row: dict[str, str]) -> dict[str, Any]:
    """A parameter in its plain form."""
    kind = row["kind"] or "float"
    if kind in ("choice", "ordinal"):
        texts = [text.strip() for text in row["values"].split(";") if text.strip()]
        if len(texts) < 2:
            raise ValueError(
                f"{name}: there must be two values at least, with semicolons between, got {row['values']!r}"
            )
        values = [_value(text) if kind == "ordinal" else text for text in texts]
        return {"kind": kind, "values": values}
    bounds = {key: _number(name, key, row[key], kind) for key in ("low", "high", "step") if row[key]}
    if missing := [LABELS[key] for key in ("low", "high") if key not in bounds]:
        raise ValueError(f"{name}: {' and '.join(missing)} must be filled in")
    return {"kind": kind, **bounds, **({"log": True} if row["log"] else {})}


def _condition(name: str, text: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The condition of a parameter, as its plain form has it."""
    return read_condition(name, text, {k: read_parameter(k, form) for k, form in parameters.items() if k != name})


def _number(name: str, key: str, text: str, kind: str) -> float | int:
    number = number_in(f"{name}: {LABELS[key]}", text)
    return int(number) if kind == "int" and number.is_integer() else number


def _value(text: str) -> float | str:
    number = number_of(text)
    return text if number is None else number


def _outcome_options(fields: Fields) -> dict[str, Any]:
    rows = {f"o{at}": row for at in range(MOST_OUTCOMES) if (row := _row(fields, f"o{at}"))["name"]}
    if not rows:
        raise Misfit("o0", "there must be an outcome: write its name")
    outcomes, bounds = list[Outcome](), list[str]()
    for field, row in rows.items():
        with at_field(field):
            row["name"], unit = parts(row["name"])
            row["unit"] = row["unit"] or unit
            if row["name"] in {outcome.name for outcome in outcomes}:
                raise ValueError(f"each outcome must have a name of its own, got {row['name']!r} twice")
            outcomes.append(_outcome(row))
            bounds += _bounds(row)
    objectives = {row["name"]: row["goal"] for row in rows.values() if row["goal"] in DIRECTIONS}
    if not objectives:
        raise Misfit("o0", "an outcome must be maximized or minimized")
    if len(rows) == 1 and not bounds:
        return {"outcome": outcomes, "direction": rows[next(iter(rows))]["goal"]}
    return {"outcome": outcomes, "objectives": objectives, "outcome_constraints": bounds}


def _outcome(row: dict[str, str]) -> Outcome:
    labels = {"low": "Possible: from", "high": "Possible: to"}
    ends = {key: number_in(f"{row['name']}: {label}", row[key]) for key, label in labels.items() if row[key]}
    return Outcome(row["name"], unit=row["unit"], **ends)


def _bounds(row: dict[str, str]) -> list[str]:
    signs = {"least": ">=", "most": "<="}
    texts = {key: row[key] for key in signs if row[key]}
    if row["goal"] == GOALS[2] and not texts:
        raise ValueError(f"{row['name']}: there must be a bound, at least or at most")
    return [f"{row['name']} {signs[key]} {number_in(row['name'], text)!r}" for key, text in texts.items()]


def _seed(fields: Fields) -> dict[str, Any]:
    """The seed of the form, by which its preview has the same first points as the study."""
    text = text_in(fields, "seed")
    return {"seed": int(text)} if text.isdigit() and len(text) < 10 else {}
