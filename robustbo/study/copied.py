"""Rows that are told twice: a table given again, or pasted below itself. A copy of a wrong value confirms it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from robustbo.censored import from_json
from robustbo.errors import SpaceWarning, warn
from robustbo.searchspace.measured_columns import COUNT
from robustbo.searchspace.measurements import Measurement
from robustbo.searchspace.space import Space
from robustbo.searchspace.tabular import parameter_columns
from robustbo.trials.history import History
from robustbo.trials.identity import point_of

if TYPE_CHECKING:
    import pandas as pd

CONFIRMS = "robustbo keeps them as repeats, so that a wrong value confirms itself"
SEVERAL = 3  # different rows, all as often there: a table below itself, and no replicates that happen to agree
BY_CHANCE = 0.1  # share of points with the values of another, below which replicates do not agree by chance


def warn_of_copies(history: History, rows: Sequence[Measurement]) -> None:
    """Say so where measured rows (point, value, noise) are told that have been told before, as by the same table twice.

    Failed rows are no copies: nothing confirms itself by them.
    """
    at = {point: history.trials.at(point) for point in {point_of(row.params) for row in rows}}
    told = [trial for trials in at.values() for trial in trials if trial.state == "told"]
    measurements = {measurement(trial.point, value) for trial in told for value in trial.raw_values}
    if copies := sum(measurement(point_of(row.params), row.value) in measurements for row in rows):
        statement = f"{copies} of {len(rows)} rows are in this study already, with the same values"
        warn(f"{statement}: {CONFIRMS}; exclude the copies", SpaceWarning)


def warn_of_equal_rows(space: Space, table: pd.DataFrame, values: Collection[str]) -> None:
    """Say so where rows of a table are the same in all columns, and are no replicates that happen to agree.

    They may be, where nothing but the point, the value and its noise would tell replicates apart; but not if every row
    is there as often as all others, nor where several points have values that agree to the last digit, and those of
    other points hardly ever do.

    Args:
        space: Whose points the rows are.
        table: One row for each measurement.
        values: The columns of values.
    """
    told = table.dropna(subset=[name for name in values if name in table.columns], how="all")
    try:
        copies = int(told.duplicated().sum())
    except TypeError:  # cells that are lists, which something else refuses
        return
    points = [name for name in parameter_columns(space, told) if name in told.columns]
    of_values = {f"{name}{suffix}" for name in values for suffix in ("", ".sd", ".n", ".sign", ".excluded")}
    further = {*told.columns} - {*points, *of_values, "sd", COUNT}
    is_pasted = stand_twice(told, points, [name for name in values if name in told.columns])
    if copies and (is_pasted or any(told[name].nunique() > 1 for name in further)):
        statement = f"{copies} of {len(table)} rows are the same as another row in all columns"
        warn(f"{statement}: {CONFIRMS}; if they are copies, drop them, by frame.drop_duplicates()", SpaceWarning)


def stand_twice(table: pd.DataFrame, points: Sequence[str], values: Sequence[str]) -> bool:
    """Return whether rows that are the same in all columns are copies, rather than replicates that agree by chance.

    They are where every row is there as often as all others, and where several are there twice, though values of
    different points hardly ever agree to the last digit.

    Args:
        table: One row for each measurement.
        points: The columns of the points.
        values: The columns of values.
    """
    times = table.value_counts(dropna=False)
    if len(times) >= SEVERAL and times.nunique() == 1 and times.iloc[0] > 1:
        return True
    apart = table.drop_duplicates([*points, *values])
    return len(table) - len(times) >= SEVERAL and float(apart.duplicated(values, keep=False).mean()) < BY_CHANCE


def measurement(point: Any, value: Any) -> Any:
    """Key that tells a value at a point, or those of several outcomes, from others: hashable."""
    if isinstance(value, Mapping):
        return point, tuple(sorted((name, from_json(number)) for name, number in value.items()))
    return point, from_json(value)
