"""Figures 5 and 6 of the source on distributed robust GPs: committees of Student-t and of normal experts.

Figure 6: a linear model of five inputs, three of them informative, noise of sd 2, 200,000 training values of which 1 to
15 % lie ten standard deviations too high, 2,000 test values (clean ones here, so that the error is the model's);
hyperparameters from 40 of the experts. Figure 5: Boston, 455 training and 51 test rows, 1 to 6 experts, 25 splits.
Errors are in standard deviations of the targets in Figure 5, in the data's units in Figure 6.

    python benchmarks/committee_figures.py --figure 6 --repetitions 10 --jobs 2 --out runs/committee

A row that the CSV has is not computed again. ROBUSTBO_DATA may name a folder with the data (Figure 5).
"""

import argparse
import csv
import math
import multiprocessing
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import Tensor

from problems import regression
from robustbo.replay.figure import COLORS
from robustbo.surrogates.base import fit
from robustbo.surrogates.committee import CommitteeGP
from robustbo.surrogates.robust_standardize import RobustStandardize

TRAINING, TEST, NOISE_SD = 200_000, 2_000, 2.0
RATES, SIZES = (0.01, 0.05, 0.1, 0.15), (100, 200, 300)
NOISES = {"student-t": "DRGP", "normal": "DGP"}
FIT_EXPERTS = 40
COLUMNS = ("figure", "noise", "at", "experts", "repetition", "rmse", "mae", "mnlp", "seconds")


class Cell(NamedTuple):
    """One committee: its figure, noise, rate of outliers, number (Figure 5) or size (6) of experts, repetition."""

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


def boston(repetition: int) -> Data:
    """Figure 5's, standardized."""
    given = regression.split("boston", None, repetition)
    center, spread = given.X.mean(0), given.X.std(0)
    targets = ((part - given.y.mean()) / given.y.std() for part in (given.y, given.y_test))
    inputs = ((part - center) / spread for part in (given.X, given.X_test))
    (X, X_test), (y, y_test) = inputs, targets
    return Data(*(torch.from_numpy(part) for part in (X, y, X_test, y_test)))


def scores(cell: Cell) -> dict[str, Any]:
    """The row of a committee."""
    torch.set_num_threads(1)
    given = linear(cell.at, cell.repetition) if cell.figure == 6 else boston(cell.repetition)
    options: dict[str, Any] = {"num_experts": cell.experts}
    if cell.figure == 6:
        options = {"expert_size": cell.experts, "fit_experts": FIT_EXPERTS}
    started = time.process_time()
    model = CommitteeGP(
        given.X, given.y.unsqueeze(-1), outcome_transform=RobustStandardize(m=1), noise=cell.noise, **options
    )
    fit(model)
    with torch.no_grad():
        posterior = model.posterior(given.X_test, observation_noise=True)
    seconds = time.process_time() - started
    e, v = posterior.mean.squeeze(-1) - given.y_test, posterior.variance.squeeze(-1)
    mnlp = 0.5 * ((2 * math.pi * v).log() + e.square() / v).mean().item()
    found = {"rmse": e.square().mean().sqrt().item(), "mae": e.abs().mean().item(), "mnlp": mnlp, "seconds": seconds}
    return {**cell._asdict(), **{key: f"{value:.6g}" for key, value in found.items()}}


def cells(figure: int, repetitions: int) -> list[Cell]:
    """All committees of a figure."""
    ats, experts = (RATES, SIZES) if figure == 6 else ((0.0,), range(1, 7))
    return [Cell(figure, *rest, r) for r, *rest in product(range(repetitions), NOISES, ats, experts)]


def draw(rows: list[dict[str, Any]], figure: int, path: Path) -> None:
    """Three panels: root mean squared error, mean absolute error, negative log density."""
    drawn, panels = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
    for axes, score in zip(panels, ("rmse", "mae", "mnlp"), strict=True):
        for noise, size in product(NOISES, SIZES if figure == 6 else (None,)):
            kept = [r for r in rows if r["noise"] == noise and (size is None or int(r["experts"]) == size)]
            at = sorted({float(r["at" if figure == 6 else "experts"]) for r in kept})
            by = [[float(r[score]) for r in kept if float(r["at" if figure == 6 else "experts"]) == x] for x in at]
            errors = [np.std(v, ddof=1) / math.sqrt(len(v)) if len(v) > 1 else 0.0 for v in by]
            color = COLORS[list(NOISES).index(noise)]
            style = "-" if size is None else ("-", "--", ":")[SIZES.index(size)]
            label = NOISES[noise] + ("" if size is None else f", experts of {size}")
            axes.errorbar(at, [np.mean(v) for v in by], errors, color=color, linestyle=style, label=label, capsize=2)
        axes.set(xlabel="share of outliers" if figure == 6 else "experts", title=score.upper())
    panels[0].legend(frameon=False, fontsize=7)
    drawn.savefig(path, dpi=150)


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV, none where there is no file."""
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if path.exists() else []


def main() -> None:
    """Compute what is missing, then draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", type=int, choices=(5, 6), required=True)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"figure-{options.figure}.csv"
    done = {(r["noise"], float(r["at"]), int(r["experts"]), int(r["repetition"])) for r in read(path)}
    left = [cell for cell in cells(options.figure, options.repetitions) if cell[1:] not in done]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool, path.open("a", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for count, row in enumerate(pool.imap_unordered(scores, left), 1):
            writer.writerow(row)
            file.flush()
            print(f"{count} of {len(left)}: {row}", file=sys.stderr)
    draw(read(path), options.figure, path.with_suffix(".png"))


if __name__ == "__main__":
    main()
