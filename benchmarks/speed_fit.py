"""How long a relevance pursuit takes: ours against BoTorch's class, same data, same model, one thread, side by side.

Both fit an RBF kernel of unit signal variance with BoTorch's priors to standardized Hartmann6 values, 10 % of them
replaced by uniform ones, through the same ten levels, backward, from a cold start. Beside the times stands the log
posterior density level by level.

    python benchmarks/speed_fit.py --sizes 50 100 --seeds 5 --out runs/speed-fit/results.csv
"""

import argparse
import csv
import math
import sys
import time
from pathlib import Path

import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models.robust_relevance_pursuit_model import FRACTIONS_OF_OUTLIERS, RobustRelevancePursuitSingleTaskGP
from botorch.models.transforms.outcome import Standardize
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from problems.hartmann6 import hartmann6
from robustbo.surrogates.base import fit, quiet
from robustbo.surrogates.relevance_pursuit import RelevancePursuitGP

TOLERANCE = 0.01  # nats


def data(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Hartmann6 at n uniform points, each value replaced with probability 0.1 by one in [-3, 3]."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, 6, generator=generator, dtype=torch.float64)
    values = [hartmann6(dict(zip(hartmann6.space.names, x, strict=True))) for x in X.tolist()]
    wrong = torch.rand(n, generator=generator) < 0.1
    replaced = 6 * torch.rand(n, generator=generator, dtype=torch.float64) - 3
    return X, torch.where(wrong, replaced, torch.tensor(values, dtype=torch.float64)).unsqueeze(-1)


def ours(X: Tensor, Y: Tensor, sweeps: int) -> tuple[float, dict[int, float]]:
    """Seconds, and the log posterior density by level (support size at most)."""
    started = time.perf_counter()
    model = RelevancePursuitGP(
        X,
        Y,
        outcome_transform=Standardize(m=1),
        kernel="rbf",
        is_signal_free=False,
        selection="botorch",
        levels=tuple(map(float, FRACTIONS_OF_OUTLIERS)),
        sweeps=sweeps,
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


def main() -> None:
    """Measure, print a row a data set, and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--repetitions", type=int, default=3, help="of ours; the median counts")
    parser.add_argument("--sweeps", type=int, default=1, help="of ours")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    torch.set_num_threads(1)
    fit(RelevancePursuitGP(*data(10, 0)))  # what a first call loads is not the fit's time
    rows = []
    for n in options.sizes:
        for seed in range(options.seeds):
            X, Y = data(n, seed)
            runs = [ours(X, Y, options.sweeps) for _ in range(options.repetitions)]
            seconds, densities = sorted(run[0] for run in runs)[options.repetitions // 2], runs[0][1]
            theirs, reference = botorch(X, Y)
            common = sorted(densities.keys() & reference.keys())
            reached = sum(densities[k] >= reference[k] - TOLERANCE for k in common)
            rows.append(
                {"n": n, "seed": seed, "ours_s": round(seconds, 4), "botorch_s": round(theirs, 3)}
                | {"ratio": round(theirs / seconds, 1), "levels": len(common), "levels_at_least_botorch": reached}
            )
            print(rows[-1], file=sys.stderr)
    geometric = math.exp(sum(math.log(row["ratio"]) for row in rows) / len(rows))
    share = sum(row["levels_at_least_botorch"] for row in rows) / sum(row["levels"] for row in rows)
    print(f"ratio (geometric mean): {geometric:.0f}; levels at least BoTorch's: {share:.1%}")
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with options.out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
