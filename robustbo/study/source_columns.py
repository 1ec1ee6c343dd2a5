"""Tables of sources that have fewer parameters than the study: their cells are the values of these sources."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice
from robustbo.searchspace.point_check import admits
from robustbo.searchspace.tabular import is_frame, is_missing, parameter_columns
from robustbo.searchspace.units import as_numbers_of
from robustbo.trials.declared import Declared
from robustbo.trials.settings import Settings
from robustbo.trials.sources import DEFAULT_KIND, labels_to_record
from robustbo.validation import nearest, short_list

if TYPE_CHECKING:
    import pandas as pd


def with_values_of_sources(settings: Settings, frame: pd.DataFrame, names: Sequence[str | None]) -> pd.DataFrame:
    """A table whose rows have the parameters that their sources do not have, at the values that these say.

    Args:
        settings: Those of the study.
        frame: The table; what is no table is given back.
        names: The source of each row; None of the target.
    """
    own = {name: source.values for name, source in settings.sources}
    parameters = {parameter for name in dict.fromkeys(names) for parameter in own.get(name or "", ())}
    if not parameters or not is_frame(frame):
        return frame
    table, columns = as_numbers_of(settings.space.names, frame), dict[str, list[Any]]()
    for column, parameter in parameter_columns(settings.space, table).items():
        if parameter in parameters:
            cells = [*table[column]] if column in table.columns else [math.nan] * len(table)
            pairs = zip(cells, names, strict=True)
            columns[column] = [own.get(n or "", {}).get(parameter, c) if is_missing(c) else c for c, n in pairs]
    return table.assign(**columns)


def check_table(settings: Settings, frame: pd.DataFrame, name: str | None) -> None:
    """Raise where a table of a source lacks what its `Source` can say, or has other values of a choice.

    Raises:
        SpaceError: There.
    """
    if name is None:
        return
    table = as_numbers_of(settings.space.names, frame)
    columns, own = parameter_columns(settings.space, table), dict(settings.sources)[name].values
    missing = [n for column, n in columns.items() if column not in table.columns and n not in own]
    if missing:
        hint = nearest(missing[0], [c for c in map(str, table.columns) if c not in columns])
        rule = f"{missing[0]}: there must be a column for every parameter, got {[*table.columns]}{hint}"
        advice = "rename one of these; of what the source does not have say what it was, by"
        raise SpaceError(f"{rule}; {advice} was={{{missing[0]!r}: ...}}")
    named = dict(settings.space.parameters)
    for column, parameter in columns.items():
        choice = named[parameter]
        if isinstance(choice, Choice) and column in table.columns:
            cells = [cell for cell in dict.fromkeys(table[column]) if not is_missing(cell)]
            if new := [c for c in cells if not (choice.has_former(c) or admits(choice, c))]:
                rule = f"{parameter}: must be one of {[*choice.values, *choice.former]}, got {short_list(new)}"
                raise SpaceError(f"{rule}; name what only this source has: had={{{parameter!r}: {new!r}}}")


def names_in(declared: Declared, frame: Any, column: str | None) -> list[str | None]:
    """The source that each row of a table names, in a column."""
    if not declared or column is None or not is_frame(frame) or column not in frame.columns:
        return [None] * len(frame) if is_frame(frame) else []
    return [_name(cell) for cell in frame[column]]


def _name(cell: Any) -> str | None:
    """The name in a cell, as it is recorded; None where it is none, which is told with the row."""
    try:
        return labels_to_record({DEFAULT_KIND: cell}).get(DEFAULT_KIND)
    except (TypeError, ValueError):
        return None
