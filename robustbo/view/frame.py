"""Data frames of trials, of outliers and of failures, a row each, indexed by the number of the trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from robustbo.lazy import Module
from robustbo.searchspace.measurements import sign_column
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

    from robustbo.loop.belief.judge import Outlier
    from robustbo.loop.feasibility.report import Failure
else:
    pd = Module("pandas")

VALUE = "value"  # the column of values that have no name
OWN = ("trial", "state", "origin", "reason", "repeats", "asked_by", "asked_at")  # columns of trials
EVIDENCE = ("expected", "expected_sd", "evidence", "probability_wrong", "status", "flagged", "weight")
COLUMNS = ("value", "expected", "sd", "evidence", "probability_wrong", "status", "flagged", "remeasured", "weight")
FAILURE = ("reason", "looks_like", "log_odds", "again")
NUMBERS = ("value", "expected", "sd", "evidence", "probability_wrong", "weight", "log_odds")
DTYPES = dict.fromkeys(NUMBERS, "float64") | {"status": "object", "flagged": "bool"}


def trial_frame(settings: Settings, history: History, outliers: Sequence[Outlier] | None = None) -> pd.DataFrame:
    """One row a trial, with columns of evidence where outliers are given; of several outcomes these bear its name.

    A column of values has the label of its outcome: its name, with its unit where that is said.
    """
    space, outcomes = settings.space, [outcome.name for outcome in settings.outcomes]
    prefixes: dict[str | None, str] = {name: f"{name}." for name in outcomes} or {None: ""}
    extra_columns = [] if outliers is None else [prefix + key for prefix in prefixes.values() for key in EVIDENCE]
    numbers = [name for name, p in space.parameters if p.condition and p.interval]  # which may all be missing
    frame = history.to_frame(names=space.names, reserved=extra_columns, numbers=numbers, outcomes=outcomes)
    for outcome, prefix in prefixes.items() if outliers is not None else ():
        evidence = outlier_frame([o for o in outliers or () if o.outcome == outcome])
        evidence = evidence.rename(columns={"sd": "expected_sd"})[[*EVIDENCE]].astype({"flagged": "boolean"})
        frame = frame.join(evidence.add_prefix(prefix))
    labels = {name or VALUE: quantity.label for name, quantity in settings.quantities.items()}
    return frame.rename(columns=labels | {sign_column(name): sign_column(label) for name, label in labels.items()})


def outlier_frame(outliers: Sequence[Outlier]) -> pd.DataFrame:
    """One row a value, in the order given: the attributes of an `Outlier` that are numbers or words."""
    return _frame(outliers, COLUMNS, [[getattr(outlier, column) for column in COLUMNS] for outlier in outliers])


def failure_frame(failures: Sequence[Failure]) -> pd.DataFrame:
    """One row a failed trial, in the order given: why it failed, and what it looks like."""
    return _frame(failures, FAILURE, [(f.trial.reason, f.looks_like, f.log_odds, f.again) for f in failures])


def _frame(
    judged: Sequence[Outlier] | Sequence[Failure], columns: Sequence[str], rows: Sequence[Sequence[object]]
) -> pd.DataFrame:
    index = pd.Index([entry.trial.number for entry in judged], name="trial", dtype="int64")
    dtypes = {column: DTYPES[column] for column in columns if column in DTYPES}
    return pd.DataFrame(rows, index=index, columns=[*columns]).astype(dtypes)
