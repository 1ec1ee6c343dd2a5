"""Columns of values in a data frame: their names among the others, and the names that users know them by."""

import pandas as pd

from robustbo.errors import SpaceError
from robustbo.trials.settings import Settings
from robustbo.view.frame import EVIDENCE, OWN, VALUE


def check_names(settings: Settings) -> None:
    """Raise a ValueError where outcomes cannot be told from the other columns of a frame by their names."""
    outcomes, quantities = settings.outcomes, [each for each in settings.quantities.values() if each.name]
    if clash := [each.name for each in quantities if {each.name, each.label} & {*settings.space.names}]:
        hint = "bounds of parameters are constraints of the space: Space(constraints=[...])"
        raise ValueError(f"an outcome must have another name than a parameter, got {clash[0]!r}; {hint}")
    columns = [*OWN, *(f"{wanted.name}.{key}" for wanted in outcomes for key in ("mean", "sd", "excluded", *EVIDENCE))]
    columns += [] if outcomes else ["sd", *EVIDENCE]
    if clash := [each.name for each in quantities if each.name in columns]:
        raise ValueError(f"an outcome must have another name than a column of `frame`, got {clash[0]!r}")


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
    if not isinstance(frame, pd.DataFrame):
        return frame, value  # whoever reads it says what must be
    named, parameters = dict[str, str](), {*settings.space.names}
    for name, each in settings.quantities.items():
        if name is None and value != VALUE:
            return frame, value
        may = [each.name, each.label] if name else [each.name or VALUE, each.label, VALUE]
        there = [column for column in dict.fromkeys(may) if column in frame.columns and column not in parameters]
        if len(there) > 1:
            raise SpaceError(f"{each.label}: there must be one column of its values, got {there}; drop the others")
        if name is None:
            return frame, there[0] if there else each.label
        named |= dict.fromkeys(there, name)
    return frame.rename(columns=named), value
