"""A regression run: the density of the test targets, scores beside a paper's, and what a fit took.

As Figures 5, 10 and 11 of the relevance pursuit paper: where there are several rates, the log density of the test
targets by rate; otherwise its distribution over the replications, a chart a task and corruption.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from robustbo.replay.score.regression import WHERE, beside, with_error
from robustbo.replay.sections.section import Loaded, Tables, score_html, section, timing
from robustbo.replay.spec.regression import NONE, RegressionSpec
from robustbo.report.charts import svg
from robustbo.report.charts.chart import Axis, Chart, Line, Strip, axis, strips
from robustbo.report.page.html import share, side_by_side, table

DENSITY = "log density of a test target"


def charts(spec: RegressionSpec, tables: Tables) -> list[list[Chart]]:
    """A row a task, a chart a corruption; below them the seconds of a fit."""
    panels = [_panel(tables, *where) for where in _panels(tables)]
    across = tables.rows["corruption"].nunique()
    rows = [panels[i : i + across] for i in range(0, len(panels), across)]
    return [*rows, [_seconds(tables)]]


def show(run: Loaded, spec: RegressionSpec) -> str:
    """One run: a chart and a table a task and corruption, timing, and how it is repeated."""
    kinds = ", ".join(kind for kind in spec.corruptions if kind != NONE) or NONE
    about = f"{', '.join(spec.tasks)}; {kinds} corruption of "
    about += ", ".join(f"{100 * rate:g} %" for rate in spec.rates) + " of the training targets"
    theirs = ", and a paper\u2019s mean in brackets" if spec.published is not None else ""
    parts = [
        "<p>Scores of test targets that nobody corrupted: means and standard errors over the replications",
        f"{theirs}. Bold: the best except for the oracle; ≈: within two standard errors of it. "
        "Dots beyond the frame are drawn at its edge.</p>",
    ]
    for task, corruption in _panels(run.tables):
        scores = _scores(_at(run.tables.summary, task, corruption))
        parts.append(run.heading(f"{task}, {corruption}"))
        parts.append(side_by_side([svg.draw(_panel(run.tables, task, corruption)), scores]))
    by_method = [(method, run.tables.of(method)["fit_s"]) for method in run.tables.methods]
    seconds = [(method, (s.median(), s.mean(), s.max())) for method, s in by_method]
    parts.append(timing(run.heading("What a fit took"), ["median", "mean", "slowest"], seconds))
    parts.append(svg.draw(_seconds(run.tables)))
    return section(run, about, parts)


def _panels(tables: Tables) -> list[tuple[str, str]]:
    """Each task and corruption, in order."""
    return [*tables.rows[["task", "corruption"]].drop_duplicates().itertuples(index=False, name=None)]


def _at(table: pd.DataFrame, task: str, corruption: str) -> pd.DataFrame:
    return table[(table["task"] == task) & (table["corruption"] == corruption)]


def _panel(tables: Tables, task: str, corruption: str) -> Chart:
    """The log density of the test targets, by rate where there are several."""
    rows, name = _at(tables.rows, task, corruption), f"{task}, {corruption}"
    if rows["rate"].nunique() > 1:
        return _by_rate(tables, _at(tables.summary, task, corruption), name)
    high, low = -rows["nlpd"].min(), -np.quantile(rows["nlpd"], 0.9)
    reach = max(high - low, 1e-3)
    dots = _strips(tables, rows["method"], -rows["nlpd"])
    about = f"{name}: {DENSITY}, a dot a replication"
    return strips(name, dots, Axis(DENSITY, low - 0.3 * reach, high + 0.1 * reach), about)


def _by_rate(tables: Tables, means: pd.DataFrame, name: str) -> Chart:
    lines = []
    for method in tables.methods:
        mine = means[means["method"] == method]
        x, y, error = mine["rate"].to_numpy(), -mine["nlpd"].to_numpy(), mine["nlpd_error"].to_numpy()
        color, dash = tables.looks[method]
        lines.append(Line(method, color, x, y, y - error, y + error, dash, tables.keys[method]))
    across = axis("share of corrupted values", *(line.x for line in lines))
    up = axis(DENSITY, *(ends for line in lines for ends in (line.y, line.low, line.high)))
    return Chart(name, across, up, lines, about=f"{name}: {DENSITY} by the share of corrupted values")


def _seconds(tables: Tables) -> Chart:
    dots = _strips(tables, tables.rows["method"], tables.rows["fit_s"])
    across = axis("seconds of a fit", tables.rows["fit_s"].to_numpy(), is_log=True)
    return strips("", dots, across, "seconds of a fit, a dot a fit")


def _strips(tables: Tables, methods: pd.Series, values: pd.Series) -> list[Strip]:
    names = [method for method in tables.methods if (methods == method).any()]
    return [Strip(m, tables.looks[m].color, tables.keys[m], values[methods == m].to_numpy()) for m in names]


def _scores(summary: pd.DataFrame) -> str:
    lines: list[Sequence[Any]] = []
    for _, part in summary.groupby(list(WHERE), sort=False):
        ours = part[part["method"] != "oracle"]
        for _, row in part.iterrows():
            shown = [_score(row, ours, score) for score in ("rmse", "mae", "nlpd")]
            rest = (share(row["precision"]), share(row["recall"]), f"{row['fit_s']:.2g} s")
            lines.append([f"{100 * row['rate']:g} %", escape(row["method"]), *shown, *rest])
    header = ["corrupted", "method", "RMSE", "MAE", "NLPD", "precision", "recall", "a fit, median"]
    return table(header, lines, is_safe=True)


def _score(row: pd.Series, ours: pd.DataFrame, score: str) -> str:
    text = with_error(row, score)
    if row["method"] != "oracle" and len(ours):
        best = ours.loc[ours[score].idxmin()]
        error = (row[f"{score}_error"] ** 2 + best[f"{score}_error"] ** 2) ** 0.5
        is_near = row[score] - best[score] <= 2 * error
        text = score_html(text, is_best=row["method"] == best["method"], is_near=is_near)
    return beside(text, row, score)
