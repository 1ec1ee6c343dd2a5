"""The number of space-filling points that come first: the same loops with different numbers, paired by seed.

A function of 20 parameters, with noise, or the rows of a table as a pool. A row has, of one loop, the best true value
at the end and half-way, in standard deviations of the function over the space; or of a pool the share of rows that are
better than the best one measured, at the end and on average.

    python -m benchmarks.quality.initial function levy --numbers 42 20 10 --seeds 0 4 --out rows.csv
    python -m benchmarks.quality.initial pool uci_concrete.npz --rows 40 --numbers 18 10 5 --seeds 0 6 --out rows.csv
"""

import argparse
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import robustbo as rb
from benchmarks.common.parsers import parser_of
from benchmarks.quality.failures import mean_and_error
from robustbo_problems import hartmann6

D, TRIALS = 20, 48
NOISE = {"levy": 0.1, "sphere": 0.3, "hartmann": 0.1, "styblinski": 0.3}
Function = Callable[[np.ndarray], float]


def levy(x: np.ndarray) -> float:
    """Levy's function of the unit cube, which stands for [-10, 10]."""
    w = 1 + (20 * x - 11) / 4
    middle = (w[:-1] - 1) ** 2 * (1 + 10 * np.sin(math.pi * w[:-1] + 1) ** 2)
    last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * math.pi * w[-1]) ** 2)
    return float(np.sin(math.pi * w[0]) ** 2 + middle.sum() + last)


def function_of(name: str, seed: int) -> Function:
    """A function to be minimized; that of six coordinates takes those that the seed draws."""
    six = np.random.default_rng(seed).permutation(D)[:6]
    functions: dict[str, Function] = {
        "levy": levy,
        "sphere": lambda x: float(np.square(x - 0.4).sum()),
        "hartmann": lambda x: -float(hartmann6.values(x[None, six])[0]),
        "styblinski": lambda x: float(np.polyval([1, 0, -16, 5, 0], 10 * x - 5).sum() / 2),
    }
    return functions[name]


def run_function(name: str, number: int, seed: int) -> dict[str, float]:
    """A row of a function."""
    function = function_of(name, seed)
    scale = np.std([function(x) for x in np.random.default_rng(12345).random((500, D))])
    errors = NOISE[name] * np.random.default_rng([seed, 7]).normal(size=TRIALS)
    space = rb.Space(**{f"x{i}": rb.Float(0.0, 1.0) for i in range(D)})
    opt = rb.Optimizer(space, direction="minimize", surrogate="standard", seed=seed, num_initial=number)
    values = []
    for error in errors:
        trial = opt.ask()
        values.append(function(np.array([*trial.params.values()])) / scale)
        opt.tell(trial, values[-1] + error)
    best = np.minimum.accumulate(values)
    return {"number": number, "seed": seed, "final": best[-1], "other": best[TRIALS // 2]}


def run_pool(file: Path, arguments: argparse.Namespace, number: int, seed: int) -> dict[str, float]:
    """A row of a pool: some rows of a table, and some of its columns."""
    content = np.load(file, allow_pickle=True)
    X, y = content["X"], content["y"].ravel()
    rows = np.random.default_rng([seed, 3]).permutation(len(X))[: arguments.rows]
    columns = np.flatnonzero(np.ptp(X[rows], axis=0) > 0)
    if arguments.columns < len(columns):
        columns = np.random.default_rng(0).permutation(columns)[: arguments.columns]
    frame = pd.DataFrame(X[np.ix_(rows, columns)], columns=[f"c{i}" for i in range(len(columns))])
    frame = frame.assign(y=y[rows]).drop_duplicates(frame.columns).reset_index(drop=True)
    by_point = {tuple(row[:-1]): row[-1] for row in frame.itertuples(index=False, name=None)}
    pool = rb.Pool(frame.drop(columns="y"))
    opt = rb.Optimizer(pool, direction="maximize", surrogate="standard", seed=seed, num_initial=number)
    best, shares = -math.inf, []
    for _ in range(min(arguments.trials, len(frame) - 1)):
        trial = opt.ask()
        value = by_point[tuple(trial.params.values())]
        opt.tell(trial, value)
        best = max(best, value)
        shares.append(float((frame["y"] > best).mean()))
    return {"number": number, "seed": seed, "final": shares[-1], "other": float(np.mean(shares))}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("kind", choices=("function", "pool"))
    parser.add_argument("name", help="of a function, or the file of a table with X and y")
    parser.add_argument(
        "--numbers", type=int, nargs="+", required=True, help="the first is what others are compared to"
    )
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 4))
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--trials", type=int, default=20, help="of a pool")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = [
        run_function(arguments.name, number, seed)
        if arguments.kind == "function"
        else run_pool(Path(arguments.name), arguments, number, seed)
        for seed in range(*arguments.seeds)
        for number in arguments.numbers
    ]
    table = pd.DataFrame(rows)
    if arguments.out is not None:
        table.to_csv(arguments.out, index=False)
    wide = table.pivot_table(index="seed", columns="number", values=["final", "other"])
    for number in arguments.numbers[1:]:
        differences = {key: wide[key][number] - wide[key][arguments.numbers[0]] for key in ("final", "other")}
        print(number, {key: mean_and_error(column) for key, column in differences.items()})


if __name__ == "__main__":
    main()
