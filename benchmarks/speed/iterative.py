"""Cost of a computation-aware process as n grows: time and memory, beside a Cholesky factorization.

Friedman's function with an idle sixth input, noise, and a tenth of the values gross; IterRCGP with the residual policy,
200 iterations, one round of weights; hyperparameters from 500 observations; then the prediction of 1,000 points. Each
size in a process of its own with one thread; seconds of the processor, so that neighbours do not count. The last line
is the Cholesky factorization of the covariance at n = 5,000 by LAPACK, with the matrix made.

    python -m benchmarks.speed.iterative --out runs/speed-iterative/results.csv
"""

import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.common.parsers import parser_of
from benchmarks.common.timing import peak_mib
from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.report.summary.tables import render
from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.iterative.model import ComputationAwareGP
from robustbo_problems.regression_functions import friedman

SIZES = (2500, 5000, 10000, 20000)
ITERATIONS, TEST_POINTS, CHOLESKY_SIZE = 200, 1000, 5000


def data(n: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Inputs, values, test points, and the function there."""
    generator = torch.Generator().manual_seed(0)
    X, X_test = (torch.rand(count, 6, generator=generator, dtype=torch.float64) for count in (n, TEST_POINTS))
    y, f_test = (torch.from_numpy(friedman(part.numpy())) for part in (X, X_test))
    y = y + torch.randn(n, generator=generator, dtype=torch.float64)
    y[torch.rand(n, generator=generator) < 0.1] += 100.0
    return X, y.unsqueeze(-1), X_test, f_test


def iterative(n: int) -> dict[str, Any]:
    """Fit and predict; run in a process of its own."""
    torch.set_num_threads(1)
    X, Y, X_test, f_test = data(n)
    before = peak_mib()
    model = ComputationAwareGP(X, Y, iterations=ITERATIONS, rounds=1, fit_size=500)
    started = time.process_time()
    fit(model)
    fitted = time.process_time()
    with torch.no_grad():
        posterior = model.posterior(X_test)
        mean, sd = posterior.mean.squeeze(-1), posterior.variance.sqrt().squeeze(-1)
    seconds = {"fit_s": fitted - started, "predict_s": time.process_time() - fitted}
    error = {"rmse": (mean - f_test).square().mean().sqrt().item(), "mean_sd": sd.mean().item()}
    rounded = {key: round(value, 3) for key, value in {**seconds, **error}.items()}
    return {"what": "IterRCGP", "n": n, **rounded, "peak_mib": peak_mib(), "data_and_libraries_mib": before}


def cholesky(n: int) -> dict[str, Any]:
    """The matrix and its factor."""
    torch.set_num_threads(1)
    X, *_ = data(n)
    before, started = peak_mib(), time.process_time()
    D = sum(squared_differences(X[:, j : j + 1], X[:, j : j + 1]).squeeze(0) for j in range(6))
    assert isinstance(D, Tensor)
    A = KERNELS["matern52"](D.unsqueeze(0), torch.ones(1, dtype=X.dtype), torch.ones((), dtype=X.dtype)).K
    A.diagonal().add_(0.1)
    torch.linalg.cholesky(A)
    seconds = {
        "fit_s": round(time.process_time() - started, 3),
        "predict_s": math.nan,
        "rmse": math.nan,
        "mean_sd": math.nan,
    }
    return {"what": "Cholesky", "n": n, **seconds, "peak_mib": peak_mib(), "data_and_libraries_mib": before}


def main() -> None:
    """Each size, one after the other; then the factorization."""
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--measure", choices=("iterative", "cholesky"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps({"iterative": iterative, "cholesky": cholesky}[options.measure](options.sizes[0])))
        return
    rows = []
    for method, n in [*(("iterative", n) for n in options.sizes), ("cholesky", CHOLESKY_SIZE)]:
        command = [sys.executable, "-m", __spec__.name, "--measure", method, "--sizes", str(n)]
        process = subprocess.run(command, check=True, capture_output=True, text=True)
        rows.append(json.loads(process.stdout.splitlines()[-1]))
        print(rows[-1], file=sys.stderr)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(render(rows, "csv"), encoding="utf-8")


if __name__ == "__main__":
    main()
