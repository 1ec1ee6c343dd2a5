"""Draw the five relations that a source may have to the target: `python docs/pictures/five_relations.py`."""

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

import robustbo as rb
from robustbo.loop.sources.readings import readings

matplotlib.use("Agg")
from matplotlib import pyplot as plt

plt.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "five relations"}

SPACE = rb.Space(x=rb.Float(0.0, 1.0))
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#777777"
AT = (0.04, 0.16, 0.3, 0.44, 0.58, 0.72, 0.86, 0.97)  # where the target was measured
X = np.linspace(0, 1, 121)
RNG = np.random.default_rng(4)


def objective(x):
    """What is to be known."""
    return np.sin(7 * x) + 0.6 * x


SOURCES = {
    "same": objective,
    "offset": lambda x: objective(x) + 1.5,
    "scaled": lambda x: 1.2 - 0.7 * objective(x),
    "biased": lambda x: objective(x) + 2 * x**2,
    "unrelated": lambda x: np.cos(11 * x + 1) - 0.4,
}


def panel(axes, relation, source):
    """Draw one source: what is measured, what is believed of the objective, and what the source reads."""
    old = pd.DataFrame({"x": (np.arange(24) + 0.5) / 24})
    old["value"] = source(old["x"]) + RNG.normal(0, 0.05, 24)
    old.loc[5, "value"] += 2.5  # a wrong value
    sources = {"lab": rb.Source(target=True), "old": rb.Source(ask=False)}
    opt = rb.Optimizer(SPACE, direction="maximize", seed=0, sources=sources, prior_data={"old": old})
    for x in AT:
        opt.tell({"x": x}, float(objective(x) + RNG.normal(0, 0.05)))
    (row,) = opt.sources().to_dict("records")
    believed = opt.predict([{"x": float(x)} for x in X])
    axes.plot(X, objective(X), color=GRAY, ls=":", label="the objective")
    axes.plot(X, believed["mean"], color=BLUE, label="what is believed of it, ± 2 sd")
    mean, sd = believed["mean"], believed["sd"]
    axes.fill_between(X, mean - 2 * sd, mean + 2 * sd, color=BLUE, alpha=0.18, lw=0)
    reads = opt.view.with_models(lambda models: readings(models[0].fitted, "old", [[float(x)] for x in X]))
    if reads is not None and row["relation"] != "unrelated":
        axes.plot(X, reads.mean, color=ORANGE, ls="--", label="what the source reads")
    axes.scatter(AT, [t.value for t in opt.history if t.source is None], color="black", s=22, zorder=3, label="target")
    wrong = [*row["wrong"]]
    is_wrong = old.index.isin(wrong)
    axes.scatter(old["x"], old["value"], facecolor="none", edgecolor=ORANGE, s=18, marker="D", label="source")
    axes.scatter(old["x"][is_wrong], old["value"][is_wrong], color="red", marker="x", s=36, label="wrong by itself")
    axes.set_title(f"{row['relation']} ({row[row['relation']]:.2f})", fontsize=10)
    axes.set_xticks([])
    assert row["relation"] == relation, row


def main() -> None:
    """Draw all five."""
    figure, rows = plt.subplots(2, 3, figsize=(9.5, 5.4), sharey=True)
    for axes, (relation, source) in zip(rows.ravel(), SOURCES.items(), strict=False):
        panel(axes, relation, source)
    handles, labels = rows[0][0].get_legend_handles_labels()
    rows[1][2].axis("off")
    rows[1][2].legend(handles, labels, loc="center", frameon=False)
    figure.tight_layout()
    figure.savefig(Path(__file__).with_suffix(".svg"), bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    main()
