"""Tables made of recorded fits: a row a fit; a summary a task, corruption, rate and method, beside a paper's."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from robustbo.errors import FileError
from robustbo.foreign.tables import Cells, check_columns, table_of
from robustbo.replay.cells.regression import RegressionCell
from robustbo.replay.score.detection import detection
from robustbo.replay.spec.regression import RegressionSpec

SCORES = ("rmse", "mae", "nlpd")
WHERE = ("task", "corruption", "rate")
KEY = (*WHERE, "method")
COLUMNS: dict[str, Cells] = {
    **dict.fromkeys(("method", "task", "corruption"), "text"),
    **dict.fromkeys(("replication", "n", "wrong", "flagged", "hits"), "whole"),
    **dict.fromkeys(("rate", *SCORES, "fit_s"), "number"),
}
PUBLISHED: dict[str, Cells] = {
    **dict.fromkeys(("task", "corruption", "method", "score"), "text"),
    **dict.fromkeys(("rate", "mean", "error"), "number"),
}


def rows(cells: Sequence[RegressionCell]) -> pd.DataFrame:
    """One row per method, replication and scenario.

    Columns: method, replication, task, corruption, rate, n (training rows), rmse and mae (of the test targets, in
    their units), nlpd (mean negative log density of the test targets), wrong (corrupted training rows), flagged,
    hits (those that are both), fit_s.
    """
    records = []
    for cell in cells:
        for entry in cell.entries():
            fields = {"method": cell.method, "replication": cell.replication, "task": entry["name"]}
            left = ("corruption", "rate", "n", *SCORES, "wrong", "flagged", "hits", "fit_s")
            records.append(fields | {name: entry[name] for name in left})
    return pd.DataFrame(records)


def summary(table: pd.DataFrame, methods: Sequence[str], published: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row a task, corruption, rate and method, in the order of the rows and of the methods given.

    Columns: replications; of each score its mean over the replications, its standard error (NaN where there is one
    replication) and, where a paper has them, its own two; precision and recall of the flags (all replications together;
    NaN where there is nothing to divide by); fit_s, the median.
    """
    lines = []
    for where, part in table.groupby(list(WHERE), sort=False):
        for method in methods:
            mine = part[part["method"] == method]
            if len(mine):
                key = dict(zip((*WHERE, "method"), (*where, method), strict=True))
                lines.append(key | _summarize(mine) | _beside(published, key))
    return pd.DataFrame(lines)


def _summarize(mine: pd.DataFrame) -> dict[str, Any]:
    statistics: dict[str, Any] = {"replications": len(mine)}
    for score in SCORES:
        statistics |= {score: mine[score].mean(), f"{score}_error": mine[score].sem()}
    hits, flagged, wrong = (int(mine[name].sum()) for name in ("hits", "flagged", "wrong"))
    return statistics | detection(hits, flagged, wrong) | {"fit_s": mine["fit_s"].median()}


def paper_figures(spec: RegressionSpec) -> pd.DataFrame | None:
    """Read a paper's figures, if the spec names a file: task, corruption, rate, method, score, mean, error."""
    if spec.published is None:
        return None
    published = table_of(spec.published)
    check_columns(published, PUBLISHED, str(spec.published))
    if unknown := sorted({*published["score"]}.difference(SCORES)):
        raise FileError(f"{spec.published}: score must be one of {[*SCORES]}, got {unknown[0]!r}")
    if published.duplicated([*KEY, "score"]).any():
        raise FileError(f"{spec.published}: each {', '.join(KEY)} and score must occur once, but some occur twice")
    return published


def _beside(published: pd.DataFrame | None, key: dict[str, Any]) -> dict[str, Any]:
    if published is None:
        return {}
    mine = published
    for name, value in key.items():
        mine = mine[mine[name] == value]
    by_score = mine.set_index("score")
    published_scores: dict[str, Any] = {}
    for score in sorted(set(published["score"]), key=SCORES.index):
        is_published = score in by_score.index
        published_scores[f"published_{score}"] = by_score.at[score, "mean"] if is_published else math.nan
        published_scores[f"published_{score}_error"] = by_score.at[score, "error"] if is_published else math.nan
    return published_scores


def readable(row: dict[str, Any]) -> dict[str, Any]:
    """A summary's row in as few columns as a terminal of 120 shows well; the paper's means in brackets."""
    named = {name: row[name] for name in (*WHERE, "method")} | {"runs": row["replications"]}
    rest = {name: row[name] for name in ("precision", "recall", "fit_s")}
    return named | {score: beside(with_error(row, score), row, score) for score in ("rmse", "nlpd")} | rest


def with_error(row: Mapping[Any, Any], score: str) -> str:
    """A score of a summary's row, and its standard error where there is one."""
    mean, error = row[score], row[f"{score}_error"]
    return f"{mean:.3g}" if error is None or math.isnan(error) else f"{mean:.3g} ± {error:.1g}"


def beside(text: str, row: Mapping[Any, Any], score: str) -> str:
    """A score as text with a paper's mean in brackets, where the row has it."""
    theirs = row.get(f"published_{score}")
    return text if theirs is None or math.isnan(theirs) else f"{text} ({theirs:.3g})"
