"""How long a relevance pursuit takes: ours against BoTorch's class, same data, same model, one thread, side by side.

Both fit an RBF kernel of unit signal variance with BoTorch's priors to standardized Hartmann6 values, 10 % of them
replaced by uniform ones, through the same ten levels, from a cold start; ours backward (three starts, three sweeps) and
forward. Beside the times stands the log posterior density level by level, and the memory that a fit takes.

    python benchmarks/speed_fit.py --sizes 20 50 100 200 500 --out runs/speed-fit
"""

import argparse
import math
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models.robust_relevance_pursuit_model import FRACTIONS_OF_OUTLIERS, RobustRelevancePursuitSingleTaskGP
from botorch.models.transforms.outcome import Standardize
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from problems.hartmann6 import hartmann6
from robustbo.report.text import render
from robustbo.surrogates.common.contract import fit, quiet
from robustbo.surrogates.pursuit.model import RelevancePursuitGP

TOLERANCE = 0.01  # nats
Row = dict[str, Any]


def data(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Hartmann6 at n uniform points, each value replaced with probability 0.1 by one in [-3, 3]."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, 6, generator=generator, dtype=torch.float64)
    values = [hartmann6(dict(zip(hartmann6.space.names, x, strict=True))) for x in X.tolist()]
    wrong = torch.rand(n, generator=generator) < 0.1
    replaced = 6 * torch.rand(n, generator=generator, dtype=torch.float64) - 3
    return X, torch.where(wrong, replaced, torch.tensor(values, dtype=torch.float64)).unsqueeze(-1)


def ours(X: Tensor, Y: Tensor, direction: str = "backward") -> tuple[float, dict[int, float]]:
    """Seconds, and the log posterior density by level (support size at most)."""
    started = time.perf_counter()
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
    seconds = time.perf_counter() - started
    sizes = sorted({int(fraction * len(Y)) for fraction in FRACTIONS_OF_OUTLIERS})
    return seconds, {size: level.fit.F for size, level in zip(sizes, model.trace, strict=True)}


def botorch(X: Tensor, Y: Tensor) -> tuple[float, dict[int, float]]:
    """Seconds, and the log posterior density by support size."""
    started = time.perf_counter()
    model = RobustRelevancePursuitSingleTaskGP(X, Y, cache_model_trace=True)
    with quiet():
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    seconds = time.perf_counter() - started
    densities = {}
    for level in model.model_trace:
        level.train()
        mll = ExactMarginalLogLikelihood(level.likelihood, level)
        with quiet(), torch.no_grad():
            value = mll(level(*level.train_inputs), level.train_targets, level.transform_inputs(level.train_inputs[0]))
        densities[len(level.likelihood.noise_covar.support)] = value.item() * len(Y)
    return seconds, densities


def reached(densities: dict[int, float], reference: dict[int, float]) -> int:
    """At how many levels a density is at least the reference's."""
    return sum(densities[size] >= value - TOLERANCE for size, value in reference.items() if size in densities)


def compare(n: int, seed: int, repetitions: int, *, with_botorch: bool) -> tuple[Row, list[Row]]:
    """One data set: a row of times, and a row a level."""
    X, Y = data(n, seed)
    times, levels = {}, {}
    for direction in ("backward", "forward"):
        runs = [ours(X, Y, direction) for _ in range(repetitions)]
        times[direction], levels[direction] = statistics.median(run[0] for run in runs), runs[0][1]
    row: Row = {"n": n, "seed": seed} | {f"{name}_s": round(t, 4) for name, t in times.items()}
    if with_botorch:
        seconds, levels["botorch"] = botorch(X, Y)
        row |= {"botorch_s": round(seconds, 3), "levels": len(levels["backward"].keys() & levels["botorch"].keys())}
        for name, t in times.items():
            row |= {f"{name}_ratio": round(seconds / t, 1), f"{name}_reached": reached(levels[name], levels["botorch"])}
    sizes = sorted(set().union(*levels.values()))
    names = ("backward", "forward", "botorch")
    by_level = [
        {"n": n, "seed": seed, "size": k} | {name: _rounded(levels.get(name, {}).get(k)) for name in names}
        for k in sizes
    ]
    return row, by_level


def _rounded(value: float | None) -> float | str:
    return "" if value is None else round(value, 4)


def peak(who: str, n: int) -> float:
    """MiB that a fit adds to the peak memory of a new process."""
    done = subprocess.run([sys.executable, __file__, "--peak", who, "--sizes", str(n)], check=True, capture_output=True)
    return float(done.stdout.split()[-1])


def measure_peak(who: str, n: int) -> float:
    """The same, in this process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (ours if who == "ours" else botorch)(*data(n, 0))
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def show(rows: list[Row]) -> None:
    """Geometric means of the ratios, and the share of levels, where BoTorch was measured."""
    for n in [*sorted({row["n"] for row in rows}), None]:
        mine = [row for row in rows if "levels" in row and (row["n"] == n or (n is None and row["n"] in (50, 100)))]
        if mine:
            ratio = math.exp(statistics.mean(math.log(row["backward_ratio"]) for row in mine))
            share = sum(row["backward_reached"] for row in mine) / sum(row["levels"] for row in mine)
            print(f"{'n = 50 and 100' if n is None else f'n = {n}'}: ratio {ratio:.0f}, levels {share:.1%}")


def main() -> None:
    """Measure, print a row a data set, and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 50, 100, 200, 500])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--repetitions", type=int, default=3, help="of ours; the median counts")
    parser.add_argument("--one-seed-from", type=int, default=200, help="sizes from here on get one seed")
    parser.add_argument("--botorch-up-to", type=int, default=200, help="sizes beyond get no BoTorch")
    parser.add_argument("--memory", type=int, nargs="*", default=[100], help="sizes whose memory is measured")
    parser.add_argument("--out", type=Path, default=None, help="a folder")
    parser.add_argument("--peak", choices=["ours", "botorch"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    fit(RelevancePursuitGP(*data(10, 0)))  # what a first call loads is not the fit's time
    if options.peak:
        print(measure_peak(options.peak, options.sizes[0]))
        return
    rows, levels = [], []
    for n in options.sizes:
        for seed in options.seeds if n < options.one_seed_from else options.seeds[:1]:
            row, by_level = compare(n, seed, options.repetitions, with_botorch=n <= options.botorch_up_to)
            rows.append(row)
            levels += by_level
            print(row, file=sys.stderr)
    show(rows)
    memory = [
        {"n": n, "who": who, "peak_mib": round(peak(who, n), 1)} for n in options.memory for who in ("ours", "botorch")
    ]
    print(memory)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        for name, table in (("results", rows), ("levels", levels), ("memory", memory)):
            if table:
                (options.out / f"{name}.csv").write_text(render(table, "csv"), encoding="utf-8")


if __name__ == "__main__":
    main()
