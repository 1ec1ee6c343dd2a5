"""Spaces, tables and values as people type them, by the kinds of their parameters."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from robustbo import limits
from robustbo.errors import FileError
from robustbo.foreign.reading import bytes_in, text_in
from robustbo.foreign.texts import json_of, toml_of
from robustbo.formulas import restore_text
from robustbo.lazy import Module
from robustbo.searchspace.parameters import Choice, Ordinal, Parameter, Value
from robustbo.searchspace.parameters.reading import read_parameter
from robustbo.searchspace.parameters.text import number, value_of, whole_number
from robustbo.searchspace.pool import Pool
from robustbo.searchspace.space import Space
from robustbo.sheets.workbook_file import table_in
from robustbo.trials.outcome import Outcome
from robustbo.validation import nearest, short_list

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = Module("pandas")

Read = Callable[[str, Parameter, str], Value]  # of a text as a value of a parameter

DECIMAL_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+([eE][-+]?[0-9]+)?")
AS_CSV = "save it again with commas and decimal points, or in Python: rb.Pool(pd.read_csv(path, sep={!r}, decimal=','))"


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


def frame_of(file: IO[bytes], parameters: Mapping[str, Parameter]) -> pd.DataFrame:
    """The table in a CSV file or a workbook, its rows labelled by those of the file; only an empty cell is missing.

    A text that is guarded from being a formula is restored. A column of texts is of whole numbers, of numbers, of true
    and false, or of words: of the first that all its cells are. One of numbers with decimal commas is refused, unless
    they are known to be words.

    Args:
        file: It.
        parameters: By column, where known: of words, a cell such as 007 is one.

    Raises:
        ValueError: If it cannot be read; the message begins with its name.
    """
    is_workbook = file.name.lower().endswith(".xlsx")
    rows = table_in(bytes_in(file, limits.TABLE_BYTES), file.name) if is_workbook else _csv_rows(file)
    if not rows:
        raise ValueError(f"{file.name}: there must be a line with the names of the columns, the file is empty")
    header = ["" if name is None else restore_text(str(name)) for name in rows.pop(min(rows))]
    for line, row in rows.items():
        if len(row) != len(header):
            rule = f"must have {len(header)} cells, as the first line"
            raise ValueError(f"{file.name}, line {line}: {rule}, got {short_list(row)}")
    cells = zip(*rows.values(), strict=True) if rows else [()] * len(header)
    columns = [
        _column(f"{file.name}: {name}", column, is_words=name in parameters and _is_words(parameters[name]))
        for name, column in zip(header, cells, strict=True)
    ]
    frame = pd.DataFrame(dict(enumerate(columns)), index=list(rows), dtype=object)
    return frame.set_axis(header, axis=1)


def _csv_rows(file: IO[bytes]) -> dict[int, list[Any]]:
    """The cells of a CSV file, by the lines of the file."""
    rows: dict[int, list[Any]] = {}
    try:
        reader = csv.reader(io.StringIO(text_in(file, limits.TABLE_BYTES), newline=""), strict=True)
        rows |= ((reader.line_num, row) for row in reader if row)
    except csv.Error as error:
        raise ValueError(f"{file.name}: cannot be read as CSV: {error}") from None
    header = rows[min(rows)] if rows else []
    for mark in (";", "\t") if len(header) == 1 else ():
        if mark in header[0]:
            raise ValueError(f"{file.name}: cells must be parted by commas, got {header[0]!r}; {AS_CSV.format(mark)}")
    return rows


def _is_words(parameter: Parameter) -> bool:
    return isinstance(parameter, Choice | Ordinal) and all(isinstance(value, str) for value in parameter.values)


def _column(name: str, cells: Sequence[Any], *, is_words: bool) -> list[Any]:
    """A column's values; None where a cell is empty."""
    texts = ["" if cell is None else restore_text(cell) if isinstance(cell, str) else cell for cell in cells]
    if is_words:
        return [str(text) or None for text in texts]
    if not all(isinstance(text, str) for text in texts):  # a workbook's
        return [None if text == "" else text for text in texts]
    texts_there = [text for text in texts if text]
    if texts_there and all(map(DECIMAL_COMMA.fullmatch, texts_there)):
        advice = f"{AS_CSV.format(';')}; or say that it is a choice of words in the file of the space"
        raise ValueError(f"{name} must have numbers with a decimal point, got {texts_there[0]!r}; {advice}")
    for kind in (whole_number, number, _flag):
        try:
            return [None if text == "" else kind(text) for text in texts]
        except (ValueError, KeyError):
            continue
    return [text or None for text in texts]


def _flag(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


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
