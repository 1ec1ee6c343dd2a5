"""A regression run as a picture, as Figures 5, 10 and 11 of the relevance pursuit paper.

Where there are several rates, the log density of the test targets by rate; otherwise its distribution over the
replications, a panel a task and corruption. Below, the seconds of a fit.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustbo.replay.score.regression import DENSITY
from robustbo.replay.spec.regression import RegressionSpec
from robustbo.report.canvas import as_text, finish, plt
from robustbo.report.palette import Look, looks


def draw(spec: RegressionSpec, table: pd.DataFrame, methods: Sequence[str], path: Path) -> bool:
    """Draw it; returns whether it was drawn: it is not where matplotlib (of the extra ``report``) is not installed.

    Args:
        spec: The run.
        table: As `score.regression.rows` gives it.
        methods: Which ones, in order.
        path: Of the picture; its suffix says the format.
    """
    if plt is None:
        return False
    panels = [*table.groupby(["task", "corruption"], sort=False)]
    across = table["corruption"].nunique()
    down = -(-len(panels) // across)
    size = (max(7.0, 1.2 + 2.6 * across), 1.2 + 2.2 * (down + 1))
    figure = plt.figure(figsize=size, layout="constrained")
    grid = figure.add_gridspec(down + 1, across)
    styles, has_legend = looks(methods), False
    for i, ((task, corruption), part) in enumerate(panels):
        axes = figure.add_subplot(grid[divmod(i, across)])
        if part["rate"].nunique() > 1:
            _by_rate(axes, part, styles, has_labels=not has_legend)
            has_legend = True
        else:
            _by_method(axes, part, styles)
        axes.set_title(as_text(f"{task}, {corruption}"), fontsize=9)
        if i % across == 0:
            axes.set_ylabel(DENSITY, fontsize=8)
    axes = figure.add_subplot(grid[down, :])
    _boxes(axes, table, table["fit_s"], styles)
    axes.set(yscale="log", ylabel="seconds of a fit")
    axes.tick_params(axis="x", labelsize=7)
    figure.suptitle(as_text(spec.title), fontsize=10)
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    finish(figure, path, has_legend=has_legend)
    return True


def _by_rate(axes: Any, part: pd.DataFrame, styles: dict[str, Look], *, has_labels: bool) -> None:
    for method, look in styles.items():
        mine = part[part["method"] == method].groupby("rate")["nlpd"]
        mean, error = -mine.mean(), mine.sem()
        label = as_text(method) if has_labels else None
        axes.errorbar(
            mean.index, mean, error, color=look.color, linestyle=look.line, marker=".", capsize=2, label=label
        )
    axes.set_xlabel("share of corrupted values")


def _by_method(axes: Any, part: pd.DataFrame, styles: dict[str, Look]) -> None:
    _boxes(axes, part, -part["nlpd"], styles)
    low, high = np.quantile(-part["nlpd"], (0.1, 1.0))
    axes.set_ylim(low - 0.3 * max(high - low, 1e-3), high + 0.1 * max(high - low, 1e-3))
    axes.tick_params(axis="x", labelrotation=90, labelsize=7)


def _boxes(axes: Any, part: pd.DataFrame, values: pd.Series, styles: dict[str, Look]) -> None:
    there = [method for method in styles if (part["method"] == method).any()]
    by_method = [values[part["method"] == method].to_numpy() for method in there]
    found = axes.boxplot(
        by_method, tick_labels=[*map(as_text, there)], patch_artist=True, medianprops={"color": "#000000"}
    )
    for box, method in zip(found["boxes"], there, strict=True):
        box.set(facecolor=styles[method].color, alpha=0.6)
