"""Spaces, tables and values as people type them, by the kinds of their parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import IO, Any, NamedTuple

from robustbo import limits
from robustbo.errors import FileError
from robustbo.foreign.reading import text_in
from robustbo.foreign.texts import json_of, toml_of
from robustbo.searchspace.parameters import Parameter, Value
from robustbo.searchspace.parameters.reading import read_parameter
from robustbo.searchspace.parameters.text import value_of
from robustbo.searchspace.pool import Pool
from robustbo.searchspace.space import Space
from robustbo.sheets.points import frame_of
from robustbo.trials.outcome import Outcome
from robustbo.validation import nearest

Read = Callable[[str, Parameter, str], Value]  # of a text as a value of a parameter


class Description(NamedTuple):
    """The content of the file of a space.

    Attributes:
        space: The space.
        outcomes: What is measured.
        sources: The entries of each source, by its name.
    """

    space: Space
    outcomes: list[Outcome]
    sources: dict[str, Any]


def description_of(file: IO[bytes] | None, pool: IO[bytes] | None, constraints: Sequence[str] = ()) -> Description:
    """The space in a file, or the pool in a table, and what the file says of outcomes and sources.

    Args:
        file: TOML or JSON: a parameter a name, a list "constraints", an "outcome" or a list of such, and "sources".
        pool: CSV; then ``file`` has parameters of columns that are not what their values say.
        constraints: More of them.

    Raises:
        ValueError: If neither is given, or one cannot be read; the message begins with its name.
    """
    if file is None and pool is None:
        raise ValueError("there must be a file with the SPACE, or --pool with a table of points, got neither")
    parameters, texts, outcomes, sources = ({}, [], [], {}) if file is None else _parts(file)
    if pool is not None:
        return Description(_pool(pool, parameters, [*texts, *constraints]), outcomes, sources)
    try:
        space = Space.from_dict(parameters, texts)
    except ValueError as error:
        raise ValueError(f"{file.name}: {error}") from None  # type: ignore[union-attr]
    more = [*texts, *constraints]
    space = Space.from_dict(dict(space.parameters), more) if constraints else space
    return Description(space, outcomes, sources)


def _pool(file: IO[bytes], parameters: Any, texts: list[str]) -> Pool:
    known_columns = {name: read_parameter(name, parameter) for name, parameter in dict(parameters).items()}
    frame = frame_of(file, known_columns)
    try:
        return Pool(frame, **known_columns, **({"constraints": texts} if texts else {}))
    except ValueError as error:
        raise ValueError(f"{file.name}: {error}") from None


def _parts(file: IO[bytes]) -> tuple[Any, list[Any], list[Outcome], dict[str, Any]]:
    """The parameters, the constraints, the outcomes and the sources in a file.

    A parameter may be called "constraints", and is no list then; or "outcome" or "sources", and has a kind then.
    """
    text = text_in(file, limits.TEXT_BYTES)
    try:
        content = (toml_of if file.name.endswith(".toml") else json_of)(text, file.name)
    except FileError as error:
        advice = f"; points to choose from are given by --pool {file.name}" if file.name.endswith(".csv") else ""
        raise ValueError(f"{error}{advice}") from None
    if not isinstance(content, dict):
        return content, [], [], {}
    rest, texts, outcomes = dict(content), list[Any](), list[Outcome]()
    if isinstance(content.get("constraints"), list | str):
        texts = rest.pop("constraints")
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f'{file.name}: constraints must be a list such as ["x + y <= 1"], got {texts!r}')
    outcome = content.get("outcome")
    if isinstance(outcome, list) or (isinstance(outcome, dict) and "kind" not in outcome):
        del rest["outcome"]
        try:
            outcomes = [Outcome.from_dict(entry) for entry in (outcome if isinstance(outcome, list) else [outcome])]
            for described in outcomes:
                described.check_content()
        except (ValueError, TypeError) as error:
            raise ValueError(f"{file.name}: outcome: {error}") from None
    sources = content.get("sources")
    is_declared = isinstance(sources, dict) and not isinstance(sources.get("kind"), str)
    return rest, texts, outcomes, rest.pop("sources") if is_declared else {}


def fixed_values(
    space: Space, texts: Sequence[str], option: str = "--fixed", read: Read = value_of
) -> dict[str, Value]:
    """Values that were typed as ``NAME=VALUE``.

    Raises:
        ValueError: If one is not typed so, names no parameter or one twice, or is no value of it.
    """
    values: dict[str, Value] = {}
    named = dict(space.parameters)
    for text in texts:
        name = max((n for n in named if text.startswith(f"{n}=")), key=len, default=text.partition("=")[0])
        if "=" not in text:
            raise ValueError(f"{option} must be like NAME=VALUE, such as {space.names[0]}=..., got {text!r}")
        if name not in named:
            raise ValueError(f"{option}: {name!r} is no parameter, there are {space.names}{nearest(name, space.names)}")
        if name in values:
            raise ValueError(f"{option}: {name!r} must be given once, got it twice")
        values[name] = read(name, named[name], text[len(name) + 1 :])
    return values
