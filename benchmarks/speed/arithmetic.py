"""The most that an ask could gain by compiled evaluations of the likelihood.

A search for hyperparameters evaluates a likelihood some hundred times an ask, on matrices so small that Python takes
longer than LAPACK. Measured here are, of asks in the middle of a run as in `speed.sizes`: the time of all climbs; and
what a compiled evaluation could not save, the arithmetic alone of as many evaluations with their derivatives: the
kernel of all pairs, a Cholesky factor, the inverse, and the products for gradient and information. The difference is
the most that compiling can save; an ask without it is compared with Optuna's, in the same run.

    pip install optuna
    python -m benchmarks.speed.arithmetic --out runs/speed-sizes/arithmetic.csv
"""

import statistics
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from benchmarks.common.csv_rows import record_missing
from benchmarks.common.measured_values import FUNCTIONS
from benchmarks.common.measured_values import measure as measure_value
from benchmarks.common.parsers import parser_of
from benchmarks.common.timing import time_call
from benchmarks.speed.competitors import COMPETITORS
from benchmarks.speed.sizes import WARM_UP
from robustbo import seeds
from robustbo.numerics.gp import kernels_paired, objective
from robustbo.numerics.linalg import lapack

KEY = ("function", "n")
COLUMNS = (*KEY, "ask_s", "climb_s", "evaluations", "arithmetic_s", "optuna_s", "ratio", "ratio_at_best")
ASKS, REPETITIONS = 11, 200


def arithmetic_seconds(n: int, d: int) -> float:
    """The median time of what an evaluation and its derivatives compute, without what is around it."""
    rng = np.random.default_rng(0)
    X = torch.from_numpy(rng.random((n, d)))
    points, lengths, unit = kernels_paired.point_pairs(X), torch.full((d,), 0.5, dtype=torch.float64), np.ones(n)
    signal, y, columns = torch.tensor(1.0, dtype=torch.float64), rng.random(n), rng.random((2 * d + 1, n))
    seconds = []
    for _ in range(REPETITIONS):
        started = time.perf_counter()
        K = kernels_paired.kernel_matrix("matern52", points, lengths, signal).K.numpy()
        C, _ = lapack.factor(lapack.on_diagonal(K, 0.1))
        P = lapack.inverse(C)
        al = P @ (y - unit @ P @ y)
        G = (np.outer(al, al) - P).ravel()
        _ = points.D @ G[: points.D.shape[1]], columns @ K, columns[: d + 1] @ P
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def measure(function: str, n: int, seed: int = 0) -> dict[str, Any]:
    """A row."""
    generator = seeds.generator(seed, n, "values that are told")
    asks, climbs = {}, list[tuple[float, int]]()
    inner = objective.climb

    def time_climb(*args: Any, **options: Any) -> Any:
        end, _, of_cpu = time_call(lambda: inner(*args, **options))
        climbs.append((of_cpu, end.num_evaluations))
        return end

    for name in ("default", "optuna"):
        COMPETITORS[name](function, WARM_UP, seed).ask()  # what a first call loads is not the ask's time
        opponent, seconds = COMPETITORS[name](function, n, seed), []
        with patch.object(objective, "climb", time_climb):
            for ask in range(1 + ASKS):
                if ask == 1:
                    climbs.clear()
                (handle, x), _, of_cpu = time_call(opponent.ask)
                seconds.append(of_cpu)
                opponent.tell(handle, x, measure_value(function, x, generator))
        asks[name] = seconds[1:]
        if name == "default":
            climb_s, evaluations = (sum(column) / ASKS for column in zip(*climbs, strict=True))
    least = evaluations * arithmetic_seconds(n, FUNCTIONS[function]().dim)
    ask_s, optuna_s = (statistics.mean(asks[name]) for name in ("default", "optuna"))
    best = (ask_s - max(0.0, climb_s - least)) / optuna_s
    numbers = (ask_s, climb_s, evaluations, least, optuna_s, ask_s / optuna_s, best)
    return dict(zip(COLUMNS, (function, n, *(float(f"{x:.3g}") for x in numbers)), strict=True))


def main() -> None:
    """Measure the rows that the CSV lacks."""
    parser = parser_of(__doc__)
    parser.add_argument("--functions", nargs="+", default=list(FUNCTIONS), choices=FUNCTIONS)
    parser.add_argument("--sizes", nargs="+", type=int, default=[20, 50, 100, 200])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    record_missing(options.out, KEY, product(options.functions, options.sizes), measure)


if __name__ == "__main__":
    main()
