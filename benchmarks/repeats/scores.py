"""Scores of doubts about really repeated values, with errors by the jackknife over replications.

A replication's values share a surrogate and most points, so each is left out as a whole. The area under the curve (AUC)
is the probability that a case has a larger number than one that is none, ties counting half: 0.5 where the number says
nothing.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from benchmarks.common.tables import log_loss
from benchmarks.repeats.reports import FAR

EDGES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
BY = "replication"


def auc(number: pd.Series, is_case: pd.Series) -> float:
    """The probability that a case has the larger number; NaN where there is no case, or nothing else."""
    case = is_case.to_numpy(bool)
    cases, num_others = case.sum(), (~case).sum()
    if not cases or not num_others:
        return float("nan")
    return float((rankdata(number)[case].sum() - cases * (cases + 1) / 2) / (cases * num_others))


def jackknife(score: Callable[[pd.DataFrame], float], table: pd.DataFrame, by: str = BY) -> tuple[float, float]:
    """A score of a table, and its standard error, each group of rows being left out in turn.

    The error of a single group is NaN, and so are both where there is no row.
    """
    groups = table[by].unique()
    if len(groups) < 2:
        return (score(table) if len(groups) else float("nan")), float("nan")
    without = np.array([score(table[table[by] != group]) for group in groups])
    n = len(groups)
    error = np.sqrt((n - 1) / n * np.square(without - without.mean()).sum())
    return score(table), float(error)


def number_text(value: float, error: float, digits: int = 2) -> str:
    """A number with its standard error, as a table has it."""
    if np.isnan(value):
        return "-"
    return f"{value:.{digits}f}" + ("" if np.isnan(error) else f" ± {error:.{digits}f}")


def is_wrong(table: pd.DataFrame, far: float = FAR[0]) -> pd.Series:
    """Return whether the other measurements contradict each value."""
    return table["distance"] > far


def detection_row(table: pd.DataFrame) -> dict[str, Any]:
    """A surrogate's row: what it flags, whether that lies farther, and whether its evidence finds what is wrong."""
    comparable = table[table["distance"].notna()]
    flagged = comparable["flagged"].astype(bool)
    return {
        "values": len(comparable),
        "wrong": f"{is_wrong(comparable).mean():.1%}",
        "flagged": int(flagged.sum()),
        "of them wrong": number_text(*jackknife(lambda rows: is_wrong(rows[rows["flagged"] == 1]).mean(), comparable)),
        "found": number_text(*jackknife(lambda rows: rows.loc[is_wrong(rows), "flagged"].mean(), comparable)),
        "AUC, distance of flagged": number_text(
            *jackknife(lambda rows: auc(rows["distance"], rows["flagged"] == 1), comparable)
        ),
    } | {
        f"AUC, evidence of > {far:g} sd": number_text(*jackknife(partial(_evidence_auc, far=far), comparable))
        for far in FAR
    }


def _evidence_auc(rows: pd.DataFrame, far: float) -> float:
    return auc(rows["evidence"], is_wrong(rows, far))


def reliability(table: pd.DataFrame, far: float = FAR[0]) -> Iterator[dict[str, Any]]:
    """A row a range of probabilities: how many values were said to be wrong with it, and how many were."""
    comparable = table[table["distance"].notna()]
    for low, high in pairwise(EDGES):
        p = comparable["probability"]
        mine = comparable[(p >= low) & ((p < high) | (high == EDGES[-1]))]
        if len(mine):
            wrong = jackknife(lambda rows: is_wrong(rows, far).mean(), mine)
            mean_probability = f"{mine['probability'].mean():.2f}"
            yield {
                "probability": f"{low:g} to {high:g}",
                "values": len(mine),
                "said": mean_probability,
                "wrong": number_text(*wrong),
            }


def losses(table: pd.DataFrame, far: float = FAR[0]) -> dict[str, Any]:
    """The log loss of what was said, beside that of the share of wrong values, which nobody knows beforehand."""
    comparable = table[table["distance"].notna()]

    def loss(rows: pd.DataFrame) -> float:
        return log_loss(rows["probability"], is_wrong(rows, far))

    def base(rows: pd.DataFrame) -> float:
        share = is_wrong(rows, far).mean()
        return log_loss(pd.Series(share, index=rows.index), is_wrong(rows, far))

    return {
        "wrong is": f"> {far:g} sd",
        "values": len(comparable),
        "wrong": f"{is_wrong(comparable, far).mean():.1%}",
        "log loss": number_text(*jackknife(loss, comparable), 3),
        "of the share": number_text(*jackknife(base, comparable), 3),
        "difference": number_text(*jackknife(lambda rows: loss(rows) - base(rows), comparable), 3),
    }


def mean(values: pd.Series, digits: int = 2) -> str:
    """The mean of those that are known, with its standard error."""
    present = values.dropna()
    return number_text(present.mean(), present.std() / np.sqrt(len(present)), digits) if len(present) else "-"
