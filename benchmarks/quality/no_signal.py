"""The time until a hidden region is hit where all else gives the same, with and without filling the space meanwhile.

The objective is 0 but in a cube of a tenth of the space's volume, where it is 1: nothing says where that is. A row has
the trial that hits it first, of one seed: as the library asks, as it asked before (the surrogate decides, though all
values are equal), and by Sobol points alone; and the share of coordinates at a bound, of what was asked after the
initial design.

    python -m benchmarks.quality.no_signal --dimensions 2 5 10 --seeds 0 10 --out rows.csv
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

import robustbo as rb
from benchmarks.common.parsers import parser_of
from robustbo.loop import decide

TRIALS, VOLUME = 40, 0.1  # beyond the initial design; of the region
METHODS = ("filled", "as before", "sobol")


def run(method: str, d: int, seed: int, surrogate: str) -> dict[str, Any]:
    """A row: one loop until it hits."""
    half = 0.5 * VOLUME ** (1 / d)
    middle = np.random.default_rng([seed, d]).uniform(half, 1 - half, size=d)
    space = rb.Space(**{f"x{i}": rb.Float(0.0, 1.0) for i in range(d)})
    options = {"acquisition": "sobol"} if method == "sobol" else {}
    opt = rb.Optimizer(space, direction="maximize", surrogate=surrogate, seed=seed, **options)
    first, at_bounds, hit = opt.settings.num_initial, list[float](), None
    with mock.patch.object(decide, "has_signal", (lambda *_: True) if method == "as before" else decide.has_signal):
        for number in range(first + TRIALS):
            trial = opt.ask()
            x = np.array([*trial.params.values()])
            if number >= first:
                at_bounds.append(float(np.mean((x <= 0) | (x >= 1))))
            if np.abs(x - middle).max() < half:
                hit = number + 1
                break
            opt.tell(trial, 0.0)
    bound = float(np.mean(at_bounds)) if at_bounds else np.nan
    return {"method": method, "d": d, "seed": seed, "first": first, "hit": hit or first + TRIALS, "bound": bound}


def rows(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All rows."""
    for seed in range(*arguments.seeds):
        for d in arguments.dimensions:
            for method in METHODS:
                yield run(method, d, seed, arguments.surrogate)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """The median of the first hit, how many never hit, the share at a bound; and how much sooner, paired."""
    table = table.assign(never=table["hit"] == table["first"] + TRIALS)
    by_method = table.groupby(["d", "method"]).agg(
        hit=("hit", "median"), never=("never", "sum"), bound=("bound", "mean")
    )
    hits = table.pivot_table(index=["d", "seed"], columns="method", values="hit")
    sooner = (hits["as before"] - hits["filled"]).groupby("d").agg(["mean", "sem"])
    return by_method.reset_index().merge(sooner.add_prefix("sooner_"), on="d")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[2, 5, 10])
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 10))
    parser.add_argument("--surrogate", default="standard")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    table = pd.DataFrame(rows(arguments))
    if arguments.out is not None:
        table.to_csv(arguments.out, index=False)
    print(summary(table).round(2).to_string(index=False))


if __name__ == "__main__":
    main()
