"""Loops of at most three of eight additives: the constraint, against what else can be done about one, by seed.

The response of a mixture to eight additives (each saturates and harms in excess, some pairs work together or against
each other) and to a temperature, with noise. A row has what the best true value that was measured at an allowed point
lacks to the greatest, after 28 of 40 trials and at the end, in standard deviations of the function over allowed points:

- ``group``: the constraint is one of the space;
- ``support``: three additives are drawn for each trial, and the others fixed at 0;
- ``repair``: no constraint; of what is asked for the three largest additives are measured, and told as measured there;
- ``penalty``: no constraint; a value is lowered by one standard deviation for each additive too many.

    python -m benchmarks.quality.at_most --seeds 0 8 --out rows.csv
"""

import argparse
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize

import robustbo as rb
from benchmarks.common import csv_rows
from benchmarks.common.parsers import parser_of
from benchmarks.quality.failures import mean_and_error

ADDITIVES, MOST, NOISE = 8, 3, 0.05
TRIALS, EARLIER = 40, 28  # of which 20 are of the initial design
METHODS = ("group", "support", "repair", "penalty")
NAMES = [f"a{i}" for i in range(ADDITIVES)]
Response = Callable[[np.ndarray], float]


def response(seed: int) -> Response:
    """The response to eight additives and a temperature in the unit cube, to be maximized."""
    rng = np.random.default_rng([seed, 11])
    gain, half, harm = rng.normal(0.3, 1, ADDITIVES), rng.uniform(0.05, 0.5, ADDITIVES), rng.uniform(0, 1, ADDITIVES)
    pairs = np.triu(rng.normal(0, 1.5, (ADDITIVES, ADDITIVES)) * (rng.random((ADDITIVES, ADDITIVES)) < 0.4), 1)
    best = rng.random()

    def value(x: np.ndarray) -> float:
        a, z = x[:ADDITIVES], x[ADDITIVES]
        return float((gain * a / (a + half) - harm * a**2).sum() + a @ pairs @ a - 2 * (z - best) ** 2)

    return value


def greatest(value: Response, seed: int) -> float:
    """The greatest value where at most three are on: the best of climbs in each face."""
    rng, best = np.random.default_rng([seed, 13]), -np.inf
    for support in combinations(range(ADDITIVES), MOST):
        at = [*support, ADDITIVES]

        def loss(part: np.ndarray, at: list[int] = at) -> float:
            x = np.zeros(ADDITIVES + 1)
            x[at] = part
            return -value(x)

        for begin in rng.random((6, len(at))):
            best = max(best, -minimize(loss, begin, bounds=[(0, 1)] * len(at), method="L-BFGS-B").fun)
    return float(best)


def points_within(count: int) -> np.ndarray:
    """Random points at which three are on."""
    rng = np.random.default_rng(12345)
    is_on = rng.random((count, ADDITIVES)).argsort(1) < MOST
    return np.column_stack([rng.random((count, ADDITIVES)) * is_on, rng.random(count)])


def run(method: str, seed: int) -> dict[str, Any]:
    """A row: one loop."""
    value = response(seed)
    scale = float(np.std([value(x) for x in points_within(500)]))
    rng, best = np.random.default_rng([seed, 17]), list[float]()
    errors = NOISE * scale * np.random.default_rng([seed, 7]).normal(size=TRIALS)
    options: dict[str, Any] = {"constraints": [rb.AtMost(MOST, *NAMES)]} if method == "group" else {}
    space = rb.Space({name: rb.Float(0.0, 1.0) for name in [*NAMES, "temperature"]}, **options)
    opt = rb.Optimizer(space, direction="maximize", surrogate="standard", seed=seed)
    for error in errors:
        off = [*rng.permutation(NAMES)[MOST:]]
        trial = opt.ask(fixed=dict.fromkeys(map(str, off), 0.0)) if method == "support" else opt.ask()
        x = np.array([*trial.params.values()])
        too_many = max(0, int((x[:ADDITIVES] > 0).sum()) - MOST)
        if method == "repair" and too_many:
            x[x[:ADDITIVES].argsort()[:-MOST]] = 0.0
            too_many = 0
        params = dict(zip(space.names, x.tolist(), strict=True))
        opt.tell(trial, value(x) + error - scale * too_many, params=None if params == trial.params else params)
        best.append(-np.inf if too_many else value(x))
    lacks = (greatest(value, seed) - np.maximum.accumulate(best)) / scale
    return {"method": method, "seed": seed, "earlier": lacks[EARLIER - 1], "end": lacks[-1]}


def summary(table: pd.DataFrame) -> str:
    """The median of each way, and the difference of the constraint from the others, paired by seed."""
    lines = []
    for key in ("earlier", "end"):
        wide = table.pivot_table(index="seed", columns="method", values=key).clip(upper=100.0)
        lines.append(f"{key}: " + ", ".join(f"{method} {wide[method].median():.3f}" for method in METHODS))
        for method in METHODS[1:]:
            lines.append(f"{key}: group minus {method} {mean_and_error(wide['group'] - wide[method])}")
    return "\n".join(lines)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 8))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--out", type=Path, required=True)
    arguments: argparse.Namespace = parser.parse_args()
    cases = ((method, seed) for seed in range(*arguments.seeds) for method in arguments.methods)
    csv_rows.record_missing(arguments.out, ("method", "seed"), cases, run)
    print(summary(pd.read_csv(arguments.out)))


if __name__ == "__main__":
    main()
