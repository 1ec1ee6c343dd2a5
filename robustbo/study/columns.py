"""Columns of values in a data frame: their names among the others, and the names that users know them by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustbo.errors import SpaceError
from robustbo.searchspace.measurements import sign_column
from robustbo.searchspace.tabular import is_frame
from robustbo.searchspace.units import without
from robustbo.trials.settings import Settings
from robustbo.view.frame import EVIDENCE, OWN, VALUE

if TYPE_CHECKING:
    import pandas as pd


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


def with_plain_values(settings: Settings, frame: pd.DataFrame, value: str) -> tuple[pd.DataFrame, str]:
    """A table of values without units: `with_plain_names`, and numbers in place of texts such as "48.8 %"."""
    table, value = with_plain_names(settings, frame, value)
    units = {name or value: quantity.unit for name, quantity in settings.quantities.items() if quantity.unit}
    columns = {f"{name}{sd}": unit for name, unit in units.items() for sd in ("", ".sd")} if is_frame(table) else {}
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
