"""Trials as a data frame, with the evidence on each value where that is wanted."""

from collections.abc import Sequence

import pandas as pd

from robustbo.errors import FitError, NumericsWarning, SpaceError, warn
from robustbo.loop.belief.outliers import Outlier, outliers
from robustbo.loop.surrogate.cache import FitCache
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

EVIDENCE = ("expected", "expected_sd", "evidence", "probability_wrong", "status", "flagged", "weight")
KINDS = dict.fromkeys(EVIDENCE, "float64") | {"status": "object", "flagged": "boolean"}
OWN = ("trial", "state", "origin", "reason", "repeats", "asked_by", "asked_at")


VALUE = "value"  # the column of values that have no name


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


def evidence_of(settings: Settings, history: History, fits: FitCache) -> list[Outlier]:
    """What is believed of each told value; none, and a `NumericsWarning`, where no surrogate can judge them."""
    try:
        return outliers(settings, history, fits)
    except FitError as error:
        warn(f"the frame has no evidence: {error}", NumericsWarning)
        return []


def framed(settings: Settings, history: History, report: Sequence[Outlier] | None = None) -> pd.DataFrame:
    """One row a trial; with columns of evidence where there is a report. Of several outcomes they bear its name.

    A column of values has the label of its outcome: its name, with its unit where that is said.
    """
    space, outcomes = settings.space, [wanted.name for wanted in settings.outcomes]
    before: dict[str | None, str] = {name: f"{name}." for name in outcomes} or {None: ""}
    taken = [] if report is None else [name + key for name in before.values() for key in EVIDENCE]
    numbers = [name for name, p in space.parameters if p.condition and p.interval]  # which may all be missing
    frame = history.to_frame(names=space.names, taken=taken, numbers=numbers, outcomes=outcomes)
    for outcome, name in before.items() if report is not None else ():
        found = {o.trial.number: o for o in report or () if o.outcome == outcome}
        rows = [
            (o.expected, o.sd, o.evidence, o.probability_wrong, o.status, o.flagged, o.weight) for o in found.values()
        ]
        columns = pd.DataFrame(rows, index=[*found], columns=[*EVIDENCE]).astype(KINDS)
        frame = frame.join(columns.add_prefix(name))
    return frame.rename(columns={name or VALUE: each.label for name, each in settings.quantities.items()})


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
