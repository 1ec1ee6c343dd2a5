"""Tables of the page on regression: means by method, and our regressor beside each of the others, paired."""

from itertools import product

import numpy as np
import pandas as pd

from benchmarks.common import pages
from benchmarks.regression.methods import NAMES, OURS
from benchmarks.regression.rows import KINDS, LABELLED, TABLES

CASE = ["table", "kind"]
MOST_CLUSTERED = "hbk"  # ten outliers in one place agree with one another: apart
FEWEST = 5  # cases of a line of the page; the file beside the rows has all lines
SCORES = {"RMSE": ("rmse", 1), "log density": ("log_density", -1), "misjudged": ("misjudged", 1)}  # 1: less is better


def tables(rows: pd.DataFrame) -> dict[str, str]:
    """Tables of all rows, by the marks of the page."""
    rows = rows.assign(misjudged=rows["flagged"] + rows["wrong"] - 2 * rows["hits"])
    ours, labelled = (
        rows[rows["kind"] != LABELLED],
        rows[(rows["kind"] == LABELLED) & (rows["table"] != MOST_CLUSTERED)],
    )
    pairs = [_beside(method, rows) for method in _methods(rows) if method != OURS]
    return {
        "claim": pages.markdown([line for line in pairs if int(line["cases"]) >= FEWEST]),
        "methods": pages.markdown([_line(method, ours, KINDS) for method in _methods(ours)]),
        "labelled": pages.markdown([_line(method, labelled, [LABELLED]) for method in _methods(labelled)]),
        "pairs": pages.markdown(pairs),
        "best": pages.markdown(_best(rows)),
        "tables": pages.markdown(_by_table(ours)),
    }


def _methods(rows: pd.DataFrame) -> list[str]:
    return [name for name in NAMES if name in set(rows["method"])]


def _line(method: str, rows: pd.DataFrame, kinds: list[str] | tuple[str, ...]) -> dict[str, str]:
    """Means of a method over tables and seeds, by kind; what it calls wrong where something is, and seconds."""
    mine = rows[rows["method"] == method]
    line = {"method": method, "fits": f"{len(mine)}"}
    for kind in kinds:
        of = mine[mine["kind"] == kind]
        name = "" if kind == LABELLED else f", {kind}"
        how = "median" if kind == LABELLED else "mean"  # of small tables some fits are far off
        middle = of[["rmse", "log_density"]].agg(how)
        line |= {f"RMSE{name}": f"{middle['rmse']:.3f}", f"log density{name}": _number(middle["log_density"])}
    wrong = mine[mine["kind"] != "none"]
    is_silent = wrong["flagged"].isna().all()
    precision = wrong["hits"].sum() / max(wrong["flagged"].sum(), 1)
    line["precision"] = "" if is_silent else f"{precision:.2f}"
    line["recall"] = "" if is_silent else f"{wrong['hits'].sum() / wrong['wrong'].sum():.2f}"
    line["seconds"] = f"{mine['seconds'].median():.2g}"
    return line


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}"


def _pairs(rows: pd.DataFrame, method: str, other: str, column: str) -> pd.Series:
    """Differences of a score between two methods, by case and seed, where both have one."""
    by = rows.set_index([*CASE, "seed"])
    first, second = (by.loc[by["method"] == name, column] for name in (method, other))
    return (first - second).dropna()


def _beside(other: str, rows: pd.DataFrame) -> dict[str, str]:
    """Our regressor less another method: means over cases with their standard errors; and how many times as fast."""
    line, rows = {"beside": other}, rows.assign(log_rmse=np.log(rows["rmse"]))
    for name, column in {"log RMSE": "log_rmse", "log density": "log_density", "misjudged": "misjudged"}.items():
        means = _pairs(rows, OURS, other, column).groupby(CASE).mean()
        line[name] = "" if means.empty else f"{means.mean():.3f} ± {means.std(ddof=1) / np.sqrt(len(means)):.3f}"
    times = rows.assign(seconds=np.log(rows["seconds"]))
    pairs = _pairs(times, other, OURS, "seconds")
    return line | {"cases": f"{len(pairs.groupby(CASE))}", "times as fast": f"{np.exp(pairs.median()):.2g}"}


def _best(rows: pd.DataFrame) -> list[dict[str, str]]:
    """Counts of the cases in which a method is the best, or within one paired standard error of it, by score."""
    lines = []
    groups = dict(iter(rows.groupby(CASE)))
    for method in _methods(rows):
        line = {"method": method}
        for name, (column, sign) in SCORES.items():
            is_near = [_is_near(of, method, column, sign) for of in groups.values() if _has(of, method, column)]
            line[name] = f"{sum(is_near)} of {len(is_near)}" if is_near else ""
        lines.append(line)
    return lines


def _has(of: pd.DataFrame, method: str, column: str) -> bool:
    return bool(of.loc[of["method"] == method, column].notna().any())


def _is_near(of: pd.DataFrame, method: str, column: str, sign: int) -> bool:
    means = (sign * of[column]).groupby(of["method"]).mean().dropna()
    pairs = sign * _pairs(of, method, str(means.idxmin()), column)
    error = pairs.std(ddof=1) / np.sqrt(len(pairs)) if len(pairs) > 1 else 0.0
    return bool(pairs.mean() <= error)


def _by_table(rows: pd.DataFrame) -> list[dict[str, str]]:
    lines = []
    for kind, method in product(KINDS, _methods(rows)):
        means = rows[(rows["kind"] == kind) & (rows["method"] == method)].groupby("table")["rmse"].mean()
        lines.append({"wrong": kind, "method": method} | {name: f"{means.get(name, np.nan):.3f}" for name in TABLES})
    return lines
