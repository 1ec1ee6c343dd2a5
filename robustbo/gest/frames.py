"""What is believed of values and of failures as data frames, a row a trial, by the identifiers of their points."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from robustbo.gest.problem import ID
from robustbo.loop.belief.judge import COLUMNS, Outlier
from robustbo.loop.feasibility.report import Failure
from robustbo.trials.history import Trial, column_names

FAILURES = ("reason", "looks_like", "log_odds", "again")


def outlier_frame(names: Sequence[str], outliers: Sequence[Outlier]) -> pd.DataFrame:
    """Every told value with its evidence, in the order given; ``names`` are the variables'."""
    rows = [tuple(getattr(o, column) for column in COLUMNS) for o in outliers]
    numbers = ("value", "expected", "sd", "evidence", "probability_wrong", "weight")
    kinds = dict.fromkeys(numbers, "float64") | {"flagged": "bool"}
    return _frame(names, [o.trial for o in outliers], COLUMNS, rows).astype(kinds)


def failure_frame(names: Sequence[str], failures: Sequence[Failure]) -> pd.DataFrame:
    """Every failed trial and what it looks like, in the order given; ``names`` are the variables'."""
    rows = [(f.trial.reason, f.looks_like, f.log_odds, f.again) for f in failures]
    return _frame(names, [f.trial for f in failures], FAILURES, rows).astype({"log_odds": "float64"})


def _frame(
    names: Sequence[str], trials: Sequence[Trial], columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> pd.DataFrame:
    index = pd.Index([trial.number for trial in trials], name=ID, dtype="int64")
    points = [[trial.params[name] for name in names] for trial in trials]
    whole = [[*point, *row] for point, row in zip(points, rows, strict=True)]
    return pd.DataFrame(whole, index=index, columns=[*column_names(names, columns), *columns])
