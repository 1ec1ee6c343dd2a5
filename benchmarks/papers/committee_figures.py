"""Figures 3, 5 and 6 of the source on distributed robust GPs: committees of Student-t and of normal experts.

Figure 3: California housing in place of the source's traffic data, which are not public; 18,000 training rows, the
others to test on, experts of 75 to 600, a split a repetition. Figure 5: Boston, the first 455 rows to train on and the
last 51 to test on, as the source has it, or (``at`` 1) a random split a repetition; 1 to 6 experts. Figure 6: a linear
model of five inputs, three of them informative, noise of sd 2, 200,000 training values of which 1 to 15 % lie ten
standard deviations too high, 2,000 test values (clean ones here, so that the error is the model's).

Each repetition has a partition of its own. The degrees of freedom are learned with the other hyperparameters, from all
experts (Figure 5), 4,500 rows (3) or 4,000 (6). Errors are in standard deviations of the targets, in Figure 6 in the
data's units.

    python -m benchmarks.papers.committee_figures --figure 6 --repetitions 10 --jobs 2 --out runs/committee

A row that the CSV has is not computed again. ROBUSTBO_DATA may name a folder with the data (Figures 3 and 5).
"""

import math
import multiprocessing
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import Tensor

from benchmarks.common.csv_rows import read, row_writer
from benchmarks.common.parsers import parser_of
from robustbo.report.charts.palette import COLORS
from robustbo.surrogates.committee.model import CommitteeGP
from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize
from robustbo_problems import regression
from robustbo_problems.datasets import table

TRAINING, TEST, NOISE_SD = 200_000, 2_000, 2.0
CALIFORNIA, BOSTON = 18_000, 455  # training rows
NOISES = {"student-t": "DRGP", "normal": "DGP"}
COLUMNS = ("figure", "noise", "at", "experts", "repetition", "rmse", "mae", "mnlp", "seconds")


class Cell(NamedTuple):
    """One committee: its figure, noise, rate of outliers (6) or kind of split (5), experts, repetition.

    Of experts the number is said in Figure 5, the size in the others.
    """

    figure: int
    noise: str
    at: float
    experts: int
    repetition: int


class Data(NamedTuple):
    """Training and test data."""

    X: Tensor
    y: Tensor
    X_test: Tensor
    y_test: Tensor


def linear(rate: float, repetition: int) -> Data:
    """Figure 6's."""
    generator = np.random.default_rng(repetition)
    X = generator.standard_normal((TRAINING + TEST, 5))
    slopes = np.concatenate([generator.random(3), np.zeros(2)])
    y = X @ slopes + NOISE_SD * generator.standard_normal(len(X))
    wrong = generator.permutation(TRAINING)[: int(rate * TRAINING)]
    y[wrong] += 10 * y.std()
    return Data(*(torch.from_numpy(part) for part in (X[:TRAINING], y[:TRAINING], X[TRAINING:], y[TRAINING:])))


def boston(is_random: float, repetition: int) -> Data:
    """Figure 5's."""
    X, y = table("boston")
    order = np.random.default_rng(repetition).permutation(len(y) if is_random else BOSTON)
    X, y = (np.concatenate([part[order], part[len(order) :]]) for part in (X, y))
    return standardize(regression.Clean(X[:BOSTON], y[:BOSTON], X[BOSTON:], y[BOSTON:]))


def california(_: float, repetition: int) -> Data:
    """Figure 3's."""
    return standardize(regression.split("california", CALIFORNIA, repetition))


def standardize(clean: regression.Clean) -> Data:
    """Standardize by means and standard deviations of the training rows."""
    (X, X_test), (y, y_test) = (
        tuple(torch.from_numpy((part - pair[0].mean(0)) / pair[0].std(0)) for part in pair)
        for pair in ((clean.X, clean.X_test), (clean.y, clean.y_test))
    )
    return Data(X, y, X_test, y_test)


class Figure(NamedTuple):
    """Figure to draw: data, rates or kinds of split, experts, what goes along x, rows that the fit takes (all: 0)."""

    data: Callable[[float, int], Data]
    ats: tuple[float, ...]
    experts: tuple[int, ...]
    along: str
    fit_rows: int
    label: str


FIGURES = {
    3: Figure(california, (0.0,), (75, 150, 300, 600), "experts", 4_500, "observations an expert"),
    5: Figure(boston, (0.0, 1.0), (1, 2, 3, 4, 5, 6), "experts", 0, "experts"),
    6: Figure(linear, (0.01, 0.05, 0.1, 0.15), (100, 200, 300), "at", 4_000, "share of outliers"),
}


def scores(cell: Cell) -> dict[str, Any]:
    """The row of a committee."""
    torch.set_num_threads(1)
    figure = FIGURES[cell.figure]
    dataset = figure.data(cell.at, cell.repetition)
    options: dict[str, Any] = {"num_experts": cell.experts}
    if figure.fit_rows:
        options = {"expert_size": cell.experts, "fit_experts": math.ceil(figure.fit_rows / cell.experts)}
    started = time.process_time()
    transform = RobustStandardize(m=1)
    model = CommitteeGP(
        dataset.X,
        dataset.y.unsqueeze(-1),
        outcome_transform=transform,
        noise=cell.noise,
        dof=None,
        combine="rbcm",
        **options,
    )
    fit(model)
    with torch.no_grad():
        posterior = model.posterior(dataset.X_test, observation_noise=True)
    seconds = time.process_time() - started
    e, v = posterior.mean.squeeze(-1) - dataset.y_test, posterior.variance.squeeze(-1)
    mnlp = 0.5 * ((2 * math.pi * v).log() + e.square() / v).mean().item()
    score = {"rmse": e.square().mean().sqrt().item(), "mae": e.abs().mean().item(), "mnlp": mnlp, "seconds": seconds}
    return {**cell._asdict(), **{key: f"{value:.6g}" for key, value in score.items()}}


def cells(figure: int, repetitions: int) -> list[Cell]:
    """All committees of a figure."""
    of = FIGURES[figure]
    return [Cell(figure, *rest, r) for r, *rest in product(range(repetitions), NOISES, of.ats, of.experts)]


def draw(rows: list[dict[str, Any]], figure: int, path: Path) -> None:
    """Three panels: root mean squared error, mean absolute error, negative log density; a line a kind of committee."""
    along, other = (FIGURES[figure].along, "at" if FIGURES[figure].along == "experts" else "experts")
    canvas, panels = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
    styles = dict(zip(sorted({float(r[other]) for r in rows}), ("-", "--", ":"), strict=False))
    for axes, score in zip(panels, ("rmse", "mae", "mnlp"), strict=True):
        for noise, (kind, style) in product(NOISES, styles.items()):
            part = [r for r in rows if r["noise"] == noise and float(r[other]) == kind]
            at = sorted({float(r[along]) for r in part})
            by = [[float(r[score]) for r in part if float(r[along]) == x] for x in at]
            errors = [np.std(v, ddof=1) / math.sqrt(len(v)) if len(v) > 1 else 0.0 for v in by]
            name = NOISES[noise] + {3: "", 5: ", random splits" if kind else "", 6: f", experts of {kind:g}"}[figure]
            color = COLORS[list(NOISES).index(noise)]
            axes.errorbar(at, [np.mean(v) for v in by], errors, color=color, linestyle=style, label=name, capsize=2)
        axes.set(xlabel=FIGURES[figure].label, title=score.upper())
    panels[0].legend(frameon=False, fontsize=7)
    canvas.savefig(path, dpi=150)


def main() -> None:
    """Compute what is missing, then draw."""
    parser = parser_of(__doc__)
    parser.add_argument("--figure", type=int, choices=sorted(FIGURES), required=True)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    path = options.out / f"figure-{options.figure}.csv"
    finished = {(r["noise"], float(r["at"]), int(r["experts"]), int(r["repetition"])) for r in read(path)}
    left = [cell for cell in cells(options.figure, options.repetitions) if cell[1:] not in finished]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool, row_writer(path, COLUMNS) as append:
        for count, row in enumerate(pool.imap_unordered(scores, left), 1):
            append(row)
            print(f"{count} of {len(left)}: {row}", file=sys.stderr)
    draw(read(path), options.figure, path.with_suffix(".png"))


if __name__ == "__main__":
    main()
