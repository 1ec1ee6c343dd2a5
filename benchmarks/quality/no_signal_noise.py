"""A flat start whose noise nobody has told: what is won where all is flat, and lost where there is a signal.

``now``: values that differ are a signal. ``mixture``: each ask is space-filling with the probability that there is no
signal, by the evidence of a smooth function (eq. 21.3) at even odds. Loops are paired by seed. Problems are

- ``flat-D``: noise around 0, and 10 of its standard deviations in a hidden cube of a tenth of the volume, of D
  dimensions; a row's score is how many trials come before the first in the cube, 30 after the initial design at most;
- functions of six parameters with noise of 0.3 of their standard deviation over the space; a row's score is the best
  true value after 36 trials, in these.

Less is better in both.

    python -m benchmarks.quality.no_signal_noise --seeds 0 6 --out rows.csv
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

import robustbo as rb
from benchmarks.common import csv_rows
from benchmarks.common.parsers import parser_of
from benchmarks.quality.failures import mean_and_error
from benchmarks.quality.initial import levy
from robustbo import seeds
from robustbo.loop import decide
from robustbo.loop.candidates.no_signal import LOOKED_AT
from robustbo.loop.observations.table import Data
from robustbo.numerics.gp.signal import log_evidence
from robustbo_problems import hartmann6

D, TRIALS, NOISE = 6, 36, 0.3
VOLUME, MORE = 0.1, 30
CHOSEN_ON = ("flat-2", "levy", "rastrigin")
JUDGED_ON = ("flat-5", "styblinski", "hartmann")
METHODS = ("now", "mixture")
FUNCTIONS: dict[str, Callable[[np.ndarray], float]] = {
    "levy": levy,
    "rastrigin": lambda x: float((np.square(10 * x - 4) - 10 * np.cos(2 * math.pi * (10 * x - 4))).sum()),
    "styblinski": lambda x: float(np.polyval([1, 0, -16, 5, 0], 10 * x - 5).sum() / 2),
    "hartmann": lambda x: -float(hartmann6.values(x[None])[0]),
}


def has_signal_by_lot(data: Data, _: Any = (), *, seed: int) -> bool:
    """Return whether a draw with the probability of a signal says so."""
    told = [trial for trial in data.told if trial.state == "told"][:LOOKED_AT]
    y = np.array([trial.measured for trial in told])
    if len(set(y.tolist())) < 2:
        return False
    log_odds = log_evidence(np.array([data.rows[trial.number] for trial in told]), y)
    p = 1.0 / (1.0 + math.exp(-min(max(log_odds, -50.0), 50.0)))
    return bool(seeds.generator(seed, len(data.trials), "signal").random() < p)


def run(problem: str, method: str, seed: int) -> dict[str, Any]:
    """A row: one loop."""
    if method == "now":
        return _run(problem, method, seed)
    with mock.patch.object(decide, "has_signal", lambda *args: has_signal_by_lot(*args, seed=seed)):
        return _run(problem, method, seed)


def _run(problem: str, method: str, seed: int) -> dict[str, Any]:
    d = int(problem.split("-")[1]) if problem.startswith("flat") else D
    space = rb.Space({f"x{i}": rb.Float(0.0, 1.0) for i in range(d)})
    opt = rb.Optimizer(space, direction="minimize", surrogate="standard", seed=seed)
    errors = np.random.default_rng([seed, 7]).normal(size=100)
    score = _until_hit(opt, d, seed, errors) if problem.startswith("flat") else _best(opt, problem, errors)
    filled = sum(trial.reason == decide.NO_SIGNAL for trial in opt.history)
    return {"problem": problem, "method": method, "seed": seed, "score": score, "filled": filled}


def _until_hit(opt: rb.Optimizer, d: int, seed: int, errors: np.ndarray) -> float:
    half = 0.5 * VOLUME ** (1 / d)
    middle = np.random.default_rng([seed, d]).uniform(half, 1 - half, size=d)
    for number in range(opt.settings.num_initial + MORE):
        trial = opt.ask()
        if np.abs(np.array([*trial.params.values()]) - middle).max() < half:
            break
        opt.tell(trial, errors[number])
    return float(number)


def _best(opt: rb.Optimizer, problem: str, errors: np.ndarray) -> float:
    function = FUNCTIONS[problem]
    scale = float(np.std([function(x) for x in np.random.default_rng(12345).random((500, D))]))
    values = []
    for error in errors[:TRIALS]:
        trial = opt.ask()
        values.append(function(np.array([*trial.params.values()])) / scale)
        opt.tell(trial, values[-1] + NOISE * error)
    return min(values)


def summary(table: pd.DataFrame) -> str:
    """The change by the mixture, problem by problem, and the number of its asks that were filling."""
    lines = []
    for problem, of in table.groupby("problem"):
        wide = of.pivot_table(index="seed", columns="method", values="score").dropna()
        filled = of[of["method"] == "mixture"]["filled"].mean()
        change = mean_and_error(wide["mixture"] - wide["now"])
        lines.append(f"{problem}: now {wide['now'].mean():.2f}, mixture minus now {change}, {filled:.1f} filled")
    return "\n".join(lines)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--problems", nargs="+", default=[*CHOSEN_ON, *JUDGED_ON])
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 6))
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    cases = ((p, m, seed) for seed in range(*arguments.seeds) for p in arguments.problems for m in METHODS)
    csv_rows.record_missing(arguments.out, ("problem", "method", "seed"), cases, run)
    print(summary(pd.read_csv(arguments.out)))


if __name__ == "__main__":
    main()
