"""Cost of Optuna's loop beside an ask: our sampler in a study beside `robustbo.Optimizer`, after the same trials.

Levy's function in six dimensions, a tenth of the values wrong. Both decide in turn and are told the same afterwards, so
that both fit anew each time; seconds of the processor, one thread, the median.

    python -m benchmarks.speed.optuna --sizes 50 100 200 --asks 15 --out runs/optuna/speed.csv
"""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import torch
from optuna.distributions import FloatDistribution

import robustbo as rb
from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import put_in
from robustbo.optuna import RobustSampler
from robustbo_problems.synthetic import levy

LEVY = levy(6)
SPACE = {name: FloatDistribution(-10, 10) for name in LEVY.space.names}


def time_asks(n: int, asks: int, storage: str | None) -> dict[str, Any]:
    """A row: medians in Optuna and outside, and their ratio."""
    generator = np.random.default_rng(n)
    study = optuna.create_study(sampler=RobustSampler(seed=0, failures="ignore"), storage=storage)
    plain = optuna.samplers.GPSampler(seed=0)
    other = optuna.create_study(sampler=plain)
    opt = rb.Optimizer(LEVY.space, direction="minimize", seed=0, failures="ignore")
    seconds: dict[str, list[float]] = {"optuna": [], "outside": [], "gp_sampler": []}

    def tell(params: dict[str, Any]) -> None:
        value = LEVY.objective(params) + (generator.random() < 0.1) * 200 * generator.random()
        trial = optuna.create_trial(params=params, distributions=SPACE, value=value)
        study.add_trial(trial)
        other.add_trial(trial)
        opt.tell(params, value)

    def ask_in(study: optuna.Study) -> dict[str, Any]:
        return study.ask(SPACE).params

    for params in LEVY.space.sobol_points(1, 0, n):
        tell(params)
    ways = {
        "optuna": lambda: ask_in(study),
        "outside": lambda: opt.ask().params,
        "gp_sampler": lambda: ask_in(other),
    }
    for i in range(asks + 1):
        suggestions = {}
        for name in list(ways)[:: 1 if i % 2 else -1]:
            started = time.process_time()
            suggestions[name] = ways[name]()
            seconds[name].append(time.process_time() - started)
        for asked_study in (study, other):
            asked_study.tell(asked_study.trials[-1].number, state=optuna.trial.TrialState.FAIL)
        opt.fail(opt.pending()[0], "only timed")
        tell(suggestions["outside"])
    medians = {name: statistics.median(times[1:]) for name, times in seconds.items()}
    row = {"storage": "memory" if storage is None else "sqlite", "n": n}
    row |= {f"{name}_s": round(median, 4) for name, median in medians.items()}
    return row | {"optuna_over_outside": round(medians["optuna"] / medians["outside"], 3)}


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--asks", type=int, default=15)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        places = [None, f"sqlite:///{folder}/study.db"]
        put_in([time_asks(n, arguments.asks, place) for place in places for n in arguments.sizes], arguments.out)
