"""Failing trials: how many are lost, and how good the last recommendation is, beside the best peer.

A method of a run a row. Regret is the distance of the true value at the recommended point from the best that does not
fail, at least 1e-6 (how well that best is known); its logarithm is to base 10. A replication that recommends nothing
counts as the worst of the run, by any method: it says no more than that. So does one that recommends a point whose
trial failed. Differences are paired, over the replications in common: below 0, less regret than the peer's. The best
peer is the one of the smallest mean logarithm of regret, over all that is recorded of it.

Of flakes alone, `failures-flakes`, a second table: regret after so many told values, beside that of the same method
where nothing fails, `failures-none`, after as many. "all" is as many as a replication was told in the end.

    python -m benchmarks.quality.failures --out runs/failures --page docs/evidence/failures.md
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common import pages
from benchmarks.common.commands import add_page
from benchmarks.common.parsers import parser_of
from benchmarks.common.paths import RUNS
from benchmarks.common.tables import put, round_row
from robustbo.replay.output.loaded import load
from robustbo.replay.score.feasible import best_feasible
from robustbo.replay.spec.optimization import RunSpec
from robustbo.report.summary.tables import Rows

ABOUT = {
    "memory": "out of memory (width x depth > 1,500)",
    "disc": "Branin, a disc around one optimum",
    "half-space": "Hartmann6, the half with both basins",
    "slab": "Levy in 3 dimensions, all but a slab of 5 %",
    "checkerboard": "Branin, a checkerboard",
    "flakes": "Hartmann6, 20 % anywhere",
    "flakes-region": "out of memory, and 15 % of the rest",
}
NAMES = tuple(ABOUT)
FLAKES, NONE = "flakes", "none"
PEERS = ("optuna-gp", "optuna-tpe", "ax-viability", "ax-default")
DEFAULT, IGNORING = "relevance-pursuit", "ignoring"
LEAST = 1e-6  # regret: the search for the best feasible value is as exact
COUNTS = (15, 20, 25, 30, 35)  # values, of 50 trials, 14 of them initial


def load_rows(folder: Path, name: str) -> tuple[pd.DataFrame, RunSpec]:
    """The rows of a run, of the replications that are finished, and its spec."""
    run = load(folder / f"failures-{name}.toml")
    assert isinstance(run.spec, RunSpec)
    return complete_replications(run.tables.rows, run.spec.trials), run.spec


def complete_replications(rows: pd.DataFrame, trials: int) -> pd.DataFrame:
    """The rows of replications that have all their trials."""
    counts = rows.groupby(["method", "replication"])["trial"].transform("size")
    return rows[counts == trials].reset_index(drop=True)


def regrets(rows: pd.DataFrame, best: float) -> pd.DataFrame:
    """A method and a replication a row, a trial a column: regret of what is recommended after it; NaN for nothing."""
    failed = set(rows.loc[rows["failed"], ["method", "replication", "trial"]].itertuples(index=False, name=None))
    recommendations = rows[["method", "replication", "recommended"]].itertuples(index=False, name=None)
    is_lost = [not pd.isna(trial) and (method, cell, int(trial)) in failed for method, cell, trial in recommendations]
    regret = (rows["inference"] - best).abs().clip(lower=LEAST).mask(is_lost)
    keyed = rows.assign(regret=regret).set_index(["method", "replication", "trial"])["regret"]
    return keyed.unstack("trial")


def final(rows: pd.DataFrame, best: float) -> pd.DataFrame:
    """A replication a row, a method a column: log10 of the regret in the end, the run's worst where nothing is."""
    last = np.log10(regrets(rows, best)[rows["trial"].max()])
    return last.fillna(last.max()).unstack("method")


def mean_and_error(values: pd.Series) -> tuple[float | None, float | None]:
    """Mean and error of the values that are known; no error of one."""
    present = values.dropna()
    if present.empty:
        return None, None
    return float(present.mean()), None if len(present) < 2 else float(present.std() / np.sqrt(len(present)))


def summary(name: str, rows: pd.DataFrame, spec: RunSpec) -> Rows:
    """A method a row: failures, regret, and its difference from the best peer's."""
    best = best_feasible(spec)
    ends, nothing = final(rows, best), regrets(rows, best)[rows["trial"].max()].isna()
    lost = rows.groupby(["replication", "method"])["failed"].sum().unstack("method")
    peers = [peer for peer in PEERS if peer in ends]
    first = min(peers, key=lambda peer: ends[peer].mean()) if peers else None
    fewest = min((lost[peer].mean() for peer in peers), default=None)
    summaries = []
    for method in [name_of_method for name_of_method in spec.methods if name_of_method in ends]:
        mine = rows[(rows["method"] == method) & (rows["trial"] >= spec.num_initial)]
        failed, log_regret = mean_and_error(lost[method]), mean_and_error(ends[method])
        row: dict[str, Any] = {"run": name, "method": method, "replications": int(ends[method].notna().sum())}
        row |= dict(zip(("failed", "failed_error"), failed, strict=True))
        row |= {"failed_of_best_peer": failed[0] / fewest if fewest and failed[0] is not None else None}
        row |= {"regret_median": float(10 ** ends[method].median()), "recommends_nothing": int(nothing[method].sum())}
        row |= dict(zip(("log10_regret", "log10_regret_error"), log_regret, strict=True))
        difference = mean_and_error(ends[method] - ends[first]) if first else (None, None)
        row |= {"best_peer": first} | dict(zip(("difference", "difference_error"), difference, strict=True))
        row |= {"drawn": int((mine["origin"] == "random").sum())}
        row |= {"ask_s": float((mine["fit_s"] + mine["acquisition_s"]).median())}
        summaries.append(round_row(row))
    return summaries


def claim(summaries: Rows) -> Rows:
    """A run a row: failures and regret of the default, of the same without the model, and of the best peer."""
    lines = []
    for name, about in ABOUT.items():
        of = {row["method"]: row for row in summaries if row["run"] == name}
        if not of:
            continue
        methods = {"default": DEFAULT, "ignoring": IGNORING, "best peer": of[DEFAULT]["best_peer"]}
        line = {"where trials fail": about, "best peer": f"`{methods['best peer']}`"}
        line |= {f"failed, {key}": _with_error(of[method], "failed", 1) for key, method in methods.items()}
        line |= {f"log10 regret, {key}": _with_error(of[method], "log10_regret", 2) for key, method in methods.items()}
        lines.append(line | {"default less best peer": _with_error(of[DEFAULT], "difference", 2)})
    return lines


def _with_error(row: dict[str, Any], column: str, digits: int) -> str:
    return f"{row[column]:.{digits}f} ± {row[f'{column}_error']:.{digits}f}"


def regret_by_value_count(rows: pd.DataFrame, best: float) -> pd.DataFrame:
    """A method and a replication a row, a number of told values a column: log10 of the regret right after the last."""
    told = (~rows["failed"]).groupby([rows["method"], rows["replication"]]).cumsum()
    keep = ~rows["failed"]
    keyed = np.log10(regrets(rows, best)).stack().rename("regret").reset_index()
    joined = rows.assign(told=told)[keep].merge(keyed, on=["method", "replication", "trial"], how="left")
    return joined.set_index(["method", "replication", "told"])["regret"].unstack("told")


def flakes(flaky: pd.DataFrame, clean: pd.DataFrame, best: float) -> Rows:
    """A method and a number of told values a row: regret with flakes and without, and the paired difference."""
    with_them, without = regret_by_value_count(flaky, best), regret_by_value_count(clean, best)
    in_common = with_them.index.intersection(without.index)
    summaries = []
    for method in in_common.unique("method"):
        pair = [table.loc[in_common].loc[method] for table in (with_them, without)]
        ends = [_at_the_end(pair[0], table) for table in pair]
        for told, (mine, other) in [*((n, [table.get(n) for table in pair]) for n in COUNTS), ("all", ends)]:
            if mine is None or other is None or (mine - other).isna().all():
                continue
            row = {"method": method, "told": told, "replications": int((mine - other).notna().sum())}
            row |= {"with_flakes": mean_and_error(mine)[0], "without": mean_and_error(other)[0]}
            row |= dict(zip(("difference", "difference_error"), mean_and_error(mine - other), strict=True))
            summaries.append(round_row(row))
    return summaries


def _at_the_end(flaky: pd.DataFrame, table: pd.DataFrame) -> pd.Series:
    """Rows of a table by told values after as many as each replication was told in the end."""
    counts = flaky.notna().mul(flaky.columns, axis=1).max(axis=1).astype(int)
    return pd.Series({cell: table.at[cell, n] if n in table else np.nan for cell, n in counts.items()})


def main() -> None:
    """Read, print and write the tables."""
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=Path, default=RUNS)
    parser.add_argument("--out", type=Path, default=None, help="a folder")
    add_page(parser)
    options = parser.parse_args()
    names = [name for name in (*NAMES, NONE) if (options.runs / f"failures-{name}").is_dir()]
    runs = {name: load_rows(options.runs, name) for name in names}
    tables = {"summary": [row for name, (rows, spec) in runs.items() for row in summary(name, rows, spec)]}
    if {FLAKES, NONE} <= set(runs):
        tables["flakes"] = flakes(runs[FLAKES][0], runs[NONE][0], best_feasible(runs[FLAKES][1]))
    put(tables, options.out)
    if options.page is not None:
        pages.put(options.page, {"claim": pages.markdown(claim(tables["summary"]))})


if __name__ == "__main__":
    main()
