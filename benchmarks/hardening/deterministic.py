r"""Deterministic objectives told with ``sd=0``: does any surrogate end an ask in an error, at any number of values?

Exact values at points that crowd around an optimum make a covariance matrix singular to working precision. Each
surrogate optimizes smooth functions of 1 to 6 dimensions; an ask that no rung of the ladder could make is an error, and
one that another surrogate than the chosen had to make is a fallback. A line that is in the file is not run again.

    python -m benchmarks.hardening.deterministic --trials 200 --out runs/hardening/deterministic.csv
"""

import os

from benchmarks.common.parsers import parser_of

os.environ["OMP_NUM_THREADS"] = "1"

import csv
import logging
import math
import time
import warnings
from collections import Counter
from pathlib import Path

import robustbo as rb
from robustbo.surrogates.registry import SURROGATES

COLUMNS = ("surrogate", "dimensions", "trials", "errors", "fallbacks", "copies", "best", "seconds")
DIMENSIONS = range(1, 7)


def objective(params: dict[str, float]) -> float:
    """Smooth, of one optimum inside the cube and some others: a bowl with waves; the least value is 0."""
    x = [value - 0.3 - 0.05 * i for i, value in enumerate(params.values())]
    return sum(u * u + 0.02 * (1 - math.cos(20 * u)) for u in x)


def run(surrogate: str, dimensions: int, trials: int) -> dict[str, object]:
    """Optimize with one surrogate, and count what went wrong."""
    space = rb.Space(**{f"x{i}": rb.Float(0.0, 1.0) for i in range(dimensions)})
    opt = rb.Optimizer(space, direction="minimize", surrogate=surrogate, seed=dimensions)  # type: ignore[arg-type]
    started, counts, points = time.perf_counter(), Counter[str](), Counter[tuple[float, ...]]()
    for _ in range(trials):
        try:
            trial = opt.ask()
        except Exception as error:  # any is one too many
            counts["errors"] += 1
            print(f"{surrogate}, {dimensions} dimensions, {len(opt.history)} values: {error!r}", flush=True)
            break
        counts["fallbacks"] += trial.fallback is not None
        points[tuple(trial.params.values())] += 1  # type: ignore[arg-type]
        opt.tell(trial, objective(trial.params), sd=0.0)  # type: ignore[arg-type]
    best = objective(opt.best().params)  # type: ignore[arg-type]
    return {
        "surrogate": surrogate,
        "dimensions": dimensions,
        "trials": len(opt.history),
        "errors": counts["errors"],
        "fallbacks": counts["fallbacks"],
        "copies": sum(points.values()) - len(points),
        "best": f"{best:.3g}",
        "seconds": round(time.perf_counter() - started, 1),
    }


def main() -> None:
    """Run what is not in the file yet."""
    parser = parser_of(__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--surrogates", nargs="*", default=[*SURROGATES])
    parser.add_argument("--dimensions", type=int, nargs="*", default=[*DIMENSIONS])
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    logging.getLogger("robustbo").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    finished = set()
    if args.out.exists():
        finished = {(row["surrogate"], int(row["dimensions"])) for row in csv.DictReader(args.out.open())}
    else:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(",".join(COLUMNS) + "\n")
    for surrogate in args.surrogates:
        for dimensions in args.dimensions:
            if (surrogate, dimensions) in finished:
                continue
            row = run(surrogate, dimensions, args.trials)
            print(row, flush=True)
            with args.out.open("a", newline="") as file:
                csv.DictWriter(file, COLUMNS).writerow(row)


if __name__ == "__main__":
    main()
