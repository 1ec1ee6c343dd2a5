"""A regression run on a page: the density of the test targets, scores beside a paper's, and what a fit took."""

from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd

from robustbo.replay.output.loaded import Loaded, again, opening
from robustbo.replay.score.regression import DENSITY, WHERE, beside, with_error
from robustbo.replay.spec.regression import NONE, RegressionSpec
from robustbo.report import svg
from robustbo.report.html import share, switches, table


def section(run: Loaded, spec: RegressionSpec) -> str:
    """One run: a chart and a table a task and corruption, timing, and how it is repeated."""
    rows = run.found.rows
    kinds = ", ".join(kind for kind in spec.corruptions if kind != NONE) or NONE
    about = f"{', '.join(spec.tasks)}; {kinds} corruption of "
    about += ", ".join(f"{100 * rate:g} %" for rate in spec.rates) + " of the training targets"
    parts = [
        opening(run, about),
        switches(run.keys, run.looks),
        "<p>Scores of test targets that nobody corrupted: means and standard errors over the replications",
        ", and a paper\u2019s mean in brackets" if spec.published is not None else "",
        ". Bold: the best but for the oracle; ≈: within two standard errors of it.</p>",
    ]
    for (task, corruption), part in rows.groupby(["task", "corruption"], sort=False):
        name = f"{task}, {corruption}"
        found = run.found.summary
        mine = found[(found["task"] == task) & (found["corruption"] == corruption)]
        parts.append(f"<h3>{escape(name)}</h3>")
        parts.append(_by_rate(run, mine, name) if part["rate"].nunique() > 1 else _strips(run, part, name))
        parts.append(_scores(mine))
    parts.append(_timing(run))
    parts.append(again(run))
    return "".join([*parts, "</section>"])


def _by_rate(run: Loaded, found: pd.DataFrame, name: str) -> str:
    drawn = []
    for method in run.methods:
        mine = found[found["method"] == method]
        x, y, error = mine["rate"].to_numpy(), -mine["nlpd"].to_numpy(), mine["nlpd_error"].to_numpy()
        look = run.looks[method]
        drawn.append(svg.Line(run.keys[method], look.color, look.dash, x, y, y - error, y + error))
    ends = [array for line in drawn for array in (line.y, line.low, line.high) if array is not None]
    within = svg.frame([line.x for line in drawn], ends, "share of corrupted values", DENSITY)
    return svg.lines(drawn, within, f"{name}: {DENSITY} by the share of corrupted values")


def _strips(run: Loaded, part: pd.DataFrame, name: str) -> str:
    strips = [
        svg.Strip(run.keys[m], run.looks[m].color, m, -part.loc[part["method"] == m, "nlpd"].to_numpy())
        for m in run.methods
    ]
    return svg.strips(strips, DENSITY, f"{name}: {DENSITY}, a dot a replication")


def _scores(found: pd.DataFrame) -> str:
    lines: list[Sequence[Any]] = []
    for _, part in found.groupby(list(WHERE), sort=False):
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
        if row["method"] == best["method"]:
            text = f"<b>{text}</b>"
        elif row[score] - best[score] <= 2 * (row[f"{score}_error"] ** 2 + best[f"{score}_error"] ** 2) ** 0.5:
            text += " ≈"
    return beside(text, row, score)


def _timing(run: Loaded) -> str:
    rows = run.found.rows
    lines = []
    for method in run.methods:
        seconds = rows.loc[rows["method"] == method, "fit_s"]
        lines.append([method, *(f"{value:.2g} s" for value in (seconds.median(), seconds.mean(), seconds.max()))])
    return "<h3>What a fit took</h3>" + table(["method", "median", "mean", "slowest"], lines)
