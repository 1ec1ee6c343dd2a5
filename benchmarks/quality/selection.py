"""Numbers of outliers: the selection rules on regression data whose corruptions are known.

Four functions, four sizes, five corruptions at four rates, ten seeds; every method is fitted to the same values.
Scored on 400 clean points, in units of the function's standard deviation: the root mean squared error of the posterior
mean, and the mean negative log density (NLPD) of the noise-free value; and F1 of the flagged set (1 where nothing is
wrong and nothing is flagged). Where a draw makes at least half of the values wrong, it is left out. The table in the
README is the mean over all cells; the CSV has one row a cell.

    python -m benchmarks.quality.selection --seeds 10 --jobs 2 --out runs/selection/results.csv

With `--only relevance-pursuit` the rows of the other methods stay as they are in that file; let the seeds be the same.
"""

import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Collection
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from botorch.models.gpytorch import GPyTorchModel
from torch import Tensor

from benchmarks.common.parsers import parser_of
from robustbo.report.summary.tables import render
from robustbo.surrogates.common.contract import diagnose, fit, quiet
from robustbo.surrogates.common.scoring import normal_log_density
from robustbo.surrogates.registry import SURROGATES
from robustbo_problems import regression_functions

NOISE = 0.05  # of the function's standard deviation
TEST_POINTS = 400
RATES = (0.05, 0.1, 0.2, 0.4)
KINDS = ("uniform", "constant", "in-range", "student-t")
SIZES = (20, 40, 80, 160)
KEYS, MEANS = ("function", "n", "kind", "rate", "method"), ("rmse", "nlpd", "f1", "seconds")


class Function(NamedTuple):
    """A function on the unit cube."""

    of: Callable[[Tensor], Tensor]
    d: int


def hartmann6(X: Tensor) -> Tensor:
    """Hartmann6."""
    return torch.from_numpy(regression_functions.hartmann6(X.numpy()))


def friedman(X: Tensor) -> Tensor:
    """Friedman's function of the first five inputs."""
    return torch.from_numpy(regression_functions.friedman(X.numpy()))


def neal(X: Tensor) -> Tensor:
    """Neal's function on [-3, 3]."""
    return torch.from_numpy(regression_functions.neal(6 * X[:, 0].numpy() - 3))


FUNCTIONS = {
    "hartmann6": Function(hartmann6, 6),
    "friedman5": Function(friedman, 5),
    "friedman10": Function(friedman, 10),
    "neal": Function(neal, 1),
}


class Cell(NamedTuple):
    """One data set."""

    function: str
    n: int
    kind: str
    rate: float
    seed: int


class Data(NamedTuple):
    """Corrupted training data, which are corrupted, and clean test values with their standard deviation."""

    X: Tensor
    Y: Tensor
    bad: Tensor
    X_test: Tensor
    f_test: Tensor
    sd: float


def data(cell: Cell) -> Data:
    """The data set of a cell, by its seed."""
    function, n = FUNCTIONS[cell.function], cell.n
    generator = torch.Generator().manual_seed(1000 * cell.seed + n)
    X = torch.rand(n, function.d, generator=generator)
    X_test = torch.rand(TEST_POINTS, function.d, generator=torch.Generator().manual_seed(99))
    f, f_test = function.of(X), function.of(X_test)
    sd, low, high = f_test.std(), f_test.min(), f_test.max()
    y = f + NOISE * sd * torch.randn(n, generator=generator)
    bad = torch.rand(n, generator=generator) < cell.rate
    wrong = {
        "none": lambda: y,
        "uniform": lambda: (3 * low - high) / 2 + 2 * (high - low) * torch.rand(n, generator=generator),
        "constant": lambda: (100 * sd).expand(n),
        "in-range": lambda: function.of(torch.rand(n, function.d, generator=generator)),
        "student-t": lambda: y + sd * torch.from_numpy(np.random.default_rng(cell.seed).standard_t(2, n)),
    }[cell.kind]()
    return Data(X, torch.where(bad, wrong, y).unsqueeze(-1), bad, X_test, f_test, sd.item())


METHODS: dict[str, tuple[str, dict[str, object]]] = {
    "standard": ("standard", {}),
    "scaled-clip": ("scaled-clip", {}),
    "relevance-pursuit": ("relevance-pursuit", {}),
    "one support": ("relevance-pursuit", {"is_averaged": False}),
    "rule: botorch": ("relevance-pursuit", {"selection": "botorch", "is_averaged": False}),  # whose class has one too
}
ORACLE = "oracle"  # the plain GP without the wrong values
NAMES = (*METHODS, ORACLE)


def scores(cell: Cell, names: Collection[str] = NAMES) -> dict[str, list[float]]:
    """RMSE, NLPD, F1 and seconds by method."""
    dataset, by_method = data(cell), {}
    for name, (surrogate, options) in METHODS.items():
        if name not in names:
            continue
        started = time.perf_counter()
        model = SURROGATES[surrogate](dataset.X, dataset.Y, **options)
        fit(model)
        seconds = time.perf_counter() - started
        flagged = diagnose(model).is_outlier
        by_method[name] = [*predictive(model, dataset), f1(flagged, dataset.bad), seconds]
    if ORACLE in names:
        oracle = SURROGATES["standard"](dataset.X[~dataset.bad], dataset.Y[~dataset.bad])
        by_method[ORACLE] = [*predictive(fit(oracle), dataset), 1.0, math.nan]
    return by_method


def predictive(model: GPyTorchModel, dataset: Data) -> tuple[float, float]:
    """RMSE and NLPD on the clean test values, in units of their standard deviation."""
    with torch.no_grad(), quiet():
        posterior = model.posterior(dataset.X_test)
    mean, variance = posterior.mean.squeeze(-1), posterior.variance.squeeze(-1).clamp_min(1e-12)
    density = normal_log_density(model, mean, variance, dataset.f_test)
    rmse = (mean - dataset.f_test).square().mean().sqrt()
    return rmse.item() / dataset.sd, -density.mean().item() - math.log(dataset.sd)


def f1(flagged: Tensor, bad: Tensor) -> float:
    """F1 of the flagged set; 1 if there is nothing to find and nothing is flagged."""
    both, either = (flagged & bad).sum().item(), flagged.sum().item() + bad.sum().item()
    return 1.0 if either == 0 else 2 * both / either


def cells(seeds: int) -> list[Cell]:
    """All data sets but those in which at least half of the values are wrong: there the wrong ones are the truth."""
    corruptions = [("none", 0.0), *product(KINDS, RATES)]
    grid = [Cell(f, n, k, r, s) for s in range(seeds) for n in SIZES for f in FUNCTIONS for k, r in corruptions]
    return [cell for cell in grid if 2 * data(cell).bad.sum() < cell.n]


def table(results: dict[Cell, dict[str, list[float]]]) -> list[dict[str, object]]:
    """One row a function, size, corruption, rate and method: means over the seeds."""
    groups: dict[tuple[object, ...], list[list[float]]] = {}
    for cell, methods in results.items():
        for name, values in methods.items():
            groups.setdefault((*cell[:4], name), []).append(values)
    return [
        dict(zip(KEYS, group, strict=True))
        | dict(zip(MEANS, (round(x, 4) for x in np.mean(rows, axis=0)), strict=True))
        for group, rows in groups.items()
    ]


def rows_of_others(path: Path | None, names: Collection[str]) -> list[dict[str, object]]:
    """The rows in a file written before, if there is one, of the methods that are not among these."""
    before = pd.read_csv(path)[[*KEYS, *MEANS]].to_dict("records") if path is not None and path.exists() else []
    return [{str(key): value for key, value in row.items()} for row in before if row["method"] in set(NAMES) - {*names}]


def start() -> None:
    """Prepare a worker."""
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)


def summary(rows: list[dict[str, object]], **only: object) -> str:
    """The means over the cells that match, by method."""
    lines = []
    for name in [name for name in NAMES if any(row["method"] == name for row in rows)]:
        mine = [row for row in rows if row["method"] == name and all(row[key] == value for key, value in only.items())]
        means = [np.mean([float(str(row[key])) for row in mine]) for key in MEANS]
        lines.append(f"{name:20s} RMSE {means[0]:7.3f}  NLPD {means[1]:7.3f}  F1 {means[2]:5.3f}  {means[3]:5.2f} s")
    return "\n".join(lines)


def main() -> None:
    """Fit everything, write a row a cell, and print the means."""
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    start()
    other_rows = rows_of_others(options.out, options.only)
    todo, results = cells(options.seeds), {}
    with multiprocessing.get_context("spawn").Pool(options.jobs, start) as pool:
        scored = pool.imap(partial(scores, names=options.only), todo, chunksize=4)
        for cell, values in zip(todo, scored, strict=True):
            results[cell] = values
            print(f"\r{len(results)} of {len(todo)}", end="", file=sys.stderr)
    rows = table(results) + other_rows
    print("\n" + summary(rows))
    for kind in ("none", *KINDS):
        print(f"\n{kind}\n" + summary(rows, kind=kind))
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(render(rows, "csv"), encoding="utf-8")


if __name__ == "__main__":
    main()
