"""The README's picture and table, and a page's, from the recorded runs of Figures 7 and 12 of the pursuit paper.

Hartmann6 in six settings. The picture has the baselines that the paper has, the default, and the oracle. Tables:
every method, the true value at the recommended point after the last trial, and, in brackets, its normalized regret
reduction, from the plain GP to the oracle (in the second table, averaged over the trials that have a recommended
point), by the replications that a method has in common with these two. The default's has the 90 % bootstrap interval
of that over the replications, all methods of one resampled together. Beside it stands that of `informed`, the plain GP
that is told of every wrong value as it comes: what can be had without replicates.

    python -m benchmarks.papers.six_settings --out runs/six-settings.png --readme README.md
    python -m benchmarks.papers.six_settings --page docs/evidence/six-settings.md runs/six-settings.md
"""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import bootstrap

from benchmarks.common import pages
from benchmarks.common.commands import add_page
from benchmarks.common.parsers import parser_of
from benchmarks.common.paths import RUNS
from robustbo.replay.output.loaded import load
from robustbo.replay.score.optimization import CONFIDENCE, RESAMPLES, regret_reduction
from robustbo.replay.sections.optimization import curves
from robustbo.replay.sections.section import Loaded
from robustbo.replay.spec.optimization import RunSpec
from robustbo.report.charts import matplotlib_canvas
from robustbo.report.charts.chart import Axis
from robustbo.trials.settings import DEFAULT_SURROGATE

SETTINGS = {"constant": "a constant of 100", "uniform": "uniform in [-3, 3]", "random-point": "the value elsewhere"}
COLUMNS = ("final", "average")
RATES = {7: "10 %", 12: "20 %"}
CURVES = ("sobol", "standard", "winsorized", "power-transform", "trimmed", "student-t", "relevance-pursuit", "oracle")


def load_runs(folder: Path) -> dict[tuple[int, str], Loaded]:
    """The six runs, by the paper's figure and the kind of corruption."""
    return {key: load(folder / f"figure-{key[0]}-{key[1]}.toml") for key in product(RATES, SETTINGS)}


def draw(runs: dict[tuple[int, str], Loaded], path: Path) -> None:
    """Two rows of panels, all with the same axes."""
    panels = []
    for (number, kind), run in runs.items():
        assert isinstance(run.spec, RunSpec)
        chart = curves(run.spec, run.tables._replace(methods=[m for m in CURVES if m in run.tables.methods]))
        panels.append(chart._replace(title=f"{RATES[number]} {SETTINGS[kind]}"))
    x, y = _around([chart.x for chart in panels]), _around([chart.y for chart in panels])
    panels = [chart._replace(x=x, y=y) for chart in panels]
    columns = len(runs) // len(RATES)
    matplotlib_canvas.draw([panels[:columns], panels[columns:]], path)


def _around(axes: list[Axis]) -> Axis:
    """An axis that holds them all."""
    return axes[0]._replace(low=min(axis.low for axis in axes), high=max(axis.high for axis in axes))


def by_replication(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """A replication a row, a method a column: the true value at the recommended point, "final" or its "average"."""
    selected = rows[rows["trial"] == rows["trial"].max()] if column == "final" else rows
    return selected.pivot_table(index="replication", columns="method", values="inference")


def common(values: pd.DataFrame, method: str) -> pd.DataFrame:
    """Replications that the method has in common with the plain GP and the oracle."""
    return values[list(dict.fromkeys(["standard", method, "oracle"]))].dropna()


def table(runs: dict[tuple[int, str], Loaded], column: str) -> str:
    """A method a row, a setting a column, as Markdown; "final" or "average"."""
    per_setting = [by_replication(run.tables.rows, column) for run in runs.values()]
    head = [f"{SETTINGS[kind]}, {RATES[number]}" for number, kind in runs]
    lines = ["| method | " + " | ".join(head) + " |", "| --- |" + " --- |" * len(head)]
    for method in next(iter(runs.values())).tables.methods:
        cells = []
        for values in per_setting:
            if method in values:
                share = regret_reduction(common(values, method).mean(), method)
                cells.append(f"{values[method].mean():.2f} ({100 * share:.0f} %)")
            else:
                cells.append("")
        lines.append(f"| `{method}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def reduction_within(rows: pd.DataFrame, method: str) -> tuple[float, float]:
    """The interval of a method's normalized regret reduction, of the average."""
    three = common(by_replication(rows, "average"), method)

    def reduction(*samples: np.ndarray, axis: int) -> np.ndarray:
        return regret_reduction({name: values.mean(axis) for name, values in zip(three, samples, strict=True)}, method)

    samples, how = three.to_numpy().T, {"confidence_level": CONFIDENCE, "n_resamples": RESAMPLES, "rng": 0}
    return bootstrap(samples, reduction, paired=True, method="percentile", **how).confidence_interval


def default(runs: dict[tuple[int, str], Loaded]) -> str:
    """Table of the default, a setting a row, as Markdown."""
    names = ("standard", DEFAULT_SURROGATE, "oracle")
    columns = [*(f"`{name}`" for name in names), "share at the end", "share of the average", "`informed`"]
    lines = ["| values replaced by | rate | " + " | ".join(columns) + " |", "| --- | --- |" + " --- |" * len(columns)]
    for (number, kind), run in runs.items():
        values = [by_replication(run.tables.rows, column) for column in COLUMNS]
        final, average = (common(per_replication, DEFAULT_SURROGATE).mean() for per_replication in values)
        cells = [f"{final[name]:.2f}" for name in names]
        cells += [f"{100 * regret_reduction(means, DEFAULT_SURROGATE):.0f} %" for means in (final, average)]
        low, high = reduction_within(run.tables.rows, DEFAULT_SURROGATE)
        cells[-1] += f" ({100 * low:.0f} to {100 * high:.0f})"
        informed = common(values[-1], "informed").mean() if "informed" in values[-1] else None
        cells.append("" if informed is None else f"{100 * regret_reduction(informed, 'informed'):.0f} %")
        lines.append(f"| {SETTINGS[kind]} | {RATES[number]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def short(runs: dict[tuple[int, str], Loaded]) -> str:
    """Table for newcomers: the true value in the end, without and with robustness, and where nothing is wrong."""
    names = ("standard", DEFAULT_SURROGATE, "oracle")
    lines = []
    for (number, kind), run in runs.items():
        final = common(by_replication(run.tables.rows, "final"), DEFAULT_SURROGATE).mean()
        lines.append([SETTINGS[kind], RATES[number], *(f"{final[name]:.2f}" for name in names)])
    return pages.table(["wrong values are", "of all", "plain GP", "robustbo", "plain GP, nothing wrong"], lines)


def main() -> None:
    """Draw, and print the tables or put them into pages."""
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=Path, default=RUNS)
    parser.add_argument("--out", type=Path, default=None, help="the picture")
    add_page(parser)
    parser.add_argument("--readme", type=Path, help="likewise the short table")
    options = parser.parse_args()
    runs = load_runs(options.runs)
    if options.out is not None:
        draw(runs, options.out)
    tables = {"MAIN": default(runs)} | {column.upper(): table(runs, column) for column in COLUMNS}
    if options.readme is not None:
        pages.put([options.readme], {"MAIN": short(runs)})
    if options.page is not None or options.readme is None:
        pages.put(options.page, tables)


if __name__ == "__main__":
    main()
