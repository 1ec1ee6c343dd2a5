"""Sources as people declare them in the file of a space, and the tables of old studies that belong to them.

[sources.lab]
target = true

[sources.2025]
ask = false
was = { stirring = 300 }
prior_data = "2025.csv"
columns = { temperature = "(`T (F)` - 32) / 1.8", value = "Yield" }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robustbo import limits
from robustbo.errors import FileError, SpaceError
from robustbo.foreign.reading import bytes_of
from robustbo.searchspace.constraints.expression import Expression
from robustbo.searchspace.space import Space
from robustbo.searchspace.tabular import TABLES
from robustbo.sheets.points import TableBytes, frame_of
from robustbo.trials.declared import Source
from robustbo.validation import nearest, short_list

if TYPE_CHECKING:
    import pandas as pd

OWN = ("prior_data", "columns")  # entries of a source that are no part of it
OPTION = "--prior-data"


class PriorTable(NamedTuple):
    """A table of an old study, or its journal.

    Attributes:
        place: The file; or of a journal the address of a database.
        columns: By parameter or outcome, its column there, or an expression of columns.
    """

    place: str
    columns: Mapping[str, str]

    def read(self, space: Space) -> pd.DataFrame | str:
        """The table by the names of the study; of a journal its place.

        Raises:
            ValueError: If it cannot be read, or columns are missing; the message begins with its name.
        """
        if not self.place.lower().endswith(TABLES):
            if self.columns:
                raise ValueError(f"columns need a table ({', '.join(TABLES)}), got {self.place!r}; leave them out")
            return self.place
        words = {column: dict(space.parameters)[n] for n, column in self.columns.items() if n in space.names}
        frame = frame_of(_table_file(self.place), {**dict(space.parameters), **words})
        new = {name: _column(self.place, frame, name, text) for name, text in self.columns.items()}
        used = {column for column in (*self.columns.values(), *new) if column in frame.columns}
        return frame.drop(columns=[*used]).assign(**new)


def _table_file(place: str) -> TableBytes:
    try:
        return TableBytes(bytes_of(place, limits.TABLE_BYTES), place)
    except (FileNotFoundError, NotADirectoryError):
        raise FileError(f"{place}: there is no such file") from None


def _column(place: str, frame: pd.DataFrame, name: str, text: str) -> Any:
    """The cells of a column that has another name, or is computed of others."""
    if text in frame.columns:
        return frame[text]
    try:
        expression = Expression.parse(text)
    except SpaceError as error:
        rule = f"{place}: columns: {name!r} must be the name of a column, or arithmetic of such in backquotes"
        raise ValueError(f"{rule}, got {text!r}{nearest(text, map(str, frame.columns))}; {error}") from None
    if missing := [column for column in expression.names if column not in frame.columns]:
        names, first = [*map(str, frame.columns)], missing[0]
        rule = f"{place}: columns: {name!r} needs a column {first!r}"
        quoted = next((f"; write `{name}` in backquotes" for name in names if name in text and first in name), "")
        raise ValueError(f"{rule}, got {short_list(names)}{quoted or nearest(first, names)}")
    try:
        cells = {column: np.array(frame[column], dtype=float) for column in expression.names}
    except (TypeError, ValueError):
        raise ValueError(f"{place}: columns: {name!r} needs numbers in {short_list([*expression.names])}") from None
    return expression(cells)


def read_sources(entries: Mapping[str, Any], name: str) -> tuple[dict[str, Source], dict[str, PriorTable]]:
    """The sources in a file, and the tables that belong to them.

    Args:
        entries: A table of entries each, by the names of the sources.
        name: The file's name; tables are found beside it.

    Raises:
        ValueError: If one breaks a rule; the message begins with the file's name.
    """
    sources, tables = dict[str, Source](), dict[str, PriorTable]()
    names = [field.name for field in fields(Source)]
    for source, entry in entries.items():
        at = f"{name}: sources: {source!r}"
        if not isinstance(entry, dict):
            raise ValueError(f"{at} must be a table of entries, such as cost = 0.05, got {entry!r}")
        if unknown := [key for key in entry if key not in (*names, *OWN)]:
            rule = f"{at} must have entries among {[*names, *OWN]}"
            raise ValueError(f"{rule}, got {unknown[0]!r}{nearest(unknown[0], [*names, *OWN])}")
        try:
            sources[source] = Source(**{key: value for key, value in entry.items() if key in names})
        except (ValueError, TypeError) as error:
            raise ValueError(f"{at}: {error}") from None
        if "prior_data" in entry:
            tables[source] = _table(at, Path(name).parent, entry["prior_data"], entry.get("columns", {}))
        elif "columns" in entry:
            raise ValueError(f"{at}: columns need a table; add prior_data")
    return sources, tables


def _table(at: str, folder: Path, place: Any, columns: Any) -> PriorTable:
    if not isinstance(place, str) or not place:
        raise ValueError(f'{at}: prior_data must be the name of a file, such as "2025.csv", got {place!r}')
    if not isinstance(columns, dict) or not all(isinstance(text, str) for text in columns.values()):
        raise ValueError(f'{at}: columns must be such as {{ temperature = "T (C)" }}, got {columns!r}')
    is_beside = "://" not in place
    return PriorTable(str(folder / Path(place).expanduser()) if is_beside else place, columns)


def tables_of(texts: Sequence[str], sources: Mapping[str, Source]) -> dict[str, PriorTable]:
    """The tables that were typed as ``SOURCE=FILE``; of a study without sources a mere ``FILE``, under "".

    Raises:
        ValueError: If there is no such source, or one is given twice.
    """
    tables: dict[str, PriorTable] = {}
    for text in texts:
        name, _, place = text.partition("=") if sources else ("", "", text)
        if sources and name not in sources:
            rule = f"{OPTION} must be SOURCE=FILE, a source being one of {short_list([*sources])}"
            raise ValueError(f"{rule}, got {text!r}{nearest(name, sources)}")
        if name in tables or not place:
            raise ValueError(f"{OPTION} must be one file{f' of {name!r}' if sources else ''}, got {text!r}")
        tables[name] = PriorTable(place, {})
    return tables


def prior_of(tables: Mapping[str, PriorTable], space: Space) -> Any:
    """The ``prior_data`` of an `Optimizer`: by source, or of a study without sources; None where there is none."""
    priors = {name: table.read(space) for name, table in tables.items()}
    return priors.get("", priors or None)
