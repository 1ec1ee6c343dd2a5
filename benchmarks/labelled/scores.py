"""Scores of what was said of labelled values: is the probability true, are the flags right, do the predictions hold?

Values whose labels are disputed are left out of all of them. Log losses are pooled over the values of a group, with
probabilities between `SMALLEST` and 1 less that. The base rate's is that of the group's own share of wrong values,
which nobody knows beforehand. Predictions are scored on right values that were held out.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common.tables import log_loss
from benchmarks.labelled.data import CLEAN, DISPUTED, RIGHT, RIVERS, SHIPPED, TABLES, WRONG

SMALLEST = 1e-4  # one that is surer, and wrong, costs 9.2 nats
SURE = 0.99
BEYOND_SMOOTH = ("hbk",)  # ten outliers in one place, which agree: no smooth process can tell them from the rest
GROUPS = (TABLES, "tables without hbk", RIVERS, CLEAN, SHIPPED)


def group_rows(rows: pd.DataFrame, group: str) -> pd.DataFrame:
    """The rows of a group whose labels are not disputed."""
    of_kind = rows[(rows["kind"] == group.split(" without")[0]) & (rows["label"] != DISPUTED)]
    return of_kind[~of_kind["file"].isin(BEYOND_SMOOTH)] if "without" in group else of_kind


def base_rate_loss(is_wrong: pd.Series) -> float:
    """The log loss of the share of wrong values."""
    return log_loss(pd.Series(is_wrong.mean(), index=is_wrong.index), is_wrong, SMALLEST)


def least_loss(probabilities: pd.Series, is_wrong: pd.Series) -> float:
    """The log loss of the best monotone map of some probabilities, which is told the labels: none can do better."""
    from sklearn.isotonic import IsotonicRegression

    mapped = IsotonicRegression(out_of_bounds="clip").fit_transform(probabilities, is_wrong.astype(float))
    return log_loss(pd.Series(mapped, index=is_wrong.index), is_wrong, SMALLEST)


def probability_row(rows: pd.DataFrame) -> dict[str, Any]:
    """Log loss of the probabilities, beside the base rate's, and of those above `SURE` the share that are true."""
    is_wrong, is_sure = rows["label"] == WRONG, rows["wrong"] > SURE
    return {
        "values": len(rows),
        "wrong": int(is_wrong.sum()),
        "log loss": number(log_loss(rows["wrong"], is_wrong, SMALLEST)),
        "base rate's": number(base_rate_loss(is_wrong)),
        "best map's": number(least_loss(rows["wrong"], is_wrong)),
        f"said > {SURE:g}": int(is_sure.sum()),
        "of them true": share(is_wrong[is_sure]),
    }


def flag_row(rows: pd.DataFrame) -> dict[str, Any]:
    """Flags: how many, precision and recall."""
    is_wrong, flagged = rows["label"] == WRONG, rows["flagged"] == 1
    return {
        "values": len(rows),
        "flagged": int(flagged.sum()),
        "share": f"{flagged.mean():.1%}",
        "precision": share(is_wrong[flagged]),
        "recall": share(flagged[is_wrong]),
    }


def prediction_row(rows: pd.DataFrame) -> dict[str, Any]:
    """Coverage of the 90 % intervals and mean log density, of right values that were held out."""
    right = rows[rows["label"] == RIGHT].dropna(subset=["log_density"])
    is_covered = (right["value"] >= right["low"]) & (right["value"] <= right["high"])
    return {"covered by 90 %": share(is_covered), "log density": number(right["log_density"].mean())}


def number(value: float) -> str:
    """A number as a table has it."""
    return "" if np.isnan(value) else f"{value:.3f}"


def share(is_so: pd.Series) -> str:
    """A share as a table has it; empty where there is nothing to have a share of."""
    return f"{is_so.mean():.2f}" if len(is_so) else ""


def score_tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables of the groups: probabilities, flags and predictions."""
    probabilities, flags, predictions = [], [], []
    for group in GROUPS:
        for method, of_method in group_rows(rows, group).groupby("method", sort=False):
            head = {"group": group, "method": method}
            if of_method["wrong"].notna().all() and group not in (CLEAN, SHIPPED):
                probabilities.append(head | probability_row(of_method))
            flags.append(head | flag_row(of_method))
            if of_method["log_density"].notna().any():
                predictions.append(head | prediction_row(of_method))
    files = file_rows(rows)
    return {
        "probabilities": pd.DataFrame(probabilities),
        "flags": pd.DataFrame(flags),
        "predictions": pd.DataFrame(predictions),
        "best-density": best_densities(files),
        "files": pd.DataFrame(files),
    }


def file_rows(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """A row a file and method, of those that say how probable it is that a value is wrong, or predict."""
    counted = rows[rows["label"] != DISPUTED]
    lines = []
    for (file, method), mine in counted.groupby(["file", "method"], sort=False):
        is_wrong = mine["label"] == WRONG
        loss = log_loss(mine["wrong"], is_wrong, SMALLEST) if mine["wrong"].notna().all() else float("nan")
        line = {"file": file, "method": method, "values": len(mine), "wrong": int(is_wrong.sum())}
        line |= {"flagged": int(mine["flagged"].sum()), "hits": int(mine.loc[is_wrong, "flagged"].sum())}
        lines.append(line | {"log loss": number(loss)} | prediction_row(mine))
    return lines


def best_densities(files: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """A row a method: in how many of the files its held-out density is the best of all that are compared."""
    table = pd.DataFrame(files)
    predicted = table[table["log density"] != ""].assign(density=lambda rows: rows["log density"].astype(float))
    best = predicted.groupby("file")["density"].transform("max")
    methods = predicted.assign(is_best=predicted["density"] >= best).groupby("method", sort=False)["is_best"]
    return methods.agg(files="size", best="sum").reset_index()
