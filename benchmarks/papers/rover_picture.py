"""The rover problems as a picture: their obstacles, the best trajectory seen, a random one, and one that breaks down.

python -m benchmarks.papers.rover_picture --out runs/rover/trajectories.png
"""

from pathlib import Path

import matplotlib

from benchmarks.common.parsers import parser_of

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from robustbo.report.charts.palette import COLORS
from robustbo_problems.rover import VARIANTS, Field, load_field, progress, rover, trajectories

BLUE, RED, ORANGE = COLORS[0], COLORS[1], COLORS[4]
GROUND = ListedColormap(["#ffffff", "#c9c9c9"])
LIMITS = (-0.15, 1.15)


def show_ground(axes: Axes, field: Field) -> None:
    """Obstacles and the outside in grey, start and goal."""
    x, y = (np.concatenate([[-1.0], edges, [2.0]]) for edges in field.edges)
    axes.pcolormesh(x, y, field.density.min() < field.density.T, cmap=GROUND)
    for end, name, place in ((field.start, "start", (6, -10)), (field.goal, "goal", (-6, 6))):
        axes.plot(*end, "o", color="black", markersize=6, zorder=5)
        side = "left" if name == "start" else "right"
        axes.annotate(name, end, place, textcoords="offset points", ha=side, fontsize=9, zorder=6)
    axes.set(xlim=LIMITS, ylim=LIMITS, aspect="equal", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))


def show(axes: Axes, curve: np.ndarray, color: str, label: str, stop: int = 999) -> None:
    """A curve ``1000 x 2``, solid up to where the rover stops and dotted from there."""
    axes.plot(*curve[: stop + 1].T, color=color, linewidth=1.8, label=label, zorder=3)
    axes.plot(*curve[stop:].T, color=color, linewidth=1.5, linestyle=":", zorder=3)
    if stop < len(curve) - 1:
        axes.plot(*curve[stop], "X", color=color, markersize=11, markeredgecolor="white", zorder=7)


def show_variant(axes: Axes, variant: str, generator: np.random.Generator) -> None:
    """The ground of one variant, with its three trajectories."""
    problem, field = rover(variant), load_field(variant)
    assert problem.best_seen_at is not None
    best = np.array(list(problem.best_seen_at.values()))
    low, high = field.bounds
    near = np.clip(best + 0.06 * (high - low) * generator.standard_normal(len(best)), low, high)
    curves = trajectories(field, np.array([best, generator.uniform(low, high, len(best)), near]))
    stops, stop = progress(field, curves), int(generator.integers(300, 700))
    show_ground(axes, field)
    show(axes, curves[1], ORANGE, f"random: {stops[1, -1]:.1f}")
    show(axes, curves[2], RED, f"breaks down at the cross: {stops[2, stop]:.1f}, not {stops[2, -1]:.1f}", stop)
    show(axes, curves[0], BLUE, f"best seen: {problem.best_seen:.4f}")
    axes.set_title(f"{variant}, {len(best)} dimensions", fontsize=10)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.07), fontsize=9, frameon=False, reverse=True)


def main() -> None:
    """Draw it."""
    parser = parser_of(__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/rover/trajectories.png"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figure, panels = plt.subplots(1, len(VARIANTS), figsize=(12.5, 5), layout="constrained")
    for axes, variant in zip(panels, VARIANTS, strict=True):
        show_variant(axes, variant, np.random.default_rng(options.seed))
    figure.savefig(options.out, dpi=150)
    print(options.out)


if __name__ == "__main__":
    main()
