"""The picture of `benchmarks/quality/sizes.py`: what fits are worth over n, a row of panels a function."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from robustbo.report.charts.palette import COLORS

PANELS = {
    "rmse": "error / spread",
    "nlpd": "negative log density",
    "f1": "F1 of flags",
    "auc": "area under ROC",
    "fit_s": "seconds of a fit",
}
TICKS = (50, 100, 200, 500, 1000, 2000, 5000, 10_000)
LOGARITHMIC = ("rmse", "fit_s")
LOOKS = {"default": COLORS[1], "standard": COLORS[0], "informed": COLORS[6]}


def draw(rows: list[dict[str, Any]], folder: Path, before: list[dict[str, Any]]) -> None:
    """A picture a way of going wrong: medians over the seeds, and from the least to the greatest of them shaded.

    Args:
        rows: All with the columns of `benchmarks/quality/sizes.py`, as text.
        folder: Where ``quality-WRONG.png`` comes.
        before: Rows of another version, whose defaults are drawn dashed; may be none.
    """
    table, other = numeric(rows), numeric(before)
    for wrong, of in table.groupby("wrong"):
        functions = list(dict.fromkeys(of["function"]))
        size = 3.0 * len(PANELS), 2.3 * len(functions) + 0.6
        figure, axes = plt.subplots(
            len(functions), len(PANELS), figsize=size, squeeze=False, sharex=True, layout="constrained"
        )
        for row, function in zip(axes, functions, strict=True):
            earlier = other[(other["wrong"] == wrong) & (other["function"] == function)] if len(other) else other
            for panel, (key, label) in zip(row, PANELS.items(), strict=True):
                _panel(panel, of[of["function"] == function], earlier, key)
                panel.set_title(f"{function}: {label}", fontsize=9)
        for panel in axes[-1]:
            panel.set_xlabel("values")
        axes[0, 0].legend(frameon=False, fontsize=8)
        figure.suptitle(f"a tenth of the values wrong: {wrong}", fontsize=11)
        figure.savefig(folder / f"quality-{wrong}.png", dpi=75)
        plt.close(figure)


def numeric(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows of text as a table of numbers; some are none."""
    table = pd.DataFrame(rows).replace("nan", "")
    return table.assign(**{key: pd.to_numeric(table[key]) for key in ("n", "seed", *PANELS) if key in table})


def _panel(panel: Any, now: pd.DataFrame, before: pd.DataFrame, key: str) -> None:
    """One quantity of one function over n."""
    for method, of in now.groupby("method"):
        by = of.dropna(subset=[key]).groupby("n")[key]
        if by.ngroups and (method, key) != ("standard", "f1"):  # which flags nothing
            x, (low, middle, high) = np.array(sorted(by.groups)), (by.min(), by.median(), by.max())
            panel.plot(x, middle, color=LOOKS[method], marker=".", linewidth=1.2, label=method)
            panel.fill_between(x, low, high, color=LOOKS[method], alpha=0.15, linewidth=0)
    if len(before):
        by = before[before["method"] == "default"].groupby("n")[key].median()
        panel.plot(by.index, by, color=LOOKS["default"], linestyle="--", linewidth=1, label="default, before")
    panel.set_xscale("log")
    at = [n for n in TICKS if now["n"].min() <= n <= now["n"].max()]
    panel.set_xticks(at, [f"{n:,}" for n in at], fontsize=8)
    panel.set_xticks([], minor=True)
    if key in LOGARITHMIC:
        panel.set_yscale("log")
    panel.grid(alpha=0.2)
