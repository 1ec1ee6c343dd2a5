"""The best of one objective under a constraint: the point of the best posterior mean, or of half-way to its value.

Twelve of BoTorch's test functions, of which the coordinates (in [0, 1]) must add up to 0.35 d at least; 20 points drawn
at random, and 12 and 12 more about the best so far. Objectives are exact, have noise of 2 % of their deviation,
or a tenth of them is that of another point. `Optimizer.best` recommends a point by each rule (`incumbent.LASTING` 0
and 0.5), and its regret is that among the points measured, in log10, at least 1e-8 of the objectives' deviation.

    python -m benchmarks.quality.half_way --seeds 6 --out runs/half-way
"""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from botorch import test_functions
from botorch.test_functions.synthetic import SyntheticTestFunction

import robustbo as rb
from benchmarks.common.csv_rows import read, row_writer
from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import put
from robustbo.loop.best import incumbent
from robustbo.loop.best.best import best

FUNCTIONS: dict[str, SyntheticTestFunction] = {
    "ackley": test_functions.Ackley(dim=3),
    "beale": test_functions.Beale(),
    "branin": test_functions.Branin(),
    "bukin": test_functions.Bukin(),
    "drop-wave": test_functions.DropWave(),
    "hartmann3": test_functions.Hartmann(dim=3),
    "levy": test_functions.Levy(dim=4),
    "michalewicz": test_functions.Michalewicz(dim=2),
    "powell": test_functions.Powell(),
    "rastrigin": test_functions.Rastrigin(),
    "rosenbrock": test_functions.Rosenbrock(dim=3),
    "three-hump-camel": test_functions.ThreeHumpCamel(),
}
SETTINGS = ("clean", "noise", "wrong")
RULES = {"mean": 0.0, "half-way": 0.5}
SPREAD, AROUND, WIDTHS = 20, 12, (0.1, 0.03)  # points drawn at random, and those about the best so far, by their width
LEVEL, NOISE, SHARE, LEAST = 0.35, 0.02, 0.1, 1e-8
COLUMNS = ("function", "setting", "seed", *RULES)


def study(name: str, setting: str, seed: int) -> tuple[rb.Optimizer, np.ndarray]:
    """A study that was told of all points, and log10 of the regret of each."""
    function, rng = FUNCTIONS[name], np.random.default_rng(seed)
    low, high = function.bounds.numpy()
    d = function.dim

    def values(X: np.ndarray) -> np.ndarray:
        return function(torch.tensor(low + X * (high - low))).numpy()

    X = rng.uniform(size=(SPREAD, d))
    for width in WIDTHS:
        allowed = np.where(X.sum(1) >= LEVEL * d, values(X), np.inf)
        about = X[allowed.argmin()] + width * rng.normal(size=(AROUND, d))
        X = np.vstack([X, about.clip(0, 1)])
    y, slack = values(X), X.sum(1) - LEVEL * d
    measured = y + NOISE * y.std() * rng.normal(size=len(y)) * (setting == "noise")
    if setting == "wrong":
        measured = np.where(rng.uniform(size=len(y)) < SHARE, y[rng.integers(len(y), size=len(y))], measured)
    space = rb.Space(**{f"x{j}": rb.Float(0.0, 1.0) for j in range(d)})
    opt = rb.Optimizer(space, objectives={"f": "minimize"}, outcome_constraints=["slack >= 0"], seed=0)
    for x, f, s in zip(X, measured, slack, strict=True):
        opt.tell({f"x{j}": float(x[j]) for j in range(d)}, {"f": float(f), "slack": float(s)})
    feasible = y[slack >= 0]
    regret = np.where(slack >= 0, y, feasible.max()) - feasible.min()
    return opt, np.log10(np.maximum(regret, LEAST * y.std()))


def row(name: str, setting: str, seed: int) -> dict[str, Any]:
    """The regret of what each rule recommends."""
    opt, regret = study(name, setting, seed)
    cells: dict[str, Any] = {"function": name, "setting": setting, "seed": seed}
    before = incumbent.LASTING
    try:
        for rule, incumbent.LASTING in RULES.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                cells[rule] = round(float(regret[best(opt.settings, opt.history, opt.fits).trial.number]), 4)
    finally:
        incumbent.LASTING = before
    return cells


def differences(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """A row a setting: half-way less mean, functions being fixed and seeds drawn, with its standard error."""
    for setting, of_setting in rows.groupby("setting"):
        difference = of_setting["half-way"] - of_setting["mean"]
        of_function = difference.groupby(of_setting["function"])
        error = np.sqrt((of_function.var() / of_function.count()).sum()) / of_function.ngroups
        yield {
            "setting": setting,
            "studies": len(difference),
            "another point": int((difference != 0).sum()),
            "half-way less mean": round(float(of_function.mean().mean()), 2),
            "standard error": round(float(error), 2),
        }


def main() -> None:
    """Recommend by both rules in studies that are not yet recorded, and print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    options = parser.parse_args()
    path = options.out / "rows.csv"
    recorded = {(r["function"], r["setting"], int(r["seed"])) for r in read(path)}
    with row_writer(path, COLUMNS) as write:
        for seed in range(options.seeds):
            for name in FUNCTIONS:
                for setting in SETTINGS:
                    if (name, setting, seed) not in recorded:
                        write(row(name, setting, seed))
    put({"differences": [*differences(pd.read_csv(path))]}, options.out)


if __name__ == "__main__":
    main()
