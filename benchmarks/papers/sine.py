"""The sine example of the relevance pursuit paper: Figure 1, Figure 2, and the table of L-BFGS tolerances.

The paper does not state its data; here they are 50 values of sin(2 pi x) on [0, 2] with noise of sd 0.05, 15 % of them
replaced by uniform values from the function's range.

    python -m benchmarks.papers.sine --out runs/sine
"""

from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from torch import Tensor

from benchmarks.common.parsers import parser_of
from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.map_fit import maximize
from robustbo.numerics.gp.outlier_gain import errors
from robustbo.numerics.pursuit.support_fit import Level
from robustbo.report.charts.palette import COLORS
from robustbo.report.summary.tables import render
from robustbo.surrogates.baselines.scaled_clip import ScaledClipGP
from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize

TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
GRID = torch.linspace(0, 2, 401, dtype=torch.float64).unsqueeze(-1)
RED, INK = "#D55E00", "#444444"


def truth(X: Tensor) -> Tensor:
    """The sine."""
    return torch.sin(2 * torch.pi * X)


def data(n: int = 50, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs and outcomes (``n x 1`` each), and which outcomes are wrong."""
    generator = torch.Generator().manual_seed(seed)
    X = 2 * torch.rand(n, 1, generator=generator, dtype=torch.float64).sort(0).values
    Y = truth(X) + 0.05 * torch.randn(n, 1, generator=generator, dtype=torch.float64)
    bad = torch.rand(n, generator=generator) < 0.15
    wrong = 2 * torch.rand(n, 1, generator=generator, dtype=torch.float64) - 1
    return X, torch.where(bad.unsqueeze(-1), wrong, Y), bad


def fit_example(cls: type[MapGP]) -> MapGP:
    """A surrogate of the example; plainly standardized, so that the pictures show the models and nothing else."""
    X, Y, _ = data()
    transform = {} if cls is ScaledClipGP else {"outcome_transform": RobustStandardize(m=1)}
    paper = {"is_averaged": False} if cls is RelevancePursuitGP else {}
    model = cls(X, Y, **transform, **paper)
    fit(model)
    return model


def show_data(axes: Axes) -> None:
    """The truth, and the values with the wrong ones in red."""
    X, Y, bad = data()
    axes.plot(GRID, truth(GRID), color=INK, linestyle=":", linewidth=1.2, label="truth")
    axes.scatter(X[~bad], Y[~bad], s=12, color=INK, label="values")
    axes.scatter(X[bad], Y[bad], s=28, color=RED, marker="X", label="corrupted values")
    axes.set(xlabel="x", ylabel="y", ylim=(-2.5, 1.6))


def figure_1(path: Path) -> None:
    """Relevance pursuit, the plain GP and the scaled and clipped one on the same values."""
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    show_data(axes)
    for cls, name, color, style in (
        (StandardGP, "standard", COLORS[4], "-"),
        (ScaledClipGP, "scaled-clip", COLORS[3], "--"),
        (RelevancePursuitGP, "relevance-pursuit", COLORS[0], "-"),
    ):
        model = fit_example(cls)
        with torch.no_grad():
            posterior = model.posterior(GRID)
        mean, sd = posterior.mean.squeeze(-1), posterior.variance.squeeze(-1).sqrt()
        error = (mean - truth(GRID).squeeze(-1)).square().mean().sqrt().item()
        axes.plot(GRID, mean, style, color=color, label=f"{name}: RMSE {error:.3f}")
        axes.fill_between(GRID.squeeze(-1), mean - 2 * sd, mean + 2 * sd, color=color, alpha=0.15, linewidth=0)
    X, Y, _ = data()
    outliers = fit_example(RelevancePursuitGP).support
    axes.scatter(
        X[outliers], Y[outliers], s=90, facecolors="none", edgecolors=COLORS[0], label="found by relevance pursuit"
    )
    axes.legend(fontsize=8, ncols=2, loc="lower left")
    figure.savefig(path, dpi=150)


def mean_of(model: RelevancePursuitGP, level: Level) -> Tensor:
    """The posterior mean on the grid at one level of a pursuit."""
    search, X = model.search_model(), model.train_inputs[0]
    theta, value = level.fit.theta, log_posterior(search, level.fit.theta, level.fit.rho)
    k = KERNELS["matern52"](squared_differences(GRID, X), theta[:1].exp(), theta[1].exp()).K
    mean, _ = model.outcome_transform.untransform((value.evidence.m + k @ value.evidence.al).unsqueeze(-1))
    return mean.squeeze(-1)


def figure_2(path: Path) -> None:
    """The models of a pursuit as the support grows, and the posterior over its size."""
    model = fit_example(RelevancePursuitGP)
    assert isinstance(model, RelevancePursuitGP)
    sizes = [len(level.support) for level in model.trace]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=(2, 1))
    show_data(left)
    for i, level in enumerate(model.trace):
        shade = plt.get_cmap("Blues")(0.25 + 0.7 * i / max(len(sizes) - 1, 1))
        left.plot(GRID, mean_of(model, level), color=shade, linewidth=1.4, label=f"|S| = {sizes[i]}")
    left.legend(fontsize=7, ncols=2, loc="lower left")
    posterior = [max(p, 1e-12) for p in model.level_posterior]
    best = posterior.index(max(posterior))
    bars = right.bar([str(size) for size in sizes], posterior, color=COLORS[5])
    bars[best].set(edgecolor="black", linewidth=2)
    right.set(xlabel="|S|", ylabel="posterior probability", yscale="log", ylim=(1e-12, 2))
    figure.savefig(path, dpi=150)


def tolerances() -> list[dict[str, object]]:
    """The negative log posterior density that L-BFGS-B reaches when all variances are free, by tolerance.

    The last column is the search that the surrogates use, in its logarithmic parameterization.
    """
    model = RelevancePursuitGP(*data()[:2], outcome_transform=RobustStandardize(m=1))
    model.eval()
    search, n = model.search_model(), len(model.train_targets)
    theta, nothing = search.starts[0], torch.zeros(n, dtype=torch.float64)
    climb = partial(maximize, search, theta, nothing, torch.arange(n), errors(search, theta, nothing)[1], maxiter=15000)
    rows: list[dict[str, object]] = []
    for ftol in TOLERANCES:
        fits = {name: climb(ftol=ftol, parameterization=name) for name in ("canonical", "convex", "log")}
        rows.append({"ftol": f"{ftol:g}"} | {name: round(-fit.F, 2) for name, fit in fits.items()})
        rows[-1] |= {f"{name}_evaluations": fit.num_evaluations for name, fit in fits.items()}
    return rows


def main() -> None:
    """Draw and write everything."""
    parser = parser_of(__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/sine"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    figure_1(options.out / "figure-1.png")
    with torch.no_grad():
        figure_2(options.out / "figure-2.png")
        rows = tolerances()
    (options.out / "tolerances.csv").write_text(render(rows, "csv"), encoding="utf-8")
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
