"""Cost of keeping constraints: an ask in a constrained space beside one in the same space without them.

All told points keep the constraints. Both decide on the same history, in turn, one thread, each with its own last fits;
seconds of the processor. Told after each ask is what the constrained one asked for, so that both fit anew. The last
rows are of a pool, whose rows are all looked at.

    python -m benchmarks.speed.spaces --sizes 50 100 --asks 18 --out runs/spaces/speed.csv
"""

import statistics
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

import robustbo as rb
from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import put_in
from robustbo.loop.decide import step
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.sampling import sobol_points
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo_problems.synthetic import levy

LEVY = levy(6)
NAMES = LEVY.space.names
MIXED = {**dict(LEVY.space.parameters), NAMES[4]: rb.Int(-10, 10), NAMES[5]: rb.Ordinal(-10, -3, 0, 1, 3, 10)}
WRONG = 0.1  # of the values, by 100 on average
CASES: dict[str, tuple[Mapping[str, Any], list[str], dict[str, Any]]] = {
    "linear": (dict(LEVY.space.parameters), [f"{NAMES[0]} + {NAMES[1]} + {NAMES[2]} <= 5"], {}),
    "two linear": (
        dict(LEVY.space.parameters),
        [f"{NAMES[0]} + {NAMES[1]} <= 5", f"{NAMES[2]} - {NAMES[3]} >= -8"],
        {},
    ),
    "ball": (dict(LEVY.space.parameters), [" + ".join(f"{name}**2" for name in NAMES) + " <= 150"], {}),
    "equation": (dict(LEVY.space.parameters), [f"{NAMES[0]} + {NAMES[1]} + {NAMES[2]} == 0"], {}),
    "mixed, linear": (MIXED, [f"{NAMES[0]} + {NAMES[4]} + {NAMES[5]} <= 5"], {}),
    "fixed": (dict(LEVY.space.parameters), [], {NAMES[0]: 1.5}),
}


def told(space: rb.Space, n: int) -> History:
    """A history of ``n`` points that keep the constraints, a tenth of the values wrong."""
    opt, generator = rb.Optimizer(space, direction="minimize", seed=0), np.random.default_rng(n)
    for params in sobol_points(region_of(space), 1, 0, n):
        opt.tell(params, LEVY.objective(params) + (generator.random() < WRONG) * 200 * generator.random())
    return opt.history


def time_asks(case: str, n: int, asks: int) -> dict[str, Any]:
    """A row: medians with and without, and their ratio."""
    parameters, texts, fixed = CASES[case]
    space, plain = rb.Space.from_dict(parameters, texts), rb.Space.from_dict(parameters)
    history = told(space, n)
    settings = {"with": Settings(space, seed=3, num_initial=5), "without": Settings(plain, seed=3, num_initial=5)}
    fixed_values = {"with": space.partial(fixed), "without": ()}
    fits = {name: FitCache() for name in settings}
    seconds: dict[str, list[float]] = {name: [] for name in settings}
    for i in range(asks + 1):
        suggestions = {}
        for name in list(settings)[:: 1 if i % 2 else -1]:
            started = time.process_time()
            suggestions[name] = step(settings[name], history, len(history), fits[name], fixed_values[name])
            seconds[name].append(time.process_time() - started)
        params = suggestions["with"].params
        tell = {"event": "tell", "trial": len(history), "params": params, "value": LEVY.objective(params), "sd": None}
        history = history.apply_all([tell])
    medians = {name: statistics.median(times[1:]) for name, times in seconds.items()}
    row = {"case": case, "n": n} | {f"{name}_s": round(median, 4) for name, median in medians.items()}
    return row | {"ratio": round(medians["with"] / medians["without"], 2)}


def pool_row(count: int, n: int, asks: int) -> dict[str, Any]:
    """A row: the median of asks of a pool."""
    generator = np.random.default_rng(0)
    pool = rb.Pool(pd.DataFrame(10 * generator.uniform(-1, 1, (count, 6)), columns=NAMES))
    opt = rb.Optimizer(pool, direction="minimize", seed=3, num_initial=5)
    for index in generator.choice(count, n, replace=False):
        opt.tell(params := pool.point(int(index)), LEVY.objective(params))
    seconds, settings = [], replace(opt.settings)
    for _ in range(asks + 1):
        started = time.process_time()
        params = step(settings, opt.history, len(opt.history), opt.fits).params
        seconds.append(time.process_time() - started)
        opt.tell(params, LEVY.objective(params))
    median = round(statistics.median(seconds[1:]), 4)
    return {"case": f"pool of {count:,} rows", "n": n, "with_s": median, "without_s": "", "ratio": ""}


def main() -> None:
    """Time, print and write the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100])
    parser.add_argument("--asks", type=int, default=18)
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000, 100_000])
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = [time_asks(case, n, options.asks) for n in options.sizes for case in CASES]
    rows += [pool_row(count, n, options.asks) for n in options.sizes for count in options.rows]
    put_in(rows, options.out)


if __name__ == "__main__":
    main()
