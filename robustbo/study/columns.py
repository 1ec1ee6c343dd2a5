"""Columns of values in a data frame: their names among the others, and the names that users know them by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from robustbo import limits
from robustbo.errors import SpaceError
from robustbo.searchspace.measured_columns import COUNT
from robustbo.searchspace.measurements import sign_column
from robustbo.searchspace.tabular import is_frame, parameter_columns
from robustbo.searchspace.units import without
from robustbo.study.origin import MEASURED_AT, OF_LABEL, origin_of_cells
from robustbo.trials.labels import LABEL, NAME, read_labels
from robustbo.trials.settings import Settings
from robustbo.trials.sources import DEFAULT_KIND
from robustbo.view.frame import EVIDENCE, OWN, VALUE

if TYPE_CHECKING:
    import pandas as pd

SOURCE = f"{DEFAULT_KIND}."  # how columns of kinds of source begin


def check_names(settings: Settings) -> None:
    """Raise a ValueError where outcomes cannot be told from the other columns of a frame by their names."""
    outcomes, quantities = settings.outcomes, [quantity for quantity in settings.quantities.values() if quantity.name]
    if clash := [quantity.name for quantity in quantities if {quantity.name, quantity.label} & {*settings.space.names}]:
        hint = "bounds of parameters are constraints of the space: Space(constraints=[...])"
        raise ValueError(f"an outcome must have another name than a parameter, got {clash[0]!r}; {hint}")
    columns = [
        *OWN,
        *(f"{outcome.name}.{key}" for outcome in outcomes for key in ("mean", "sd", "excluded", "sign", *EVIDENCE)),
    ]
    columns += [] if outcomes else ["sd", *EVIDENCE]
    if clash := [quantity.name for quantity in quantities if quantity.name in columns]:
        raise ValueError(f"an outcome must have another name than a column of `frame`, got {clash[0]!r}")


def label_columns_of(
    settings: Settings,
    frame: Any,
    labels: bool | str | Sequence[str] | Mapping[str, str],
    claimed: Collection[Any],
) -> dict[str, str]:
    """The column of each label, by `OF_LABEL` and its name.

    Args:
        settings: Those of the study.
        frame: A table with plain names.
        labels: Columns, or columns by label, or True for all that are nothing else; those that begin with `LABEL` are
            always some.
        claimed: Columns that are read for something else, besides parameters and values.

    Raises:
        SpaceError: If there is no such column.
    """
    if not is_frame(frame):
        return {}
    names = [name for name in frame.columns if isinstance(name, str)]
    by_label = {name.removeprefix(LABEL): name for name in names if name.startswith(LABEL) and name not in claimed}
    if labels is True:
        by_label |= {name: name for name in names if not _is_own(settings, frame, name) and name not in claimed}
    elif labels is not False:
        by_name = (
            labels if isinstance(labels, Mapping) else {n: n for n in ([labels] if isinstance(labels, str) else labels)}
        )
        if missing := [column for column in by_name.values() if column not in names]:
            raise SpaceError(f"labels: there must be a column {missing[0]!r}, as you named it, got {names}")
        by_label |= {label.removeprefix(LABEL): column for label, column in by_name.items()}
    return {OF_LABEL + label: column for label, column in by_label.items()}


def _is_own(settings: Settings, frame: Any, name: str) -> bool:
    """Return whether a column is a parameter, of values, or one that `frame` has of every trial."""
    outcomes = [outcome.name for outcome in settings.outcomes]
    of_values = [
        f"{outcome}.{key}" for outcome in outcomes for key in ("sd", "n", "excluded", "sign", *EVIDENCE)
    ] + outcomes
    of_values += [] if outcomes else ["sd", "n", *EVIDENCE]
    is_frames = name in (*OWN, *of_values) or name.startswith((LABEL, "asked.", SOURCE))
    return is_frames or name in parameter_columns(settings.space, frame)


def readable_origins(settings: Settings, frame: pd.DataFrame, value: str, source: str | None) -> dict[str, str]:
    """The columns of a table that say what measured a row, by kind, and when, by `MEASURED_AT`, as far as cells do.

    Args:
        settings: Those of the study.
        frame: A table with plain names.
        value: The column of values.
        source: The declared source of the whole table, beside which no column names one.
    """
    own = {*parameter_columns(settings.space, frame), value, *(outcome.name for outcome in settings.outcomes)}
    names = [name for name in frame.columns if isinstance(name, str) and name not in own]
    columns = {name.removeprefix(SOURCE): name for name in names if name.startswith(SOURCE)}
    columns |= {name: name for name in (DEFAULT_KIND, MEASURED_AT) if name in names}
    columns = {kind: name for kind, name in columns.items() if kind != DEFAULT_KIND or source is None}
    return {kind: name for kind, name in columns.items() if all(_is_origin(kind, cell) for cell in frame[name])}


def _is_origin(kind: str, cell: object) -> bool:
    try:
        origin_of_cells({kind: cell})
    except (TypeError, ValueError):
        return False
    return True


def readable_labels(
    settings: Settings, frame: pd.DataFrame, value: str, count: str | None, claimed: Collection[str]
) -> dict[str, str]:
    """The columns of a table that are nothing else, and whose cells are labels, as `label_columns_of` has them.

    Args:
        settings: Those of the study.
        frame: A table with plain names.
        value: The column of values.
        count: The column of how many measurements they are means of; a column "n" that is none is a label.
        claimed: Columns that say what measured a row, and when.
    """
    columns = label_columns_of(settings, frame, True, [value, sign_column(value), *claimed])
    if count is None and COUNT in {*frame.columns} - {*parameter_columns(settings.space, frame), value}:
        columns = {OF_LABEL + COUNT: COUNT} | columns
    readable = {key: column for key, column in columns.items() if all(map(_is_label, frame[column]))}
    return dict(list(readable.items())[: limits.LABELS])


def _is_label(cell: object) -> bool:
    try:
        read_labels({NAME: cell})
    except (TypeError, ValueError):
        return False
    return True


def with_names(frame: Any) -> Any:
    """A table with its index as a column of names, where that has texts and there is no such column."""
    if not is_frame(frame) or {NAME, LABEL + NAME} & {*frame.columns} or not len(frame):
        return frame
    has_texts = all(isinstance(label, str) for label in frame.index)
    return frame.assign(**{LABEL + NAME: frame.index}) if has_texts else frame


def with_plain_values(settings: Settings, frame: pd.DataFrame, value: str) -> tuple[pd.DataFrame, str]:
    """A table of values without units: `with_plain_names`, and numbers in place of texts such as "48.8 %"."""
    table, value = with_plain_names(settings, frame, value)
    if not is_frame(table):
        return table, value
    units = {name or value: quantity.unit for name, quantity in settings.quantities.items() if quantity.unit}
    columns = {f"{name}{sd}": unit for name, unit in units.items() for sd in ("", ".sd")}
    if None in settings.quantities and units:
        columns["sd"] = settings.quantity.unit
    texts = {name: unit for name, unit in columns.items() if name in table.columns and name not in settings.space.names}
    texts = {name: unit for name, unit in texts.items() if table[name].dtype.kind == "O"}
    if not texts:
        return table, value
    return table.assign(
        **{name: [_plain_cell(cell, unit) for cell in table[name]] for name, unit in texts.items()}
    ), value


def _plain_cell(cell: object, unit: str) -> object:
    """The number of a cell with this unit, or the bound without it; any other cell as it is."""
    if not isinstance(cell, str) or (bare := without(unit, cell)) == cell:
        return cell
    try:
        return float(bare)
    except ValueError:
        return bare


def with_plain_names(settings: Settings, frame: pd.DataFrame, value: str) -> tuple[pd.DataFrame, str]:
    """A table whose columns of values have their outcomes' names, though they were called by their labels.

    Args:
        settings: Whose outcomes there are.
        frame: The table.
        value: The column of the only value, `VALUE` unless the user has named it.

    Returns:
        The table, and the name of the column of the only value.

    Raises:
        SpaceError: If several columns may have the values of one outcome.
    """
    if not is_frame(frame):
        return frame, value  # whoever reads it says what must be
    named, parameters = dict[str, str](), {*settings.space.names}
    for name, quantity in settings.quantities.items():
        if name is None and value != VALUE:
            return frame, value
        candidates = [quantity.name, quantity.label] if name else [quantity.name or VALUE, quantity.label, VALUE]
        columns = [
            column for column in dict.fromkeys(candidates) if column in frame.columns and column not in parameters
        ]
        if len(columns) > 1:
            raise SpaceError(
                f"{quantity.label}: there must be one column of its values, got {columns}; drop the others"
            )
        if name is None:
            return frame, columns[0] if columns else quantity.label
        named |= dict.fromkeys(columns, name) | dict.fromkeys(map(sign_column, columns), sign_column(name))
    return frame.rename(columns=named), value
