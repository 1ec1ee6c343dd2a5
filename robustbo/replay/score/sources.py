"""Agreement of the sources in doubt after a run with those that were in error."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from robustbo.replay.cells.optimization import OptimizationCell


def source_columns(cell: OptimizationCell, entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The columns of sources, a row a trial; none where the corruption knows no workers.

    They are source (who measured), and doubted (whether that source is in doubt after the last trial; NA where the
    method is not told who measures).
    """
    corruption = cell.spec.build_corruption()
    labels = [", ".join(cell.spec.source(corruption, cell.root, entry["trial"]).values()) for entry in entries]
    if not any(labels):
        return {}
    doubted = cell.sources_in_doubt()
    is_doubted = [None if doubted is None else label in doubted for label in labels]
    return {"source": labels, "doubted": pd.array(is_doubted, dtype="boolean")}


def name_rates(table: pd.DataFrame) -> dict[str, float]:
    """The share of replications in which each source in error is named, and the mean number of others that are.

    Args:
        table: The rows of a method; without columns of sources nothing is said, and where the method is not told of
            them NaN.
    """
    if "source" not in table:
        return {}
    if table["doubted"].isna().any():
        return {"named": math.nan, "others_named": math.nan}
    is_named, num_others = list[bool](), list[int]()
    for _, rows in table.groupby("replication"):
        wrong = {*rows.loc[rows["corrupted"].astype(bool), "source"]}
        doubted = {*rows.loc[rows["doubted"].astype(bool), "source"]}
        is_named += [wrong <= doubted] if wrong else []
        num_others.append(len(doubted - wrong))
    return {
        "named": sum(is_named) / len(is_named) if is_named else math.nan,
        "others_named": sum(num_others) / len(num_others),
    }
