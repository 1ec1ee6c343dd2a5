"""The curves of a run as a picture, as in Figure 7 of the relevance pursuit paper."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from robustbo.replay.score.optimization import curve
from robustbo.replay.spec.optimization import RunSpec
from robustbo.report.canvas import as_text, finish, plt
from robustbo.report.palette import looks


def draw(spec: RunSpec, table: pd.DataFrame, methods: Sequence[str], path: Path) -> bool:
    """True value at the recommended point by trial: mean over replications, with its 90 % bootstrap band.

    Args:
        spec: The run.
        table: As `score.optimization.rows` gives it.
        methods: Which ones, in the order of the legend.
        path: Of the picture; its suffix says the format.

    Returns:
        Whether it was drawn: it is not where matplotlib (of the extra ``report``) is not installed.
    """
    if plt is None:
        return False
    figure, axes = plt.subplots(figsize=(8.4, 4.3), layout="constrained")
    draw_curves(axes, spec, table, methods)
    axes.set(xlabel="trials", ylabel="true value at the recommended point", title=as_text(spec.title or spec.problem))
    finish(figure, path)
    return True


def draw_curves(axes: Any, spec: RunSpec, table: pd.DataFrame, methods: Sequence[str]) -> None:
    """The same within given axes, which it gives no labels."""
    for method, look in looks(methods).items():
        trials, mean, low, high = curve(table, method)
        axes.plot(
            trials,
            mean,
            color=look.color,
            label=as_text(method),
            linestyle=look.line,
            linewidth=1.8,
            marker="o" if len(trials) == 1 else None,  # of Ax there is the last recommendation alone
        )
        axes.fill_between(trials, low, high, color=look.color, alpha=0.15, linewidth=0)
        if len(trials) == 1:
            axes.vlines(trials, low, high, color=look.color, alpha=0.5, linewidth=3)
    if (best := spec.load_problem().best) is not None:
        label, value = best
        axes.axhline(value, color="#bbbbbb", linewidth=1, linestyle=":", zorder=0)
        axes.annotate(label, (axes.get_xlim()[0], value), (3, 2), textcoords="offset points", color="#777777")
    axes.spines[["top", "right"]].set_visible(False)
