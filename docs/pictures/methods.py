"""Draw the first picture of each page on a method: `python docs/pictures/methods.py [NAME ...]`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import torch

from robustbo.numerics.improvement.wrong import judge_point
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.registry import SURROGATES

matplotlib.use("Agg")
from matplotlib import pyplot as plt

plt.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "methods", "font.size": 9}

BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#777777"
GRID = torch.linspace(0, 1, 201, dtype=torch.float64).unsqueeze(-1)
WRONG = {4: 3.4, 11: -1.6, 19: 1.9}  # of 24 values, with their errors
MORE = {"committee": 5}  # a method for many values gets so many times as many, with as many more wrong ones
OPTIONS: dict[str, dict[str, Any]] = {"computation-aware": {"iterations": 8}, "committee": {"num_experts": 3}}
METHODS = (
    "relevance-pursuit",
    "student-t",
    "student-t-process",
    "filtered",
    "conjugate",
    "computation-aware",
    "committee",
)
BASELINES = ("standard", "winsorized", "trimmed", "huber")


def objective(x: torch.Tensor) -> torch.Tensor:
    """The function that was measured."""
    return torch.sin(7 * x) + 0.6 * x


def measurements(times: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return points, values, and which values are wrong."""
    x = torch.linspace(0, 1, 24 * times, dtype=torch.float64).unsqueeze(-1)
    noise = 0.1 * torch.randn(x.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    error = torch.zeros_like(x)
    for row, size in WRONG.items():
        error[row * times : (row + 1) * times : 2] = size
    return x, objective(x) + noise + error, error.squeeze(-1) != 0


def panel(axes: Any, name: str) -> None:
    """Draw the values, the objective, the plain GP, and the fit of one method with the values that it flags."""
    X, Y, is_wrong = measurements(MORE.get(name, 1))
    plain = fit(SURROGATES["standard"](X, Y)).posterior(GRID).mean
    model = fit(SURROGATES[name](X, Y, **OPTIONS.get(name, {})))
    posterior = model.posterior(GRID)
    mean, sd = posterior.mean.squeeze(-1).detach(), posterior.variance.squeeze(-1).sqrt().detach()
    at, flagged = GRID.squeeze(-1), diagnose(model).is_outlier
    axes.plot(at, objective(at), color=GRAY, ls=":", label="objective")
    if name != "standard":
        axes.plot(at, plain.detach(), color=ORANGE, ls="--", label="plain GP")
    axes.plot(at, mean, color=BLUE, label=f"{name}, ± 2 sd")
    axes.fill_between(at, mean - 2 * sd, mean + 2 * sd, color=BLUE, alpha=0.18, lw=0)
    axes.plot(X[~is_wrong], Y[~is_wrong], "o", color="black", ms=3.5, label="right value")
    axes.plot(X[is_wrong], Y[is_wrong], "x", color="red", ms=7, label="wrong value")
    axes.plot(X[flagged], Y[flagged], "o", mfc="none", mec=BLUE, ms=11, label="flagged")
    axes.set_xticks([])
    axes.set_ylim(-2.6, 4.8)


def draw_method(name: str) -> Any:
    """Draw one method beside the plain GP."""
    figure, axes = plt.subplots(figsize=(5.4, 2.7))
    panel(axes, name)
    axes.legend(frameon=False, loc="upper center", ncols=3, bbox_to_anchor=(0.5, 0))
    return figure


def draw_baselines() -> Any:
    """Draw four baselines side by side."""
    figure, rows = plt.subplots(2, 2, figsize=(5.4, 4.2), sharey=True)
    for axes, name in zip(rows.ravel(), BASELINES, strict=True):
        panel(axes, name)
        axes.set_title(name, fontsize=9)
    handles, labels = rows[0][1].get_legend_handles_labels()
    labels = [label.replace("winsorized", "baseline") for label in labels]
    figure.legend(handles, labels, frameon=False, loc="lower center", ncols=3, bbox_to_anchor=(0.5, -0.07))
    return figure


def draw_doubt() -> Any:
    """Draw how probably a value is wrong, alone and confirmed, by its distance from what is expected."""
    distances = torch.linspace(0, 4, 161).tolist()
    beliefs = {
        "one value": [[z] for z in distances],
        "two values that agree": [[z, z + 0.02] for z in distances],
        "two values, the other as expected": [[z, 0.05] for z in distances],
    }
    figure, axes = plt.subplots(figsize=(5.4, 2.7))
    for (label, cases), style in zip(beliefs.items(), ("-", "--", ":"), strict=True):
        wrong = [judge_point(v, 0.0, 0.07, [0.07] * len(v), center=0, scale=1, rate=0.1).wrong[0] for v in cases]
        axes.plot(distances, wrong, color=BLUE, ls=style, label=label)
    axes.axhline(0.5, color=GRAY, lw=0.8)
    axes.text(4, 0.52, "disbelieved above", ha="right", color=GRAY)
    axes.set(xlabel="distance from the expected value (0 ± 0.07, noise 0.07)", ylabel="probability wrong", ylim=(0, 1))
    axes.legend(frameon=False, loc="center right", bbox_to_anchor=(1, 0.3))
    return figure


def draw_warp() -> Any:
    """Draw the outcomes of the page's example as they were measured, and as its model warps them."""
    generator = torch.Generator().manual_seed(3)
    points = torch.rand(40, 2, dtype=torch.float64, generator=generator)
    values = torch.exp(-40 * ((points - 0.6) ** 2).sum(-1, keepdim=True))
    values = values + 0.01 * torch.randn(40, 1, dtype=torch.float64, generator=generator)
    values[3] = 0.5
    plain = fit(RelevancePursuitGP(points, values, warp="none"))
    learned = fit(RelevancePursuitGP(points, values))
    figure, axes = plt.subplots(figsize=(5.4, 1.9))
    for height, (model, label) in enumerate([(learned, "warped"), (plain, "standardized")]):
        places = model.outcome_transform(values)[0].squeeze(-1).detach()
        places = (places - places.min()) / (places.max() - places.min())
        outliers = [*model.support]
        axes.plot(places, [height] * 40, "|", color="black", ms=14)
        axes.plot(places[outliers], [height] * len(outliers), "o", mfc="none", mec=ORANGE, ms=13)
        axes.text(-0.03, height, label, va="center", ha="right")
    axes.text(1, 1.42, "circled: taken for outliers", ha="right", color=ORANGE)
    axes.set(ylim=(-0.5, 1.8), xticks=[], yticks=[], xlabel="outcome; each row is stretched to the same width")
    axes.spines[["left", "top", "right"]].set_visible(False)
    return figure


PICTURES: dict[str, Callable[[], Any]] = {name: lambda name=name: draw_method(name) for name in METHODS}
PICTURES |= {"baselines": draw_baselines, "doubt": draw_doubt, "warp": draw_warp}

if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        path = Path(__file__).with_name(f"method-{name}.svg")
        PICTURES[name]().savefig(path, bbox_inches="tight", metadata={"Date": None})
