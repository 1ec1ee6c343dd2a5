"""Figure 6 of the relevance pursuit paper: the Dow Jones on 22 and 23 April 2013, and the crash of a few minutes.

Top: the 23rd alone; bottom: both days, where the crash lies near the median of all values. Each with the plain GP, the
robust conjugate GP with its source's weights and with ours, and relevance pursuit; beneath, the weights. Every second
minute's opening value, as in the paper; values less their median, over their standard deviation. The robust conjugate
GP of the source has the threshold 1.5 (its authors'); all kernels are Matern-5/2 (the source's is RBF).

    python -m benchmarks.papers.flash_crash --out runs/flash-crash

ROBUSTBO_DATA may name a folder with the data.
"""

from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from benchmarks.common.parsers import parser_of
from robustbo.report.charts.palette import COLORS
from robustbo.report.summary.tables import render
from robustbo.surrogates import ConjugateGP, RelevancePursuitGP, StandardGP
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo.surrogates.common.map_gp import MapGP
from robustbo_problems.datasets import table

MIDNIGHT = 405  # rows of a day
CRASH = (216, 227)  # minutes of the 23rd: 13:06 to 13:17
METHODS: dict[str, tuple[type[MapGP], dict[str, Any]]] = {
    "standard": (StandardGP, {}),
    "rcgp": (ConjugateGP, {"threshold": 1.5, "rounds": 1, "is_weighted": False}),
    "conjugate": (ConjugateGP, {}),
    "relevance-pursuit": (RelevancePursuitGP, {"is_averaged": False}),
}
STYLES = dict(zip(METHODS, [(COLORS[4], "-"), (COLORS[3], "--"), (COLORS[2], "-"), (COLORS[0], "-")], strict=True))


class Panel(NamedTuple):
    """Training and held-out minutes, in minutes of the 23rd, and the fitted models."""

    title: str
    minute: Tensor
    y: Tensor
    between: Tensor
    y_between: Tensor
    models: dict[str, MapGP]


def panel(title: str, first: int) -> Panel:
    """Everything from a row of the table on."""
    X, y = table("djia")
    in_panel = X[:, 0] >= first
    row, y = X[in_panel, 0], y[in_panel]
    is_odd = row % 2 == 1
    center, scale = np.median(y[is_odd]), y[is_odd].std()
    minute, value = (torch.from_numpy(part) for part in (row - MIDNIGHT, (y - center) / scale))
    is_odd = torch.from_numpy(is_odd)
    x = minute / 405
    models = {}
    for name, (cls, options) in METHODS.items():
        models[name] = cls(x[is_odd, None], value[is_odd, None], outcome_transform=None, **options)
        fit(models[name])
    return Panel(title, minute[is_odd], value[is_odd], minute[~is_odd], value[~is_odd], models)


def mean(model: MapGP, minute: Tensor) -> Tensor:
    """The posterior mean at some minutes."""
    with torch.no_grad():
        return model.posterior((minute / 405).unsqueeze(-1)).mean.squeeze(-1)


def draw(panels: list[Panel], path: Path) -> None:
    """Values and means, a detail of the crash, and the weights beneath."""
    figure, axes = plt.subplots(
        4, 2, figsize=(10, 8), height_ratios=(3, 1, 3, 1), width_ratios=(3, 2), layout="constrained"
    )
    for row, panel_data in enumerate(panels):
        for column, (low, high) in enumerate(((panel_data.minute.min().item(), 405), (CRASH[0] - 12, CRASH[1] + 12))):
            curves(axes[2 * row, column], panel_data, low, high)
            weights(axes[2 * row + 1, column], panel_data, low, high)
        axes[2 * row, 0].set(title=panel_data.title, ylabel="opening, standardized")
        axes[2 * row, 1].set(title="the crash")
        axes[2 * row + 1, 0].set(ylabel="weight\u00b2")
    axes[-1, 0].set(xlabel="minutes after 9:30 on 23 April 2013")
    handles, labels = axes[0, 1].get_legend_handles_labels()
    axes[0, 0].legend(handles, labels, frameon=False, fontsize=8, loc="lower right")
    figure.savefig(path, dpi=130)


def curves(axes: Axes, panel: Panel, low: float, high: float) -> None:
    """The values and the means."""
    inside = (panel.minute >= low) & (panel.minute <= high)
    grid = torch.linspace(low, high, 800, dtype=torch.float64)
    axes.scatter(panel.minute[inside], panel.y[inside], s=7, color="#444444")
    for name, model in panel.models.items():
        color, style = STYLES[name]
        axes.plot(grid, mean(model, grid), color=color, linestyle=style, linewidth=1.2, label=name)


def weights(axes: Axes, panel: Panel, low: float, high: float) -> None:
    """Draw how much each value counts: the plain GP's count wholly, relevance pursuit's wholly or hardly."""
    inside = (panel.minute >= low) & (panel.minute <= high)
    for name in ("rcgp", "conjugate"):
        axes.plot(panel.minute[inside], diagnose(panel.models[name]).weight[inside], color=STYLES[name][0], linewidth=1)
    out = [i for i in panel.models["relevance-pursuit"].support if inside[i]]
    axes.scatter(panel.minute[out], torch.zeros(len(out)), marker="x", s=18, color=STYLES["relevance-pursuit"][0])
    axes.set(ylim=(-0.08, 1.08))


def rows(panel: Panel) -> list[dict[str, Any]]:
    """Errors of the mean in the crash: from the line between its two ends, and elsewhere from the minutes
    between."""
    is_crash = (panel.between >= CRASH[0]) & (panel.between <= CRASH[1])
    lines = []
    for name, model in panel.models.items():
        error = (mean(model, panel.between) - panel.y_between).abs()
        at = torch.linspace(*CRASH, 50, dtype=torch.float64)
        ends = mean(model, torch.tensor([CRASH[0] - 4.0, CRASH[1] + 4.0], dtype=torch.float64))
        line = ends[0] + (ends[1] - ends[0]) * (at - at[0]) / (at[-1] - at[0])
        astray = (mean(model, at) - line).abs().max().item()
        elsewhere = error[~is_crash].mean().item()
        figures = {"astray_in_the_crash": f"{astray:.3f}", "mae_elsewhere": f"{elsewhere:.4f}"}
        low = diagnose(model)
        flags = low.is_outlier.nonzero().flatten()
        figures["flagged"] = " ".join(f"{int(panel.minute[i])}" for i in flags.tolist())
        lines.append({"panel": panel.title, "method": name, **figures})
    return lines


def main() -> None:
    """Fit, draw, and write the numbers."""
    parser = parser_of(__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    panels = [panel("23 April", MIDNIGHT), panel("22 and 23 April", 0)]
    draw(panels, out / "figure-6.png")
    lines = [line for panel_data in panels for line in rows(panel_data)]
    (out / "summary.csv").write_text(render(lines, "csv"), encoding="utf-8")
    print(render(lines, "table"))


if __name__ == "__main__":
    main()
