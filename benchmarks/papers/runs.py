"""The papers' figures and tables: recorded a replication of all before the next one, and printed as Markdown.

Figures 5, 7 and 12 and Tables 4 to 7 of the relevance pursuit paper, and the Bayesian optimization of the robust
conjugate paper, by their specs in runs/; what Figures 7 and 12 show is put into its page by
benchmarks/papers/six_settings.py. They are recorded as all runs are (`benchmarks.common.replays`).

    python -m benchmarks.papers.runs record --work W --replications 0:8 --runs tables-4-5 --methods huber standard
    python -m benchmarks.papers.runs keep --work W --out runs
    python -m benchmarks.papers.runs tables --page docs/evidence/papers.md runs/papers.md
"""

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd

from benchmarks.common import replays
from benchmarks.common.commands import Commands
from benchmarks.common.pages import put, table
from benchmarks.common.paths import RUNS
from robustbo.errors import SpecError
from robustbo.replay.output.loaded import load
from robustbo.replay.score.regression import beside, with_error
from robustbo.replay.sections.section import Loaded
from robustbo.replay.spec.optimization import RunSpec

OF_TABLES = ("tables-4-5", "tables-6-7")
FUNCTIONS = ("camel", "branin", "rosenbrock", "mccormick")
SIX = tuple(f"figure-{n}-{kind}" for n in (7, 12) for kind in ("constant", "uniform", "random-point"))
NAMES = ("figure-5-left", "figure-5-right", *OF_TABLES, *(f"conjugate-bo-{name}" for name in FUNCTIONS))
PLACES = ("figure-5-left", "figure-5-right", *OF_TABLES, "conjugate-bo")  # beside the rows, with the causes
OF_CLAIM = ("standard", "student-t", "conjugate", "relevance-pursuit", "default", "oracle")  # in the page
OF_CAUSES = (  # in their table
    *("standard", "published-rule", "published-rule-botorch-kernel", "botorch-relevance-pursuit"),
    *("relevance-pursuit", "averaged", "oracle", "standard-warped", "default", "oracle-warped"),
)
HALVES = (0.5, 1.0)  # of the trials
FLOOR = 1e-6  # less regret, where values are about one wide, is not told from none
BASE = "standard"


def densities(run: Loaded, methods: Sequence[str] | None = None) -> str:
    """Log densities of test targets as Figure 5 has them, a method a row; of all by default, with runs and seconds."""
    summary = run.tables.summary
    where = [*summary[["task", "corruption", "rate"]].drop_duplicates().itertuples(index=False, name=None)]
    is_by_rate = len({rate for *_, rate in where}) > 1
    head = [f"{100 * rate:g} %" if is_by_rate else f"{task}, {corruption}" for task, corruption, rate in where]
    lines = []
    for method, mine in summary.groupby("method", sort=False):
        if methods is not None and method not in methods:
            continue
        at = mine.set_index(["task", "corruption", "rate"])
        shown = [_density(at.loc[key]) if key in at.index else "" for key in where]
        seconds = run.tables.of(str(method))["fit_s"].median()
        lines.append([f"`{method}`", f"{mine['replications'].min()}", *shown, f"{seconds:.2g}"])
    header = ["method", "runs", *head, "seconds of a fit, median"]
    if methods is not None:  # a page has no room for the second column and the last
        header, lines = [header[0], *head], [[line[0], *line[2:-1]] for line in lines]
    return table(header, lines)


def _density(row: pd.Series) -> str:
    return with_error({"nlpd": -row["nlpd"], "nlpd_error": row["nlpd_error"]}, "nlpd")


def causes(run: Loaded) -> str:
    """Causes of pursuit's loss without a warp on Hartmann6: how right flags are, and both scores, a method a row."""
    summary = run.tables.summary
    mine = summary[(summary["task"] == "hartmann6") & (summary["corruption"] == "uniform")].set_index("method")
    lines = []
    for method in (name for name in OF_CAUSES if name in mine.index):
        row = mine.loc[method]
        precision = "-" if np.isnan(row["precision"]) else f"{row['precision']:.2f}"
        lines.append(
            [f"`{method}`", f"{row['replications']}", precision, with_error(row.to_dict(), "rmse"), _density(row)]
        )
    return table(["method", "runs", "precision of flags", "root mean squared error", "log density"], lines)


def scores(run: Loaded) -> str:
    """A table a score, as the paper's: data and corruption a row, a method a column, the paper's mean in brackets."""
    summary = run.tables.summary
    runs = ", ".join(
        f"`{method}` {mine['replications'].min()}" for method, mine in summary.groupby("method", sort=False)
    )
    parts = [f"Replications: {runs}."]
    for score, name in (("rmse", "Root mean squared error"), ("nlpd", "Negative log predictive density")):
        lines = []
        for (task, corruption), part in summary.groupby(["task", "corruption"], sort=False):
            at = part.set_index("method").to_dict("index")
            cells_of_row = (
                beside(with_error(at[m], score), at[m], score) if m in at else "" for m in run.tables.methods
            )
            lines.append([str(task), str(corruption), *cells_of_row])
        header = ["data", "corruption", *(f"`{method}`" for method in run.tables.methods)]
        parts.append(f"{name} (± standard error):\n\n{table(header, lines)}")
    return "\n\n".join(parts)


def regrets(run: Loaded) -> pd.DataFrame:
    """log10 of the true regret of what is recommended: method and replication a row, a share of the trials a column."""
    assert isinstance(run.spec, RunSpec)
    best = run.spec.load_problem().best
    assert best is not None
    rows, by_share = run.tables.rows, {}
    for share in HALVES:
        last = rows[rows["trial"] == round(share * run.spec.trials) - 1].set_index(["method", "replication"])
        by_share[share] = np.log10((last["inference"] - best[1]).clip(lower=FLOOR))
    return pd.DataFrame(by_share)


def optimizations(runs: Sequence[Loaded]) -> str:
    """Regrets in the middle and in the end, and how much less in the end than the plain GP's: a method a row."""
    of_run = {run.name.removeprefix("conjugate-bo-"): regrets(run) for run in runs}
    methods = dict.fromkeys(method for run in runs for method in run.tables.methods)
    lines = []
    for method in methods:
        line = [f"`{method}`"]
        for table_of_run in of_run.values():
            if method not in table_of_run.index:
                line += ["", ""]
                continue
            mine = table_of_run.loc[method]
            less = (
                (mine - table_of_run.loc[BASE])[HALVES[-1]].dropna()
                if BASE in table_of_run.index
                else pd.Series(dtype=float)
            )
            line.append(" → ".join(_mean(mine[share]) for share in HALVES))
            line.append("" if method == BASE else f"{_mean(less)} ({len(less)})")
        lines.append(line)
    head = [part for name in of_run for part in (name, f"less `{BASE}`")]
    return table(["method", *head], lines)


def _mean(values: pd.Series) -> str:
    if not len(values):
        return "-"
    return f"{values.mean():.2f}" + (f" ± {values.sem():.2f}" if len(values) > 1 else "")


def markdown_by_place(options: argparse.Namespace) -> dict[str, str]:
    """The Markdown of each place whose runs are recorded."""
    loaded: dict[str, Loaded] = {}
    for name in NAMES:
        try:
            loaded[name] = load(options.folder / f"{name}.toml")
        except SpecError as error:
            print(f"left out: {error}")
    texts: dict[str, str] = {}
    for place in PLACES:
        mine = [run for name, run in loaded.items() if name.startswith(place)]
        if mine and place == "conjugate-bo":
            texts[place] = optimizations(mine)
        elif mine:
            if place == "figure-5-left":
                texts["causes"] = causes(mine[0])
                texts["claim"] = densities(mine[0], OF_CLAIM)
            texts[place] = (scores if place in OF_TABLES else densities)(mine[0])
    return texts


def tables(options: argparse.Namespace) -> None:
    """Print the tables, or put them where the page has a place for them."""
    put(options.page, markdown_by_place(options))


def main(arguments: Sequence[str] | None = None) -> None:
    """Record, keep rows, or print tables."""
    commands = Commands(__doc__)
    replays.add_steps(commands, NAMES + SIX)
    commands.add_tables(tables, "--folder", RUNS)
    commands.run(arguments)


if __name__ == "__main__":
    main()
