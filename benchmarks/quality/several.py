"""Several outcomes: what each method lacks to the best there is, and how far the default goes from plain to informed.

What a recommendation lacks is the largest hypervolume less its true one, or of one objective the true value's distance
from the best that keeps the constraints (the worst that does, where it breaks one), at least a thousandth of the best;
its logarithm is to base 10. In the end, and on average over the trials with a recommendation but the initial ones.

Tables: `methods`, a method of a run a row, with the paired difference from plain BoTorch; `shares`, a run a row, and
all runs of a kind together: (plain - default) / (plain - informed), `standard` being plain and `informed` told which
values are wrong. Errors are standard errors, of shares by the delta method, all methods of a replication together.

    python -m benchmarks.quality.several --out runs/several --page docs/evidence/several.md runs/several/tables.md
"""

import math
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.common import pages
from benchmarks.common.commands import add_page
from benchmarks.common.parsers import parser_of
from benchmarks.common.paths import RUNS
from benchmarks.common.tables import put, round_row
from benchmarks.quality.failures import complete_replications, mean_and_error
from robustbo.replay.output.loaded import load
from robustbo.replay.spec.optimization import RunSpec
from robustbo.report.charts import matplotlib_canvas
from robustbo.report.charts.chart import Chart, Line, axis
from robustbo.report.charts.palette import looks
from robustbo.report.summary.tables import Rows
from robustbo.trials.settings import DEFAULT_SURROGATE

NAMES = ("branin-currin", "dtlz2-2", "dtlz2-3", "vehicle-safety", "c2-dtlz2")
NAMES += ("gardner", "pressure-vessel", "welded-beam")
KINDS = {"": "exact", "-one": "one outcome", "-all": "all outcomes"}
LEAST = 1e-3  # of the best: what is nearer to it counts as this
PLAIN, INFORMED, BOTORCH = "standard", "informed", "botorch"
COLUMNS = ("end", "average")
METHODS = (DEFAULT_SURROGATE, PLAIN, INFORMED, "oracle", BOTORCH, "optuna-gp", "ax-default")


class Run(NamedTuple):
    """A recorded run: what recommendations lack, as logarithms: a trial a column, a method and a replication a row."""

    name: str
    kind: str
    logs: pd.DataFrame
    ask_s: pd.Series

    def of(self, column: str) -> pd.DataFrame:
        """A replication a row, a method a column: in the "end", or on "average"."""
        column_values = self.logs.mean(axis=1) if column == "average" else self.logs.iloc[:, -1]
        return column_values.unstack("method")


def load_runs(folder: Path) -> list[Run]:
    """The runs that are there, of the replications that are finished."""
    runs = []
    for name, kind in product(NAMES, KINDS):
        if (folder / f"several-{name}{kind}").is_dir():
            run = load(folder / f"several-{name}{kind}.toml")
            assert isinstance(run.spec, RunSpec)
            rows = complete_replications(run.tables.rows, run.spec.trials)
            if len(rows):
                runs.append(Run(name, kind, lacks(rows, run.spec), _seconds(rows, run.spec)))
    return runs


def lacks(rows: pd.DataFrame, spec: RunSpec) -> pd.DataFrame:
    """The logarithms of what recommendations lack, from the last initial trial on."""
    assert spec.best is not None
    best = spec.best[1]
    lack = (best - rows["inference"]) * (1.0 if spec.load_problem().maximizes else -1.0)
    rows = rows.assign(log=np.log10(lack.clip(lower=LEAST * abs(best))))
    keyed = rows[rows["inference"].notna() & (rows["trial"] + 1 >= spec.num_initial)]
    return keyed.set_index(["method", "replication", "trial"])["log"].unstack("trial")


def _seconds(rows: pd.DataFrame, spec: RunSpec) -> pd.Series:
    later_rows = rows[rows["trial"] >= spec.num_initial]
    return (later_rows["fit_s"] + later_rows["acquisition_s"]).groupby(later_rows["method"]).median()


def methods(runs: list[Run]) -> Rows:
    """A method of a run a row: what it lacks, and the paired difference from plain BoTorch's."""
    lines: Rows = []
    for run in runs:
        tables = {column: run.of(column) for column in COLUMNS}
        for method in [name for name in METHODS if name in tables["end"]]:
            row: dict[str, Any] = {"problem": run.name, "wrong": KINDS[run.kind], "method": method}
            row["replications"] = int(tables["end"][method].notna().sum())
            for column, table in tables.items():
                row |= dict(zip((column, f"{column}_error"), mean_and_error(table[method]), strict=True))
                than = mean_and_error(table[method] - table[BOTORCH]) if BOTORCH in table else (None, None)
                row |= dict(zip((f"{column}_than_botorch", f"{column}_than_botorch_error"), than, strict=True))
            lines.append(round_row(row | {"ask_s": float(run.ask_s[method])}))
    return lines


def share(pairs: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float]:
    """The share of a way that is gone, all problems together, and its standard error.

    Args:
        pairs: Of each problem, by replication: what was gone, and the whole way.
    """
    covered, way = (sum(float(pair[i].mean()) for pair in pairs) for i in (0, 1))
    s = covered / way if way else math.nan
    variance = sum(float((a - s * b).var(ddof=1)) / len(a) for a, b in pairs if len(a) > 1)
    return s, math.sqrt(variance) / abs(way) if way and variance else math.nan


def shares(runs: list[Run]) -> Rows:
    """A run a row, then a kind of run with wrong values: how far the default goes from plain to informed."""
    lines: Rows = []
    pairs: dict[tuple[str, str], list[tuple[np.ndarray, np.ndarray]]] = {}
    for run in [run for run in runs if run.kind]:
        row: dict[str, Any] = {"problem": run.name, "wrong": KINDS[run.kind]}
        for column in COLUMNS:
            table = run.of(column)
            if not {PLAIN, INFORMED, DEFAULT_SURROGATE} <= set(table):
                break
            three = table[[PLAIN, DEFAULT_SURROGATE, INFORMED]].dropna()
            pair = tuple((three[PLAIN] - three[other]).to_numpy() for other in (DEFAULT_SURROGATE, INFORMED))
            row |= {"replications": len(three), f"{column}_way": float(pair[1].mean())}
            row |= dict(zip((f"{column}_share", f"{column}_error"), share([pair]), strict=True))
            for key in (run.kind, ""):
                pairs.setdefault((key, column), []).append(pair)
        else:
            lines.append(round_row(row))
    for kind in [kind for kind in (*list(KINDS)[1:], "") if (kind, "end") in pairs]:
        row = {"problem": "all", "wrong": KINDS[kind] if kind else "both"}
        for column in COLUMNS:
            way = [pair[1].mean() for pair in pairs[kind, column]]
            row |= {"replications": len(pairs[kind, column][0][0]), f"{column}_way": float(np.mean(way))}
            row |= dict(zip((f"{column}_share", f"{column}_error"), share(pairs[kind, column]), strict=True))
        lines.append(round_row(row))
    return lines


def draw(runs: list[Run], path: Path) -> bool:
    """A row of panels a problem: what recommendations lack by trial, means over the replications."""
    styles = looks(METHODS)
    rows = []
    for name in [name for name in NAMES if any(run.name == name for run in runs)]:
        mine = [run for run in runs if run.name == name]
        means = [run.logs.groupby("method").mean() for run in mine]
        across = axis("trials", *(mean.columns.to_numpy() + 1.0 for mean in means))
        up = axis("log10 of what is lacking", *(mean.to_numpy().ravel() for mean in means))
        panels = []
        for run, mean in zip(mine, means, strict=True):
            lines = [
                Line(m, styles[m].color, mean.columns.to_numpy() + 1.0, mean.loc[m].to_numpy(), dash=styles[m].dash)
                for m in METHODS
                if m in mean.index
            ]
            panels.append(Chart(f"{name}, {KINDS[run.kind]}", across, up, lines, about=f"{name}{run.kind}"))
        rows.append(panels)
    return matplotlib_canvas.draw(rows, path)


def markdown(of_methods: Rows, of_shares: Rows) -> dict[str, str]:
    """The tables of the page and of the file beside the rows, by their marks."""
    pooled = [row for row in of_shares if row["problem"] == "all"]
    return {
        "METHODS": _methods_table(of_methods),
        "SHARES": _shares_table(of_shares),
        "claim": _shares_table(pooled),
    }


def _methods_table(rows: Rows) -> str:
    names = [name for name in METHODS if any(row["method"] == name for row in rows)]
    lines = []
    for problem, wrong in dict.fromkeys((row["problem"], row["wrong"]) for row in rows):
        mine = {row["method"]: row for row in rows if (row["problem"], row["wrong"]) == (problem, wrong)}
        cells = [_with_error(mine[name], "end") if name in mine else "" for name in names]
        lines.append([problem, wrong, *cells])
    return pages.table(["problem", "wrong", *(f"`{name}`" for name in names)], lines)


def _shares_table(rows: Rows) -> str:
    lines = []
    for row in rows:
        cells = [
            f"{_percent(row[f'{c}_share'])} ± {_percent(row[f'{c}_error'])} (of {row[f'{c}_way']:.2f})" for c in COLUMNS
        ]
        lines.append([row["problem"], row["wrong"], *cells])
    return pages.table(["problem", "wrong", "share at the end", "share of the average"], lines)


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.0f} %"


def _with_error(row: dict[str, Any], column: str) -> str:
    error = row[f"{column}_error"]
    return f"{row[column]:.2f}" + ("" if error is None else f" ± {error:.2f}")


def main() -> None:
    """Read, print and write the tables, draw the picture and fill the page."""
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=Path, default=RUNS, help="the specs, and beside each its folder")
    parser.add_argument("--out", type=Path, default=None, help="a folder for tables and the picture")
    add_page(parser)
    options = parser.parse_args()
    runs = load_runs(options.runs)
    of_methods, of_shares = methods(runs), shares(runs)
    put({"methods": of_methods, "shares": of_shares}, options.out)
    if options.out is not None:
        draw(runs, options.out / "several.png")
    if options.page is not None:
        pages.put(options.page, markdown(of_methods, of_shares))


if __name__ == "__main__":
    main()
