"""The settings in a row of a trial: those asked for, or those at which it was measured."""

from typing import Any

from robustbo.searchspace.space import Space
from robustbo.searchspace.tabular import point_where_measured
from robustbo.sheets.alike import is_as_asked
from robustbo.sheets.filled import FilledRow, value_in
from robustbo.trials.trial import Trial

OWN_ROW = "empty its cell 'trial': then the row is a measurement of its own"


def check_place(space: Space, decimal: str, trial: Trial, row: FilledRow) -> None:
    """Raise a ValueError where a row was measured elsewhere than its trial was asked for."""
    named = dict(space.parameters)
    for name, text in row.cells.items():
        if name not in trial.params:
            raise ValueError(
                f"trial {trial.number} has no {name}, the cell has {text!r}; empty it, or {_elsewhere(trial)}"
            )
        values = [params[name] for params in (trial.params, trial.target_params) if name in params]
        if not any(is_as_asked(named[name], text, value, decimal) for value in values):
            place = f"trial {trial.number} is at {name}={trial.params[name]!r}, the cell has {text!r}"
            raise ValueError(f"{place}; if that is right, {_elsewhere(trial)}; else write {trial.params[name]!r} again")


def _elsewhere(trial: Trial) -> str:
    """Advice on a row that was measured elsewhere; its trial's value must not be told twice."""
    before = f"exclude trial {trial.number} and " if trial.state == "told" else ""
    if trial.is_open:
        return f"it was measured there: read_sheet(..., as_measured=True) (--as-measured) tells it so; or {OWN_ROW}"
    return f"it was measured elsewhere: {before}{OWN_ROW}"


def measured_place(space: Space, decimal: str, trial: Trial, row: FilledRow) -> dict[str, Any]:
    """The point where an open trial was measured, by the cells of its row; none where it was asked for."""
    named = dict(space.parameters)
    moved = {
        name: value_in(name, named[name], text, decimal)
        for name, text in row.cells.items()
        if not is_as_asked(named[name], text, trial.params.get(name), decimal)
    }
    return {"params": point_where_measured(space, trial.params, moved)} if moved else {}
