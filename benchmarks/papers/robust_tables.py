"""Tables 2 and 3 of the relevance pursuit paper: regression with wrong training values, each cell beside its own.

Five data sets, four corruptions, some methods; the mean absolute error and the mean negative log predictive density of
test targets that nobody corrupted. The setup is Altamirano, Briol and Knoblauch's as far as it is known: inputs and
targets scaled by mean and standard deviation of the whole data (the synthetic not), a tenth to test on, a tenth of the
training targets wrong (a fifth for the synthetic, asymmetric), RBF kernel with ARD. Each replication has a split of its
own here; theirs share one. Their prior mean is zero; our plain GP's is profiled. The synthetic data are a draw of a GP
with an RBF kernel (length-scale and variance 1, noise of sd 0.1) at 300 points between 0 and 20.

A cell that the CSV has is not run again. ROBUSTBO_DATA may name a folder with the data.

    python -m benchmarks.papers.robust_tables --replications 20 --jobs 2 --out runs/robust-tables
"""

import math
import multiprocessing
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.common.csv_rows import read, row_writer
from benchmarks.common.parsers import parser_of
from robustbo import seeds
from robustbo.report.summary.tables import render
from robustbo.surrogates import ComputationAwareGP, ConjugateGP, RelevancePursuitGP, StandardGP, StudentTGP
from robustbo.surrogates.common.contract import fit, quiet
from robustbo_problems import regression
from robustbo_problems.regression_corruptions import CORRUPTIONS

DATA = ("synthetic", "boston", "concrete", "energy", "yacht")
KINDS = ("none", "uniform", "asymmetric", "focused")
SOURCE = {"quantile": 0.9, "rounds": 1, "is_weighted": False}  # as Altamirano and others have it
METHODS: dict[str, tuple[Any, dict[str, Any]]] = {
    "standard": (StandardGP, {}),
    "student-t": (StudentTGP, {"dof": 40.0}),  # theirs
    "rcgp": (ConjugateGP, SOURCE),
    "iter-rcgp": (ComputationAwareGP, SOURCE),  # the same hyperparameters, 100 residual iterations
    "conjugate": (ConjugateGP, {}),
    "conjugate, 1 round": (ConjugateGP, {"rounds": 1}),
    "conjugate, 0.9": (ConjugateGP, {"quantile": 0.9}),
    "conjugate, all count": (ConjugateGP, {"is_weighted": False}),
    "relevance-pursuit": (RelevancePursuitGP, {"is_averaged": False}),
}
PUBLISHED = {"standard": "gp", "student-t": "student-t", "rcgp": "rcgp", "relevance-pursuit": "rrp"}
COLUMNS = ("data", "kind", "replication", "method", "mae", "nlpd", "seconds")


class Cell(NamedTuple):
    """One data set, corrupted in one way, of one replication, and what is fitted to it."""

    data: str
    kind: str
    replication: int
    method: str


def clean(name: str, seed: int) -> regression.Clean:
    """Training and test data, scaled."""
    if name == "synthetic":
        X = np.linspace(0, 20, 300)
        K = np.exp(-0.5 * (X[:, None] - X) ** 2)
        generator = np.random.default_rng(321)
        f = generator.multivariate_normal(np.zeros(300), K, method="eigh")
        y = f + 0.1 * generator.standard_normal(300)
        order = seeds.generator(seed, 0, "split").permutation(300)
        return regression.Clean(X[order[:270], None], y[order[:270]], X[order[270:], None], y[order[270:]])
    dataset = regression.split(name, None, seed)
    X, y = np.vstack([dataset.X, dataset.X_test]), np.concatenate([dataset.y, dataset.y_test])
    spread = np.where(X.std(0) > 0, X.std(0), 1.0)
    inputs = ((part - X.mean(0)) / spread for part in (dataset.X, dataset.X_test))
    targets = ((part - y.mean()) / y.std() for part in (dataset.y, dataset.y_test))
    return regression.Clean(*(part for pair in zip(inputs, targets, strict=True) for part in pair))


def corrupt_training_rows(dataset: regression.Clean, cell: Cell) -> tuple[np.ndarray, np.ndarray]:
    """Training inputs and targets."""
    if cell.kind == "none":
        return dataset.X, dataset.y
    rate = 0.2 if (cell.data, cell.kind) == ("synthetic", "asymmetric") else 0.1
    n = len(dataset.y)
    rows = seeds.generator(cell.replication, 0, "corrupted rows").permutation(n)[: int(rate * n)]
    return CORRUPTIONS[cell.kind](dataset.X, dataset.y, rows, seeds.generator(cell.replication, 0, "corruption"))


def scores(cell: Cell) -> dict[str, Any]:
    """The row of a cell."""
    torch.set_num_threads(1)
    dataset = clean(cell.data, cell.replication)
    X, y = (torch.from_numpy(part) for part in corrupt_training_rows(dataset, cell))
    X_test, y_test = torch.from_numpy(dataset.X_test), torch.from_numpy(dataset.y_test)
    cls, options = METHODS[cell.method]
    started = time.perf_counter()
    model = fit(cls(X, y.unsqueeze(-1), outcome_transform=None, kernel="rbf", **options))
    seconds = time.perf_counter() - started
    with torch.no_grad(), quiet():
        posterior = model.posterior(X_test, observation_noise=True)
    e, v = posterior.mean.squeeze(-1) - y_test, posterior.variance.squeeze(-1)
    nlpd = 0.5 * ((2 * math.pi * v).log() + e.square() / v).mean().item()
    return {**cell._asdict(), "mae": f"{e.abs().mean().item():.6g}", "nlpd": f"{nlpd:.6g}", "seconds": f"{seconds:.3g}"}


def summary(rows: list[dict[str, Any]], published: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row a cell of the tables: mean and standard error, beside the published ones, and how many errors apart."""
    theirs = {(row["table"], row["data"], row["kind"], row["method"]): row for row in published}
    table = []
    for score, kind, data, method in product(("mae", "nlpd"), KINDS, DATA, METHODS):
        cells = [float(r[score]) for r in rows if (r["data"], r["kind"], r["method"]) == (data, kind, method)]
        if len(cells) < 2:
            continue
        mean, error = np.mean(cells), np.std(cells, ddof=1) / math.sqrt(len(cells))
        line = {"table": score, "kind": kind, "data": data, "method": method, "replications": len(cells)}
        line |= {"mean": f"{mean:.4g}", "standard_error": f"{error:.2g}"}
        beside = theirs.get((score, data, kind, PUBLISHED.get(method)), {"mean": "", "standard_error": ""})
        line |= {"published": beside["mean"], "published_error": beside["standard_error"], "errors_apart": ""}
        if beside["mean"]:
            gap = (mean - float(beside["mean"])) / math.hypot(error, float(beside["standard_error"]))
            line["errors_apart"] = f"{gap:.2f}"
        table.append(line)
    return table


def main() -> None:
    """Run what is missing, then write the tables."""
    parser = parser_of(__doc__)
    parser.add_argument("--replications", type=int, default=20)
    parser.add_argument("--data", choices=DATA, nargs="+", default=list(DATA))
    parser.add_argument("--methods", choices=list(METHODS), nargs="+", default=list(METHODS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    path = options.out / "results.csv"
    finished = {(row["data"], row["kind"], int(row["replication"]), row["method"]) for row in read(path)}
    combinations = product(range(options.replications), options.data, KINDS, options.methods)
    left = [cell for r, *rest in combinations if (cell := Cell(rest[0], rest[1], r, rest[2])) not in finished]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool, row_writer(path, COLUMNS) as append:
        for count, row in enumerate(pool.imap_unordered(scores, left), 1):
            append(row)
            print(f"{count} of {len(left)}: {row['method']}, {row['data']}, {row['kind']}", file=sys.stderr)
    table = summary(read(path), read(Path(__file__).with_name("robust_tables_published.csv")))
    (options.out / "summary.csv").write_text(render(table, "csv"), encoding="utf-8")
    print(render(table, "table"))


if __name__ == "__main__":
    main()
