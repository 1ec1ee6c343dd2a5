"""Quality of fits as values come in: does anything drop where the way of computing changes?

The values of a function, a tenth of them wrong in one of three ways, are told to an optimizer; those of fewer values
are the first of those of more. Then it is asked what is best, what looks wrong, and what it predicts at 500 other
points, half of them anywhere and half about the optimum. A row has

    rmse    of the predicted means, in standard deviations of the true values
    nlpd    mean negative log density of the true values, these standardized, under the predictions without noise
    f1      of the flagged values against those that are wrong
    auc     of the evidence: the probability that a wrong value has more of it than a right one
    fit_s, outliers_s, predict_s    seconds of the processor of `best()`, `outliers()`, `predict()`, one after another

The method `informed` is the standard GP, which is told the right values only; `standard` flags none.

    python -m benchmarks.quality.sizes --out runs/quality-sizes
    python -m benchmarks.quality.sizes --beside before.csv --out runs/quality-sizes   # another version's rows too

A row that the CSV has is not computed again; the picture is of all that it has.
"""

import argparse
import math
import sys
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import rankdata

import robustbo as rb
from benchmarks.common.csv_rows import read, row_writer
from benchmarks.common.measured_values import FUNCTIONS, WRONG, data, points, space, values
from benchmarks.common.parsers import parser_of
from benchmarks.common.timing import time_call
from benchmarks.quality.sizes_picture import draw
from robustbo.loop.belief.outliers import Outlier

SIZES = (100, 150, 200, 240, 260, 300, 400, 600, 1000, 1500, 1900, 2100, 3000, 5000)
METHODS = {"default": "auto", "standard": "standard", "informed": "standard"}  # and their surrogates
TESTS = 500
KEY = ("function", "wrong", "seed", "n", "method")
COLUMNS = (*KEY, "rmse", "nlpd", "f1", "auc", "fit_s", "outliers_s", "predict_s")
Case = tuple[str, str, int, int, str]


def scores(case: Case) -> dict[str, Any]:
    """The row of a fit."""
    name, wrong, seed, n, method = case
    dataset, names = data(name, n, seed, wrong), space(name).names
    opt = rb.Optimizer(space(name), direction="minimize", surrogate=METHODS[method], num_initial=5, seed=seed)
    for x, y, is_wrong in zip(dataset.X.tolist(), dataset.y.tolist(), dataset.is_wrong, strict=True):
        if method != "informed" or not is_wrong:
            opt.tell(dict(zip(names, x, strict=True)), y)
    X = points(name, TESTS, seed + 1_000_000)
    rows = [dict(zip(names, x, strict=True)) for x in X.tolist()]
    _, _, fit_s = time_call(opt.best)
    judged, _, outliers_s = time_call(opt.outliers)
    predicted, _, predict_s = time_call(lambda: opt.predict(rows))
    score = errors(values(name, X), predicted["mean"].to_numpy(), predicted["sd"].to_numpy())
    if method != "informed":
        score |= detection(judged, dataset.is_wrong)
    score |= {"fit_s": fit_s, "outliers_s": outliers_s, "predict_s": predict_s}
    return dict(zip(KEY, case, strict=True)) | {key: f"{value:.5g}" for key, value in score.items()}


def errors(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> dict[str, float]:
    """Root mean squared error and negative log density, in standard deviations of the truth."""
    e, sd = (truth - mean) / truth.std(), sd / truth.std()
    nlpd = 0.5 * (math.log(2 * math.pi) + 2 * np.log(sd) + (e / sd) ** 2).mean()
    return {"rmse": math.sqrt((e**2).mean()), "nlpd": float(nlpd)}


def detection(judged: list[Outlier], is_wrong: np.ndarray) -> dict[str, float]:
    """Separation of wrong values from the others; trials are numbered as they were told."""
    evidence, flagged = np.full(len(is_wrong), np.nan), np.zeros(len(is_wrong), dtype=bool)
    for o in judged:
        evidence[o.trial.number], flagged[o.trial.number] = o.evidence, o.flagged
    hits, (bad, good) = (flagged & is_wrong).sum(), (is_wrong.sum(), (~is_wrong).sum())
    auc = (rankdata(evidence)[is_wrong].sum() - bad * (bad + 1) / 2) / (bad * good)
    return {"f1": 2 * hits / (flagged.sum() + bad), "auc": float(auc)}


def cases(options: argparse.Namespace) -> list[Case]:
    """All fits, the small first."""
    grid = product(options.sizes, options.seeds, options.functions, options.wrong, options.methods)
    grid_cases: list[Case] = [(function, wrong, seed, n, method) for n, seed, function, wrong, method in grid]
    return [case for case in grid_cases if case[-1] == "default" or case[-2] <= options.others_up_to]


def main() -> None:
    """Compute what is missing, and draw what there is."""
    parser = parser_of(__doc__)
    defaults = ["levy", "ackley", "hartmann6", "rosenbrock"]
    parser.add_argument("--functions", choices=FUNCTIONS, nargs="+", default=defaults)
    parser.add_argument("--wrong", choices=WRONG, nargs="+", default=WRONG)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--methods", choices=METHODS, nargs="+", default=[*METHODS])
    parser.add_argument("--others-up-to", type=int, default=2000, help="larger sizes are for the default alone")
    parser.add_argument("--beside", type=Path, help="a CSV whose defaults are drawn dashed, as before")
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    path = options.out / "results.csv"
    finished = {tuple(row[key] for key in KEY) for row in read(path)}
    left = [case for case in cases(options) if tuple(map(str, case)) not in finished]
    with row_writer(path, COLUMNS) as append:
        for count, case in enumerate(left, 1):
            append(row := scores(case))
            print(f"{count} of {len(left)}: {row}", file=sys.stderr)
    draw(read(path), options.out, read(options.beside) if options.beside else [])


if __name__ == "__main__":
    main()
