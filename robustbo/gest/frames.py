"""Beliefs about values and failures as data frames with a row a trial, by the identifiers of their points."""

from collections.abc import Sequence

import pandas as pd

from robustbo.gest.problem import ID
from robustbo.loop.belief.judge import Outlier
from robustbo.loop.feasibility.report import Failure
from robustbo.trials.history import Trial, column_names
from robustbo.view import frame


def outlier_frame(names: Sequence[str], outliers: Sequence[Outlier]) -> pd.DataFrame:
    """Every told value with its evidence, in the order given; ``names`` are the variables'."""
    return _with_points(names, [outlier.trial for outlier in outliers], frame.outlier_frame(outliers))


def failure_frame(names: Sequence[str], failures: Sequence[Failure]) -> pd.DataFrame:
    """Every failed trial and what it looks like, in the order given; ``names`` are the variables'."""
    return _with_points(names, [failure.trial for failure in failures], frame.failure_frame(failures))


def _with_points(names: Sequence[str], trials: Sequence[Trial], judged: pd.DataFrame) -> pd.DataFrame:
    """A frame by trial with the points before its columns, and gest's name of the index."""
    rows, columns = [[trial.params[name] for name in names] for trial in trials], column_names(names, judged.columns)
    points = pd.DataFrame(rows, index=judged.index, columns=columns)
    return pd.concat([points, judged], axis=1).rename_axis(ID)
