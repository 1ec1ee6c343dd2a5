"""Loops beside another source that may be asked: is the regret lower, and what does a source of no use cost?

A target with noise of 5 % of the objective's spread is minimized within a budget of 12 of its values. Beside it a
source may be asked that costs a fifth: identical, with a smooth bias, or another function. Regret is that of the clean
objective at the recommended point, in its standard deviations, at the end; cost is what was spent on the source, as a
share of the budget.

Cells that --work has are not run again. Seeds come first, so that it may be stopped at any time.

    python -m benchmarks.transfer.loops --work W/loops.csv --page docs/evidence/transfer.md
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

import robustbo as rb
from benchmarks.common.commands import parser_of_seeds, record_seeds
from benchmarks.transfer.data import NOISE, Function, objective, regret, source_function, standardize
from benchmarks.transfer.run import mean_and_error

KEY = ("problem", "case", "seed")
CASES = ("alone", "identical", "biased", "unrelated")
PROBLEMS = ("branin", "hartmann3", "three-hump-camel", "cosines3")
BUDGET, COST, NUM_INITIAL = 12.0, 0.2, 6


def cells_of(problems: Sequence[str], seeds: range) -> Iterator[tuple[Any, ...]]:
    """The cells of the plan."""
    return ((problem, case, seed) for seed in seeds for problem in problems for case in CASES)


def run_cell(problem: str, case: str, seed: int) -> dict[str, Any]:
    """One loop until the budget is spent."""
    d, f = objective(problem)
    target = standardize(f, d)
    readings = {"lab": target} if case == "alone" else {"lab": target, "other": source_function(case, target, d, seed)}
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study, spent = _loop(readings, d, seed)
        best = study.best()
    row = dict(zip(KEY, (problem, case, seed), strict=True))
    row |= {
        "regret": regret(target, d, [best.params[f"x{i}"] for i in range(d)]),
        "share": spent.get("other", 0.0) / BUDGET,
    }
    return row | {"asks": len(study.history), "seconds": time.process_time() - begin}


def _loop(readings: dict[str, Function], d: int, seed: int) -> tuple[rb.Optimizer, dict[str, float]]:
    """A study whose budget is spent, and what each source has cost."""
    sources = {"lab": rb.Source(target=True), "other": rb.Source(cost=COST)} if len(readings) > 1 else {}
    study = _study(d, seed, sources)
    generators = {name: np.random.default_rng([seed, i]) for i, name in enumerate(readings)}
    spent = dict.fromkeys(readings, 0.0)
    while sum(spent.values()) + COST <= BUDGET + 1e-9:
        trial = study.ask()
        name = trial.source or "lab"
        value = _at(readings[name], trial.params, d) + NOISE * generators[name].standard_normal()
        study.tell(trial, value)
        spent[name] += 1.0 if name == "lab" else COST
    return study, spent


def _study(d: int, seed: int, sources: dict[str, rb.Source]) -> rb.Optimizer:
    space = rb.Space({f"x{i}": rb.Float(0.0, 1.0) for i in range(d)})
    return rb.Optimizer(space, direction="minimize", sources=sources, seed=seed, num_initial=NUM_INITIAL)


def first_points(d: int, seed: int, count: int) -> list[list[float]]:
    """The points that loops of a seed begin with, for others' loops."""
    return [[trial.params[f"x{i}"] for i in range(d)] for trial in _study(d, seed, {}).ask(count)]


def _at(f: Function, params: Any, d: int) -> float:
    return float(f(np.array([[params[f"x{i}"] for i in range(d)]]))[0])


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Regret and cost by case, paired with the target alone."""
    alone = rows[rows["case"] == "alone"].set_index(["problem", "seed"])["regret"]
    lines = []
    for case, group in rows[rows["case"] != "alone"].groupby("case", sort=False):
        own = group.set_index(["problem", "seed"])
        pairs = pd.concat([own, alone.rename("regret alone")], axis=1, join="inner")
        share = 100 * pairs["share"]
        lines.append(
            {
                "source": case,
                "loops": len(pairs),
                "regret alone": f"{pairs['regret alone'].mean():.3f}",
                "regret": f"{pairs['regret'].mean():.3f}",
                "difference": mean_and_error(pairs["regret"] - pairs["regret alone"]),
                "spent on the source, %": f"{share.mean():.0f} (at most {share.max():.0f})",
                "CPU s an ask": f"{(pairs['seconds'] / pairs['asks']).median():.2f}",
            }
        )
    return pd.DataFrame(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cells, and print or write their rows and their summary."""
    parser = parser_of_seeds(__doc__, 8)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    o = parser.parse_args(arguments)
    record_seeds(o, KEY, cells_of(o.problems, o.seeds), run_cell, lambda rows: {"loops": summary(rows)})


if __name__ == "__main__":
    main()
