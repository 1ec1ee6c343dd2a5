"""Scores of the league: log10 of the true regret of what is recommended, and ranks by setting, with intervals.

Problems are fixed and replications are drawn: each problem of a setting counts once, and intervals come from resamples
of replications within each problem, the same replications for all methods (a paired bootstrap). What is compared with
ours has p-values from the standard error of the paired difference, corrected for all comparisons of the page together
by Holm's rule.
"""

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from benchmarks.common.bootstrap import Resampled, bootstrap
from benchmarks.common.tables import ENOUGH
from benchmarks.league import plan
from benchmarks.league.cells import Cell

ROWS = "rows.csv.gz"
CASE = ["setting", "problem", "replication"]
KEY = [*CASE, "method"]
FLOOR = 1e-8  # of the spread of the problem's values: less regret is not told from none
FLOOR_OF_SEEN = 1e-3  # likewise, where only the best value ever seen is known, or values are means of real repeats
RESAMPLES = 2000
VALUES, REGRETS = (tuple(f"{name}_{budget}" for budget in plan.BUDGETS) for name in ("value", "regret"))
LAST = REGRETS[-1]


def row(cell: Cell, entry: dict[str, Any]) -> dict[str, Any]:
    """Row of a cell: true values of what is recommended, mean seconds an ask, and where a peer could not do its own."""
    line = dict(zip(KEY, (cell.setting, cell.problem, cell.replication, cell.method), strict=True))
    peer = " ".join(f"{name}=={version}" for name, version in entry.get("peer", {}).items())
    line |= {name: entry["about"][name] for name in ("commit", "date", "processor", "versions")}
    line |= {"peer": peer, "hours": round(entry["cpu_s"] / 3600, 6)}
    values = dict.fromkeys((f"value_{budget}" for budget in plan.BUDGETS), math.nan)
    if "cannot" in entry:
        return (
            line
            | values
            | {"least": math.nan, "ask_s": math.nan, "drawn": 0, "refused": 0}
            | {"cannot": entry["cannot"]}
        )
    values |= {f"value_{number}": clean for number, clean in entry["recommended_clean"].items()}
    line |= {name: value for name, value in values.items() if name in VALUES}
    line |= {"least": float(f"{floor_of(cell.problem):.6g}")}
    line |= {"ask_s": float(f"{np.mean(entry['ask_s']):.3g}")}
    return line | {"drawn": entry.get("drawn", 0), "refused": entry.get("refused", 0)} | {"cannot": ""}


@cache
def floor_of(name: str) -> float:
    """The least regret of a problem that is told from none, in its values' unit."""
    problem = plan.problem_of(name)
    is_exact = problem.optimum is not None and not plan.PROBLEMS[name].has_repeats
    share = FLOOR if is_exact else FLOOR_OF_SEEN
    return share * float(problem.sample.std())


def with_regrets(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with log10 regrets: from the optimum, or from the best value that anybody has seen or recommended."""
    rows = rows.assign(**dict.fromkeys(REGRETS, math.nan))
    for name, group in rows.groupby("problem"):
        problem = plan.problem_of(str(name))
        assert problem.best is not None
        sign = -1.0 if problem.maximizes else 1.0
        costs = sign * group[list(VALUES)].astype(float)
        best = sign * problem.best[1]
        if problem.optimum is None:
            best = min(best, float(np.nan_to_num(costs.to_numpy(), nan=np.inf).min()))
        regrets = np.log10((costs - best).clip(lower=group["least"], axis=0))
        rows.loc[group.index, list(REGRETS)] = regrets.to_numpy()
    return rows


def read(folder: Path) -> pd.DataFrame:
    """The rows that are kept, with regrets; none where there is no file."""
    file = folder / ROWS
    if file.exists():
        return with_regrets(pd.read_csv(file))
    return pd.DataFrame(columns=[*KEY, *VALUES, *REGRETS, "least", "ask_s", "drawn", "refused", "cannot"])


def enough(rows: pd.DataFrame, column: str = LAST) -> pd.DataFrame:
    """The rows of one setting that can be compared: of methods with at least `ENOUGH` replications of each problem.

    A method must have them of all problems that any method has them of, except those that it cannot search. A problem
    that one of the methods cannot search is left out, and then replications that not all of them have.
    """
    complete = rows[rows[column].notna()]
    counts = complete.groupby(["method", "problem"]).size().unstack(fill_value=0)
    problems = counts.columns[(counts >= ENOUGH).any()]
    cannot = {(r.method, r.problem) for r in rows.itertuples() if isinstance(r.cannot, str) and r.cannot}
    has_all = [
        method
        for method in counts.index
        if all(counts.loc[method, p] >= ENOUGH or (method, p) in cannot for p in problems)
    ]
    common = [p for p in problems if not any((method, p) in cannot for method in has_all)]
    selected = complete[complete["method"].isin(has_all) & complete["problem"].isin(common)]
    paired = selected.groupby(["problem", "replication"])["method"].transform("size") == len(has_all)
    selected = selected[paired]
    left = selected.groupby("problem")["replication"].nunique()
    return selected[selected["problem"].isin(left.index[left >= ENOUGH])]


def setting_scores(rows: pd.DataFrame, column: str = LAST) -> pd.DataFrame:
    """Scores of one setting, a method a row, by mean rank; no row where there is too little to show.

    Columns: rank with its interval (of methods that know no more than a user), the mean log10 regret, its difference
    from ours with standard error and p-value, seconds an ask, problems and the fewest replications.
    """
    selected = enough(rows, column)
    if selected["method"].nunique() < 2:
        return pd.DataFrame()
    wide = selected.pivot_table(index=["problem", "replication"], columns="method", values=column)
    users = [method for method in wide.columns if method not in plan.KNOW_MORE]
    ranks, regrets = (bootstrap(of, ["problem"], RESAMPLES) for of in (wide[users].rank(axis=1), wide))
    lines = []
    for method in wide.columns:
        line = {"method": method, "rank": math.nan, "rank_low": math.nan, "rank_high": math.nan}
        if method in users:
            line |= {"rank": ranks.mean[method], "rank_low": ranks.low[method], "rank_high": ranks.high[method]}
        line |= {"regret": regrets.mean[method], "ask_s": selected.loc[selected["method"] == method, "ask_s"].median()}
        line |= _difference(regrets, method)
        lines.append(line)
    replications = int(selected.groupby("problem")["replication"].nunique().min())
    table = pd.DataFrame(lines).assign(problems=selected["problem"].nunique(), replications=replications)
    return table.sort_values("rank", na_position="last", ignore_index=True)


def _difference(regrets: Resampled, method: str) -> dict[str, float]:
    """A method's mean less that of ours, its standard error, and a two-sided p-value; NaN of ours."""
    if plan.FIRST not in regrets.mean or method == plan.FIRST:
        return {"difference": math.nan, "error": math.nan, "p": math.nan}
    difference = regrets.mean[method] - regrets.mean[plan.FIRST]
    error = float((regrets.resamples[method] - regrets.resamples[plan.FIRST]).std())
    p = float(2 * norm.sf(abs(difference) / error)) if error > 0 else float(difference == 0)
    return {"difference": difference, "error": error, "p": p}


def all_scores(rows: pd.DataFrame) -> dict[plan.Table, pd.DataFrame]:
    """Scores of each table that can be shown, with p-values after Holm's correction over all that are shown."""
    tables = {
        plan.Table(setting, group): setting_scores(rows[(rows["setting"] == setting) & rows["problem"].isin(problems)])
        for group, problems in plan.GROUPS.items()
        for setting in plan.SETTINGS
    }
    shown_tables = {key: table for key, table in tables.items() if len(table)}
    p = np.concatenate([table["p"].to_numpy() for table in shown_tables.values()]) if shown_tables else np.empty(0)
    corrected, at = holm(p), 0
    for table in shown_tables.values():
        table["holm"], at = corrected[at : at + len(table)], at + len(table)
    return shown_tables


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's step-down correction of p-values; those that are NaN do not count."""
    corrected = np.full(len(p), math.nan)
    places = np.flatnonzero(~np.isnan(p))
    in_order = places[np.argsort(p[places], kind="stable")]
    steps = p[in_order] * np.arange(len(in_order), 0, -1)
    corrected[in_order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(steps) else steps
    return corrected
