"""Time of Ax's `compute_analyses`: with our strategy against Ax's own, same arms and values, one process.

In each round both clients compute their analyses, one after the other; times are seconds of the processor. What a
client computes first (its fit to all values) counts too.

    python -m benchmarks.speed.ax --out runs/speed-ax/results.csv
"""

import logging
import time
import warnings
from pathlib import Path
from typing import Any

import torch
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig

from benchmarks.common.measured_values import space, values
from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import put_in
from robustbo.ax import generation_strategy

FUNCTIONS = ("branin", "hartmann6")  # of two and six inputs


def client_of(function: str, n: int, is_ours: bool) -> Client:
    """A client that has asked for one arm, after n arms of its own with their values."""
    names = [f"x{i}" for i in range(len(space(function).names))]
    client = Client(random_seed=0)
    client.configure_experiment(
        [RangeParameterConfig(name=name, parameter_type="float", bounds=(0.0, 1.0)) for name in names]
    )
    client.configure_optimization(objective="-loss")
    if is_ours:
        client.set_generation_strategy(generation_strategy(seed=0))
    U = torch.rand(n, len(names), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for row, loss in zip(U.tolist(), values(function, U.numpy()).tolist(), strict=True):
        index = client.attach_trial(dict(zip(names, row, strict=True)))
        client.complete_trial(index, {"loss": loss})
    client.get_next_trials(max_trials=1)
    return client


def time_analyses(function: str, n: int) -> dict[str, Any]:
    """Seconds of both."""
    seconds = {}
    for name in ("ax", "ours"):
        client = client_of(function, n, name == "ours")
        started = time.process_time()
        client.compute_analyses(display=False)
        seconds[name] = time.process_time() - started
    row = {"function": function, "n": n} | {f"{name}_s": round(time_s, 2) for name, time_s in seconds.items()}
    return row | {"ours_over_ax": round(seconds["ours"] / seconds["ax"], 2)}


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--functions", nargs="+", choices=FUNCTIONS, default=FUNCTIONS)
    parser.add_argument("--sizes", type=int, nargs="+", default=[30])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    put_in([time_analyses(function, n) for function in arguments.functions for n in arguments.sizes], arguments.out)
