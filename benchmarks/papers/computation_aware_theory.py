"""The propositions of the paper on computation-aware robust Gaussian processes, in numbers and pictures.

influence.png: the posterior influence function (the divergence from the posterior with a corrupted value to that with
the right one) of IterGP and IterRCGP as that value goes off, for every policy (Proposition 1: unbounded, bounded).
convergence.png: the error of the mean in the norm of the kernel's space, by iteration, and its bound rho(i) c(J_w)
(Proposition 2), rho(i) being the relative error of the representer weights in the norm of A; and for conjugate
gradients Chebyshev's bound beside it. worst-case.png: for every policy and iteration, what the worst function of unit
norm reaches against the combined standard deviation, noise term sigma^2 J_w(x) included (Proposition 3, corrected),
and what random functions reach.

    python -m benchmarks.papers.computation_aware_theory --out runs/computation-aware-theory
"""

import math
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import torch
from torch import Tensor

from benchmarks.common.parsers import parser_of
from robustbo.numerics.gp.kernels_tiled import TiledCovariance, correlation
from robustbo.numerics.iterative.policies import NAMES, by_name
from robustbo.numerics.iterative.solver import WeightBelief, iterate
from robustbo.numerics.weighted.rcgp import constant, inverse_multiquadric
from robustbo.report.charts.palette import COLORS
from robustbo.report.summary.tables import render

N, ITERATIONS, CORRUPTED = 30, 10, 4
S2, S2F, L = 0.05, 1.0, 0.2
JITTER = 1e-6  # of the posterior covariances at the grid, so that their determinants exist
SIZES = torch.logspace(0, 6, 25, dtype=torch.float64)


class Problem(NamedTuple):
    """Values at inputs, what they are weighed by, and the points that the posterior is looked at."""

    X: Tensor
    y: Tensor
    c: Tensor
    grid: Tensor


class Posterior(NamedTuple):
    """Mean and covariance at the grid."""

    mean: Tensor
    covariance: Tensor


def problem() -> Problem:
    """A wave with noise, in no order, so that unit vectors look everywhere."""
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(N, 1, generator=generator)
    y = torch.sin(6 * X[:, 0]) + math.sqrt(S2) * torch.randn(N, generator=generator)
    return Problem(X / L, y, y.abs().quantile(0.9), torch.linspace(0.02, 0.98, 12).unsqueeze(-1) / L)


def iterate_belief(
    case: Problem, y: Tensor, policy: str, is_robust: bool, count: int = ITERATIONS
) -> tuple[TiledCovariance, WeightBelief]:
    """The covariance of the values, and what so many iterations tell."""
    weighting = inverse_multiquadric(y, case.c) if is_robust else constant(y)
    A = TiledCovariance("matern52", case.X, torch.tensor(S2F), S2 * weighting.J)
    z = y + S2 * weighting.b
    return A, iterate(z, by_name(policy, A, z, weighting.share, count), A.times, max_iter=count)


def posterior(case: Problem, y: Tensor, policy: str, is_robust: bool) -> Posterior:
    """The combined posterior at the grid."""
    A, belief = iterate_belief(case, y, policy, is_robust)
    k = A.s2f * correlation(A.kernel, case.grid, case.X)
    prior = A.s2f * correlation(A.kernel, case.grid, case.grid)
    root = k @ belief.D
    return Posterior(k @ belief.v, prior - root @ root.mT + JITTER * torch.eye(len(prior)))


def divergence(first: Posterior, other: Posterior) -> float:
    """Kullback and Leibler's, of one from the other."""
    L_one, L_other = (torch.linalg.cholesky(p.covariance) for p in (first, other))
    spread = torch.linalg.solve_triangular(L_other, L_one, upper=False).square().sum()
    shift = torch.linalg.solve_triangular(L_other, (first.mean - other.mean).unsqueeze(-1), upper=False).square().sum()
    ratio = 2 * (L_other.diagonal().log().sum() - L_one.diagonal().log().sum())
    return 0.5 * (spread + shift - len(first.mean) + ratio).item()


def influence(case: Problem, policy: str, is_robust: bool) -> list[float]:
    """The divergence for every size of the corruption."""
    right = posterior(case, case.y, policy, is_robust)
    results = []
    for size in SIZES:
        y = case.y.index_add(0, torch.tensor([CORRUPTED]), size.reshape(1))
        results.append(divergence(posterior(case, y, policy, is_robust), right))
    return results


class Convergence(NamedTuple):
    """Relative error of the mean after an iteration, and its bounds."""

    error: float
    bound: float
    chebyshev: float


def convergence(case: Problem, policy: str) -> list[Convergence]:
    """Convergence after each iteration of IterRCGP."""
    A, belief = iterate_belief(case, case.y, policy, True, N)
    K, dense = A.dense() - torch.diag(A.N), A.dense()
    exact = torch.linalg.solve(dense, belief.z)
    c = math.sqrt(1 + (A.N.max() / torch.linalg.eigvalsh(K).clamp_min(1e-15).min()).item())
    kappa = math.sqrt(torch.linalg.cond(dense).item())
    results = []
    for i in range(belief.D.shape[-1] + 1):
        gap = exact - belief.first(i).v
        error = (gap @ K @ gap / (exact @ K @ exact)).clamp_min(0).sqrt().item()
        rho = (gap @ dense @ gap / (exact @ dense @ exact)).clamp_min(0).sqrt().item()
        results.append(Convergence(error, rho * c, 2 * ((kappa - 1) / (kappa + 1)) ** i * c))
    return results


class WorstCase(NamedTuple):
    """Values that functions of unit norm reach at a point, and the standard deviation that bounds them."""

    bound: float
    worst: float
    random: float


def worst_cases(case: Problem, policy: str) -> list[WorstCase]:
    """Worst cases at each point of the grid after 1, 5, 10 and 20 iterations; J_w(x) is 1 where nothing is measured."""
    A, all_of_it = iterate_belief(case, case.y, policy, True, N)
    dense, generator = A.dense(), torch.Generator().manual_seed(1)
    k = A.s2f * correlation(A.kernel, case.X, case.grid)
    results = []
    for i in (1, 5, 10, 20):
        belief = all_of_it.first(i)
        for j in range(len(case.grid)):
            # Functions are sums of the kernel's columns at the observations and at the point: coefficients and values.
            Kw = torch.block_diag(dense, torch.tensor([[S2F + S2]]))
            Kw[-1, :-1] = Kw[:-1, -1] = k[:, j]
            C_k = belief.D @ (belief.D.mT @ k[:, j])
            bound = (S2F + S2 - k[:, j] @ C_k).sqrt()
            worst = torch.cat([-C_k, torch.ones(1)])
            random_coefficients = torch.randn(200, len(worst), generator=generator)
            reached = []
            for g in (worst, *random_coefficients):
                values = Kw @ g / (g @ Kw @ g).sqrt()
                reached.append((values[-1] - C_k @ values[:-1]).abs().item())
            results.append(WorstCase(bound.item(), reached[0], max(reached[1:])))
    return results


def draw_influence(curves: dict[tuple[str, bool], list[float]], path: Path) -> None:
    """Two panels: IterGP, IterRCGP."""
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.8), sharex=True, sharey=True, layout="constrained")
    for axes, is_robust in zip(panels, (False, True), strict=True):
        for color, policy in zip(COLORS, NAMES, strict=False):
            axes.loglog(SIZES, curves[policy, is_robust], color=color, label=policy)
        title = "IterRCGP: bounded" if is_robust else "IterGP: grows with the square of the corruption"
        axes.set(title=title, xlabel="size of the corruption of one value")
    panels[0].set(ylabel="influence on the posterior, nats")
    panels[1].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)


def draw_convergence(curves: dict[str, list[Convergence]], path: Path) -> None:
    """A panel a policy."""
    figure, panels = plt.subplots(2, 3, figsize=(9, 5.2), sharex=True, sharey=True, layout="constrained")
    for axes, (policy, curve) in zip(panels.flat, curves.items(), strict=True):
        axes.semilogy([c.error for c in curve], color=COLORS[0], label="error")
        axes.semilogy([c.bound for c in curve], color=COLORS[1], linestyle="--", label="bound")
        if policy == "residual":
            axes.semilogy([c.chebyshev for c in curve], color=COLORS[7], linestyle=":", label="Chebyshev's bound")
            axes.legend(frameon=False, fontsize=8)
        axes.set(title=policy, ylim=(1e-9, 1e5))
    figure.supxlabel("iterations")
    figure.supylabel("relative error of the mean in the kernel's norm")
    figure.savefig(path, dpi=150)


def draw_worst_cases(cases: dict[str, list[WorstCase]], path: Path) -> None:
    """Draw the values that are reached against the bound."""
    figure, axes = plt.subplots(figsize=(5.2, 4.6), layout="constrained")
    axes.plot([0, 1.1], [0, 1.1], color=COLORS[7], linewidth=0.8)
    for color, (policy, results) in zip(COLORS, cases.items(), strict=False):
        axes.scatter([c.bound for c in results], [c.worst for c in results], s=10, color=color, label=policy)
    every = [case for results in cases.values() for case in results]
    axes.scatter(
        [c.bound for c in every],
        [c.random for c in every],
        s=4,
        color=COLORS[7],
        marker="x",
        label="best of 200 random functions",
    )
    axes.set(xlabel="combined standard deviation, noise term included", ylabel="error of the worst function of norm 1")
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Compute, draw, and write the numbers."""
    parser = parser_of(__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out: Path = parser.parse_args().out
    torch.set_default_dtype(torch.float64)
    out.mkdir(parents=True, exist_ok=True)
    case = problem()
    curves = {(policy, robust): influence(case, policy, robust) for policy in NAMES for robust in (False, True)}
    steps = {policy: convergence(case, policy) for policy in NAMES}
    cases = {policy: worst_cases(case, policy) for policy in NAMES}
    draw_influence(curves, out / "influence.png")
    draw_convergence(steps, out / "convergence.png")
    draw_worst_cases(cases, out / "worst-case.png")
    rows = [
        {
            "policy": policy,
            "influence_itergp_1e6": f"{curves[policy, False][-1]:.4g}",
            "influence_iterrcgp_1e6": f"{curves[policy, True][-1]:.4g}",
            "influence_iterrcgp_largest": f"{max(curves[policy, True]):.4g}",
            "largest_error_over_bound": f"{max(c.error / c.bound for c in steps[policy] if c.bound > 1e-9):.4g}",
            "largest_error_over_chebyshev": f"{max(c.error / c.chebyshev for c in steps[policy] if c.bound > 1e-9):.4g}"
            if policy == "residual"
            else "",
            "random_function_over_bound": f"{max(c.random / c.bound for c in cases[policy]):.4g}",
            "largest_gap_of_worst_case": f"{max(abs(c.worst / c.bound - 1) for c in cases[policy]):.2g}",
        }
        for policy in NAMES
    ]
    (out / "summary.csv").write_text(render(rows, "csv"), encoding="utf-8")
    print(render(rows, "table"))


if __name__ == "__main__":
    main()
