"""The curves of a run as a picture, as in Figure 7 of the relevance pursuit paper."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from robustbo.replay.colors import COLORS, FIXED
from robustbo.replay.score import interval
from robustbo.replay.spec import RunSpec

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

LAST = ("-.", "#999999")  # where there are no more


def draw(spec: RunSpec, table: pd.DataFrame, methods: Sequence[str], path: Path) -> bool:
    """True value at the recommended point by trial: mean over replications, with its 90 % bootstrap band.

    Args:
        spec: The run.
        table: As `score.rows` gives it.
        methods: Which ones, in the order of the legend.
        path: Of the picture; its suffix says the format.

    Returns:
        Whether it was drawn: it is not where matplotlib (of the extra ``report``) is not installed.
    """
    if plt is None:
        return False
    problem = spec.load_problem()
    free = product(("-", ":"), (color for color in COLORS if color not in FIXED.values()))
    figure, axes = plt.subplots(figsize=(8.4, 4.3), layout="constrained")
    for method in methods:
        curves = table[table["method"] == method].pivot_table(index="replication", columns="trial", values="inference")
        style, color = ("--" if method == "oracle" else "-", FIXED[method]) if method in FIXED else next(free, LAST)
        low, high = interval(curves.to_numpy())
        trials = curves.columns.to_numpy(dtype=int) + 1
        axes.plot(
            trials,
            curves.mean(),
            color=color,
            label=method,
            linestyle=style,
            linewidth=1.8,
            marker="o" if len(trials) == 1 else None,  # of Ax there is the last recommendation alone
        )
        axes.fill_between(trials, low, high, color=color, alpha=0.15, linewidth=0)
        if len(trials) == 1:
            axes.vlines(trials, low, high, color=color, alpha=0.5, linewidth=3)
    if problem.best is not None:
        label, value = problem.best
        axes.axhline(value, color="#bbbbbb", linewidth=1, linestyle=":", zorder=0)
        axes.annotate(label, (axes.get_xlim()[0], value), (3, 2), textcoords="offset points", color="#777777")
    axes.set(xlabel="trials", ylabel="true value at the recommended point", title=spec.title or spec.problem)
    axes.spines[["top", "right"]].set_visible(False)
    finish(figure, path)
    return True


def finish(figure: Any, path: Path) -> None:
    """Put the legend beside a figure, write it (without what changes from one machine to the next), and close it."""
    figure.legend(frameon=False, loc="outside right center")
    figure.savefig(path, dpi=160, metadata={"Software": None} if path.suffix == ".png" else None)
    plt.close(figure)
