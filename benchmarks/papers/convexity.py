"""Figure 4 of the relevance pursuit paper: what the convex parameterization of the added variances does.

Minus the log likelihood of one observation and of two, by rho (above) and by s (below). The closed forms in s are
those of `robustbo.numerics.pursuit.convex`; the ones in rho are written out here.

    python -m benchmarks.papers.convexity --out runs/convexity/figure-4.png
"""

from pathlib import Path

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.colors import SymLogNorm
from torch import Tensor

from benchmarks.common.parsers import parser_of
from robustbo.numerics.pursuit.convex import convexity
from robustbo.report.charts.palette import COLORS

K0 = torch.tensor([[1.0, 0.2], [0.2, 1.0]], dtype=torch.float64)
R = torch.tensor([1.2, -0.8], dtype=torch.float64)
MOST = 4.0  # of rho in the pictures


def in_rho(r: Tensor, rho: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Value and two derivatives of -L for one observation of unit variance, in rho."""
    total = 1 + rho
    return (
        0.5 * (total.log() + r**2 / total),
        0.5 * (1 / total - r**2 / total**2),
        0.5 * (2 * r**2 / total**3 - 1 / total**2),
    )


def in_s(r: Tensor, s: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Value and two derivatives of -L for one observation of unit variance, in s."""
    derivatives = convexity(torch.ones(len(s), 1, 1, dtype=s.dtype), r.expand(len(s)).unsqueeze(-1), s.unsqueeze(-1))
    value = 0.5 * (-torch.log1p(-s) + r**2 * (1 - s))
    return value, derivatives.gradient.squeeze() / 2, derivatives.hessian.squeeze() / 2


def hessian_in_rho(rho: Tensor) -> Tensor:
    """``... x 2 x 2`` Hessian of -L in the variances of two correlated observations."""
    P = torch.linalg.inv(K0 + torch.diag_embed(rho))
    al = (P @ R.unsqueeze(-1)).squeeze(-1)
    return al.unsqueeze(-1) * al.unsqueeze(-2) * P - 0.5 * P.square()


def hessian_in_s(s: Tensor) -> Tensor:
    """``... x 2 x 2`` Hessian of -L in the convex variables of the same."""
    return convexity(K0.expand(*s.shape[:-1], 2, 2), R.expand(s.shape), s).hessian / 2


def curves(axes: Axes, x: Tensor, parts: tuple[Tensor, Tensor, Tensor], label: str) -> None:
    """The value and its derivatives."""
    for part, name, color in zip(parts, ("value", "first derivative", "second derivative"), COLORS, strict=False):
        axes.plot(x, part, label=name, color=color)
    axes.axhline(0, color="#999999", linewidth=0.8)
    axes.set(xlabel=label, ylim=(-2, 4), title=f"-log L, one value, |y| = 1.5, by {label}")
    axes.legend(fontsize=7)


def second_derivatives(axes: Axes, x: Tensor, parts: list[tuple[float, Tensor]], label: str) -> None:
    """The second derivative for several sizes of the value."""
    for i, (size, part) in enumerate(parts):
        axes.plot(x, part, label=f"|y| = {size:g}", color=plt.get_cmap("viridis")(i / len(parts)))
    axes.axhline(0, color="#999999", linewidth=0.8)
    axes.set(xlabel=label, ylim=(-1, 3), title=f"second derivative by {label}")
    axes.legend(fontsize=7)


def heatmap(axes: Axes, hessian: Tensor, most: float, label: str) -> None:
    """The smallest eigenvalue of a Hessian over two variables; red is not convex."""
    smallest = torch.linalg.eigvalsh(hessian)[..., 0]
    norm = SymLogNorm(1e-2, vmin=-1, vmax=1)
    image = axes.imshow(smallest.T, origin="lower", extent=(0, most, 0, most), cmap="RdBu", norm=norm, aspect="auto")
    axes.contour(smallest.T, levels=[0.0], extent=(0, most, 0, most), colors="black", linewidths=0.8)
    axes.set(xlabel=f"{label}_1", ylabel=f"{label}_2", title="smallest eigenvalue, two values")
    axes.figure.colorbar(image, ax=axes)


def main() -> None:
    """Draw the six panels."""
    parser = parser_of(__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/convexity/figure-4.png"))
    options = parser.parse_args()
    figure, axes = plt.subplots(2, 3, figsize=(12, 6.5), layout="constrained")
    r, sizes = torch.tensor(1.5, dtype=torch.float64), (0.25, 0.5, 1.0, 1.5, 2.0)
    for row, parameterization, hessian, most, label in (
        (axes[0], in_rho, hessian_in_rho, MOST, "rho"),
        (axes[1], in_s, hessian_in_s, 0.9, "s"),
    ):
        x = torch.linspace(0, most, 200, dtype=torch.float64)
        curves(row[0], x, parameterization(r, x), label)
        second_derivatives(row[1], x, [(size, parameterization(torch.tensor(size), x)[2]) for size in sizes], label)
        heatmap(row[2], hessian(torch.cartesian_prod(x, x).view(200, 200, 2)), most, label)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out, dpi=130)


if __name__ == "__main__":
    main()
