"""Cost of learning where trials fail: an ask with the model of failures beside one without, at the same history.

Both decide on the same trials, in turn, one thread, each with its own last fits; seconds of the processor. Told after
each ask is what the one with the model asked for, so that both fit anew.

    python -m benchmarks.speed.failures --sizes 50 100 200 --asks 18 --out runs/failures/speed.csv
"""

import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

import robustbo as rb
from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import put_in
from robustbo import seeds
from robustbo.loop.decide import step
from robustbo.loop.surrogate.cache import FitCache
from robustbo.tasks.corruption import build
from robustbo.tasks.problem import Problem
from robustbo_problems.memory import out_of_memory
from robustbo_problems.synthetic import levy

SLAB = {"normal_1": 1.0, "normal_2": 0.6, "normal_3": 0.3, "share": 0.6, "below": 0.2}
MODES = ("learn", "ignore")


def time_asks(problem: Problem, options: dict[str, Any], n: int, asks: int) -> dict[str, Any]:
    """A row: the trials of both kinds in the end, the median and the first of each, and their ratio."""
    failing = build("failure", problem, **options)
    opt = rb.Optimizer(problem.space, direction=problem.direction, seed=3)

    def end(trial: Any, params: dict[str, Any]) -> None:
        value, _ = failing.apply(problem(params), params, seeds.generator(n, len(opt.history), "flake"))
        opt.tell(trial, value)  # NaN where it fails

    for i in range(n):
        params = problem.space.sobol(1, i)
        end(params, params)
    settings, fits = {m: replace(opt.settings, failures=m) for m in MODES}, {m: FitCache() for m in MODES}
    seconds: dict[str, list[float]] = {m: [] for m in MODES}
    for i in range(asks + 1):
        suggestions = {}
        for mode in MODES if i % 2 else MODES[::-1]:
            started = time.process_time()
            suggestions[mode] = step(settings[mode], opt.history, len(opt.history), fits[mode])
            seconds[mode].append(time.process_time() - started)
        end(suggestions["learn"].params, suggestions["learn"].params)
    counts = opt.history.counts()
    row: dict[str, Any] = {"problem": problem.name, "n": n, "told": counts["told"], "failed": counts["failed"]}
    medians = {mode: statistics.median(seconds[mode][1:]) for mode in MODES}
    row |= {f"{mode}_s": round(medians[mode], 4) for mode in MODES}
    row |= {f"{mode}_first_s": round(seconds[mode][0], 4) for mode in MODES}
    return row | {"ratio": round(medians["learn"] / medians["ignore"], 2)}


def main() -> None:
    """Time, print and write the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--asks", type=int, default=18)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    torch.set_num_threads(1)
    cases = [(out_of_memory, {"region": "out-of-memory"}), (levy(3), {"region": "slab", **SLAB})]
    rows = [time_asks(problem, region, n, options.asks) for n in options.sizes for problem, region in cases]
    put_in(rows, options.out)


if __name__ == "__main__":
    main()
