"""Loops that begin with an old study: what it is worth, and what it costs where it misleads, beside other libraries.

An old study has 40 values. It is of the same objective, or has a smooth bias, or is of another function; in one case a
tenth of its values is wrong. The target, with noise of 5 % of the objective's spread, is minimized within 12 values, of
which the first 4 are the same for every method. Regret is that of the clean objective at the point of the target that
the method recommends: the lowest by its own posterior mean, or the lowest value where the library has no mean.

BayBE and SMAC need environments of their own, whose Python is named; without it they are left out. Cells that --work
has are not run again. Seeds come first, so that it may be stopped at any time.

    python -m benchmarks.transfer.old --work W/old.csv --python W/bin/python --page runs/transfer/tables.md
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common.commands import parser_of_seeds, record_seeds
from benchmarks.transfer.data import (
    NOISE,
    WRONG,
    Function,
    measure,
    objective,
    regret,
    source_function,
    standardize,
)
from benchmarks.transfer.peers import ALONE, OURS, PEERS, Begin, Peer, Piped
from benchmarks.transfer.run import mean_and_error
from robustbo.searchspace.sobol import sobol_rows

KEY = ("problem", "case", "seed", "method")
CASES = ("identical", "biased", "unrelated", "identical, wrong")
PROBLEMS = ("hartmann3", "cosines4")
ELSEWHERE = {"BayBE, task": "baybe-task", "SMAC, warm start": "smac-warm-start"}  # by their names at the other end
METHODS = (*PEERS, *ELSEWHERE)
BUDGET, NUM_FIRST, NUM_OLD = 12, 4, 40


def cells_of(problems: Sequence[str], seeds: range, methods: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The cells of the plan. One that knows no old study is run once a problem and seed."""
    for seed in seeds:
        for problem in problems:
            for case in CASES:
                for method in methods:
                    if method != ALONE or case == CASES[0]:
                        yield problem, case, seed, method


def run_cell(python: Path | None, problem: str, case: str, seed: int, method: str) -> dict[str, Any]:
    """One loop until the budget is spent."""
    d, f = objective(problem)
    target = standardize(f, d)
    generator = np.random.default_rng([seed, d, CASES.index(case)])
    share = WRONG if "wrong" in case else 0.0
    old = measure(source_function(case, target, d, seed), generator.random((NUM_OLD, d)), share, generator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin: Begin = PEERS[method] if method in PEERS else partial(Piped, python, ELSEWHERE[method])
        began = time.perf_counter()
        recommended = _loop(begin(old, d, seed), target, d, seed)
    row = dict(zip(KEY, (problem, case, seed, method), strict=True))
    return row | {"regret": regret(target, d, recommended), "seconds": time.perf_counter() - began}


def _loop(peer: Peer, target: Function, d: int, seed: int) -> list[float]:
    """The point that a method recommends when its budget is spent."""
    noise = np.random.default_rng([seed, d])
    first = sobol_rows(d, seed, 0, NUM_FIRST)
    with peer:
        for number in range(BUDGET):
            x = list(first[number]) if number < NUM_FIRST else peer.ask()
            peer.tell(x, float(target(np.array([x]))[0] + NOISE * noise.standard_normal()))
        return peer.best()


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean regrets by case and method, and those of each method less the target's alone and less ours, paired."""
    regrets = rows.pivot_table(index=["problem", "seed"], columns=["case", "method"], values="regret")
    lines = []
    for case, group in rows.groupby("case", sort=False):
        for method in [name for name in METHODS if name in set(group["method"]) and name != ALONE]:
            own = regrets[case, method]
            rivals = [(CASES[0], ALONE), (case, OURS)]
            pairs = {other: (own - regrets[of, other]).dropna() for of, other in rivals if (of, other) in regrets}
            lines.append(
                {
                    "old study": case,
                    "method": method,
                    "loops": int(own.notna().sum()),
                    "regret": f"{own.mean():.3f}",
                    "less target alone": mean_and_error(pairs[ALONE]) if ALONE in pairs else "",
                    "less ours": mean_and_error(pairs[OURS]) if OURS in pairs and method != OURS else "",
                    "s a loop": f"{group.loc[group['method'] == method, 'seconds'].median():.0f}",
                }
            )
    return pd.DataFrame(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cells, and print or write their rows and their summary."""
    parser = parser_of_seeds(__doc__, 8)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--python", type=Path, help="that of an environment with BayBE and SMAC")
    o = parser.parse_args(arguments)
    methods = [name for name in o.methods if name in PEERS or o.python is not None]
    cells = cells_of(o.problems, o.seeds, methods)
    record_seeds(o, KEY, cells, partial(run_cell, o.python), lambda rows: {"old studies": summary(rows)})


if __name__ == "__main__":
    main()
