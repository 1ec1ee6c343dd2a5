"""Time of a relevance pursuit: ours against BoTorch's class, same data, same model, one thread, side by side.

Both fit an RBF kernel of unit signal variance with BoTorch's priors to standardized values of a function, 10 % of them
replaced by uniform ones, through the same ten levels, from a cold start; ours backward (three starts, three sweeps) and
forward. Besides, ours with all its defaults, as an ask fits it. Times are seconds of the processor. Beside them stands
the log posterior density level by level, and the memory that a fit takes.

    python -m benchmarks.speed.fit --out runs/speed-fit/functions
    python -m benchmarks.speed.fit --functions hartmann6 --sizes 50 100 --seeds 0 1 2 3 4 --out runs/speed-fit

A data set whose row is there is not measured again.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models.robust_relevance_pursuit_model import FRACTIONS_OF_OUTLIERS, RobustRelevancePursuitSingleTaskGP
from botorch.models.transforms.outcome import Standardize
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.common.csv_rows import read, row_writer
from benchmarks.common.measured_values import FUNCTIONS, extent, space, values
from benchmarks.common.parsers import parser_of
from robustbo.report.summary.tables import records, render
from robustbo.surrogates.common.contract import fit, quiet
from robustbo.surrogates.pursuit.model import RelevancePursuitGP

TOLERANCE = 0.01  # nats
DIRECTIONS = ("backward", "forward")
KEY = ("function", "n", "seed")
COLUMNS = (
    *(*KEY, "backward_s", "forward_s", "default_s", "botorch_s", "levels", "backward_ratio", "backward_reached"),
    *("forward_ratio", "forward_reached", "default_ratio"),
)
BY_LEVEL = (*KEY, "size", *DIRECTIONS, "botorch")
UNTUNED = ["ackley", "levy", "rosenbrock", "griewank", "branin"]  # nobody chose a constant on these here
Row = dict[str, Any]


def data(function: str, n: int, seed: int) -> tuple[Tensor, Tensor]:
    """A function, maximized, at n uniform points, each value replaced with probability 0.1 by one in its range."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, len(space(function).names), generator=generator, dtype=torch.float64)
    true = -torch.from_numpy(values(function, X.numpy()))
    wrong = torch.rand(n, generator=generator) < 0.1
    low, high = (-3.0, 3.0) if function == "hartmann6" else extent(function)
    replaced = (high - low) * torch.rand(n, generator=generator, dtype=torch.float64) - high
    return X, torch.where(wrong, replaced, true).unsqueeze(-1)


def ours(X: Tensor, Y: Tensor, direction: str = "backward") -> tuple[float, dict[int, float]]:
    """Seconds, and the log posterior density by level (support size at most)."""
    started = time.process_time()
    model = RelevancePursuitGP(
        X,
        Y,
        outcome_transform=Standardize(m=1),
        kernel="rbf",
        is_signal_free=False,
        selection="botorch",
        is_averaged=False,
        levels=tuple(map(float, FRACTIONS_OF_OUTLIERS)),
        direction=direction,
    )
    fit(model)
    seconds = time.process_time() - started
    sizes = sorted({int(fraction * len(Y)) for fraction in FRACTIONS_OF_OUTLIERS})
    return seconds, {size: level.fit.F for size, level in zip(sizes, model.trace, strict=True)}


def botorch(X: Tensor, Y: Tensor) -> tuple[float, dict[int, float]]:
    """Seconds, and the log posterior density by support size."""
    started = time.process_time()
    model = RobustRelevancePursuitSingleTaskGP(X, Y, cache_model_trace=True)
    with quiet():
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    seconds = time.process_time() - started
    densities = {}
    for level in model.model_trace:
        level.train()
        mll = ExactMarginalLogLikelihood(level.likelihood, level)
        with quiet(), torch.no_grad():
            value = mll(level(*level.train_inputs), level.train_targets, level.transform_inputs(level.train_inputs[0]))
        densities[len(level.likelihood.noise_covar.support)] = value.item() * len(Y)
    return seconds, densities


def default(X: Tensor, Y: Tensor) -> float:
    """Seconds of a fit with all our defaults, averaging and weights included."""
    started = time.process_time()
    fit(RelevancePursuitGP(X, Y))
    return time.process_time() - started


def num_matched_levels(densities: dict[int, float], reference: dict[int, float]) -> int:
    """Number of levels at which a density is at least the reference's."""
    return sum(densities[size] >= value - TOLERANCE for size, value in reference.items() if size in densities)


def compare(function: str, n: int, seed: int, repetitions: int, *, with_botorch: bool) -> tuple[Row, list[Row]]:
    """One data set: a row of times, and a row a level."""
    X, Y = data(function, n, seed)
    times, levels = {}, {}
    for direction in DIRECTIONS:
        runs = [ours(X, Y, direction) for _ in range(repetitions)]
        times[direction], levels[direction] = statistics.median(run[0] for run in runs), runs[0][1]
    times["default"] = statistics.median(default(X, Y) for _ in range(repetitions))
    row: Row = dict(zip(KEY, (function, n, seed), strict=True)) | {
        f"{name}_s": round(t, 4) for name, t in times.items()
    }
    if with_botorch:
        seconds, levels["botorch"] = botorch(X, Y)
        row |= {"botorch_s": round(seconds, 3), "levels": len(levels["backward"].keys() & levels["botorch"].keys())}
        row |= {f"{name}_ratio": round(seconds / t, 1) for name, t in times.items()}
        row |= {f"{name}_reached": num_matched_levels(levels[name], levels["botorch"]) for name in DIRECTIONS}
    densities = {name: levels.get(name, {}) for name in (*DIRECTIONS, "botorch")}
    by_level = [
        dict(zip(KEY, (function, n, seed), strict=True))
        | {"size": size}
        | {k: _round_or_blank(v.get(size)) for k, v in densities.items()}
        for size in sorted(set().union(*levels.values()))
    ]
    return row, by_level


def _round_or_blank(value: float | None) -> float | str:
    return "" if value is None else round(value, 4)


def peak(library: str, function: str, n: int) -> float:
    """MiB that a fit adds to the peak memory of a new process."""
    options = ["--peak", library, "--functions", function, "--sizes", str(n), "--out", "."]
    command = [sys.executable, "-m", __spec__.name, *options]
    return float(subprocess.run(command, check=True, capture_output=True).stdout.split()[-1])


def measure_peak(library: str, function: str, n: int) -> float:
    """Memory that a fit adds to the peak of this process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (ours if library == "ours" else botorch)(*data(function, n, 0))
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def summary(rows: list[Row]) -> pd.DataFrame:
    """Geometric means of the ratios, and the share of levels, where BoTorch was measured: by function, by n, of all."""
    table = pd.DataFrame(rows).replace("", None)
    table = table.assign(**{key: pd.to_numeric(table[key]) for key in COLUMNS[1:] if key in table})
    table = table.dropna(subset=["levels"]) if "levels" in table else table[:0]
    parts = [*table.groupby("function", sort=False), *((f"n = {n}", of) for n, of in table.groupby("n"))]
    return pd.DataFrame(
        [
            {"of": of, "same_model": geometric(part, "backward_ratio"), "default": geometric(part, "default_ratio")}
            | {"reached": int(part["backward_reached"].sum()), "levels": int(part["levels"].sum())}
            for of, part in [*parts, ("all", table)]
            if len(part)
        ]
    )


def geometric(rows: pd.DataFrame, key: str) -> float:
    """The geometric mean over functions and sizes, however many seeds each has."""
    return float(np.exp(np.log(rows[key]).groupby([rows["function"], rows["n"]]).mean().mean()))


def main() -> None:
    """Measure what is missing, a row a data set, and show what there is."""
    parser = parser_of(__doc__)
    parser.add_argument("--functions", choices=FUNCTIONS, nargs="+", default=UNTUNED)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--repetitions", type=int, default=3, help="of ours; the median counts")
    parser.add_argument("--one-seed-from", type=int, default=200, help="sizes from here on get one seed")
    parser.add_argument("--botorch-up-to", type=int, default=200, help="sizes beyond get no BoTorch")
    parser.add_argument("--memory", type=int, nargs="*", default=[], help="sizes whose memory is measured")
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    parser.add_argument("--peak", choices=["ours", "botorch"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    fit(RelevancePursuitGP(*data(options.functions[0], 10, 0)))  # what a first call loads is not the fit's time
    if options.peak:
        print(measure_peak(options.peak, options.functions[0], options.sizes[0]))
        return
    path = options.out / "results.csv"
    finished = {tuple(row[key] for key in KEY) for row in read(path)}
    with row_writer(path, COLUMNS) as append, row_writer(options.out / "levels.csv", BY_LEVEL) as append_level:
        for n, seed, function in product(options.sizes, options.seeds, options.functions):
            is_extra = n >= options.one_seed_from and seed != options.seeds[0]
            if is_extra or (function, str(n), str(seed)) in finished:
                continue
            with_botorch = n <= options.botorch_up_to
            row, by_level = compare(function, n, seed, options.repetitions, with_botorch=with_botorch)
            for level in by_level:
                append_level(level)
            append(row)
            print(row, file=sys.stderr)
    print(render(records(summary(read(path))), "table", "how many times as fast as BoTorch"))
    measure_memory(options)


def measure_memory(options: argparse.Namespace) -> None:
    """Measure the memory that fits add to new processes."""
    memory = [
        {"n": n, "who": library, "peak_mib": round(peak(library, options.functions[0], n), 1)}
        for n in options.memory
        for library in ("ours", "botorch")
    ]
    if memory:
        print(memory)
        (options.out / "memory.csv").write_text(render(memory, "csv"), encoding="utf-8")


if __name__ == "__main__":
    main()
