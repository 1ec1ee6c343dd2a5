"""How long an ask takes: ours, plain, robust and inside Ax, against Optuna's GPSampler, Ax's default, plain BoTorch.

Every competitor gets the same n values of Hartmann6, 10 % of them replaced by uniform ones, in a process of its own
with one thread, and is then asked and told a few times. The median is the price of an ask in the middle of a run (ours
then begins where the last fit ended); the first stands beside it (ours begins from nothing there).

    pip install optuna ax-platform
    python benchmarks/speed_ask.py --sizes 50 100 200 --asks 7 --out runs/speed-ask/results.csv
"""

import argparse
import json
import logging
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from problems.hartmann6 import hartmann6
from robustbo.report.text import render

Values = dict[str, float]
Ask = Callable[[], tuple[Any, Values]]
Tell = Callable[[Any, Values, float], None]
NAMES = list(hartmann6.space.names)


def history(n: int) -> list[tuple[Values, float]]:
    """The values that everybody starts with: as they come from a run, half spread out and half about the optimum."""
    rng = np.random.default_rng(n)
    optimum = np.array([0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573])
    wide, near = rng.random((n - n // 2, 6)), optimum + 0.2 * rng.standard_normal((n // 2, 6))
    points = [dict(zip(NAMES, x, strict=True)) for x in np.clip(np.vstack([wide, near]), 0, 1).tolist()]
    return [(x, measured(x, rng)) for x in points]


def measured(x: Values, rng: np.random.Generator) -> float:
    """Hartmann6, or with a probability of 0.1 a uniform value in [-3, 3]."""
    value, wrong = hartmann6(x), float(rng.uniform(-3, 3))
    return wrong if rng.random() < 0.1 else value


def ours(surrogate: str, told: list[tuple[Values, float]]) -> tuple[Ask, Tell]:
    """An optimizer of our own."""
    import robustbo as rb

    opt = rb.Optimizer(hartmann6.space, direction="maximize", surrogate=surrogate, num_initial=5, seed=0)
    for x, value in told:
        opt.tell(x, value)

    def ask() -> tuple[Any, Values]:
        trial = opt.ask()
        return trial, trial.params

    return ask, lambda trial, x, value: opt.tell(trial, value)


def optuna(told: list[tuple[Values, float]]) -> tuple[Ask, Tell]:
    """Optuna's Gaussian process sampler, with all its defaults."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.GPSampler(seed=0))
    box = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in NAMES}
    study.add_trials([optuna.trial.create_trial(params=x, distributions=box, value=value) for x, value in told])

    def ask() -> tuple[Any, Values]:
        trial = study.ask(box)
        return trial, trial.params

    return ask, lambda trial, x, value: study.tell(trial, value)


def ax(told: list[tuple[Values, float]], surrogate: str | None = None) -> tuple[Ask, Tell]:
    """Ax's default strategy, or a surrogate of ours inside it."""
    from robustbo.ax import client_for, generation_strategy

    logging.disable(logging.INFO)
    client = client_for(hartmann6.space, "maximize", "value", seed=0)
    if surrogate is None:
        client.configure_generation_strategy(initialization_budget=5)
    else:
        client.set_generation_strategy(generation_strategy(surrogate, seed=0))
    for x, value in told:
        client.complete_trial(client.attach_trial(x), {"value": value})

    def ask() -> tuple[Any, Values]:
        ((index, x),) = client.get_next_trials(max_trials=1).items()
        return index, {name: float(x[name]) for name in NAMES}

    return ask, lambda index, x, value: client.complete_trial(index, {"value": value})


def botorch(told: list[tuple[Values, float]]) -> tuple[Ask, Tell]:
    """`SingleTaskGP` with its defaults and LogEI, maximized from as many points as ours."""
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    from robustbo.loop.acquisition import NUM_RESTARTS, RAW_SAMPLES

    points = [[x[name] for name in NAMES] for x, _ in told]
    values = [value for _, value in told]
    box = torch.tensor([[0.0] * 6, [1.0] * 6], dtype=torch.float64)

    def ask() -> tuple[Any, Values]:
        Y = torch.tensor(values, dtype=torch.float64).unsqueeze(-1)
        model = SingleTaskGP(torch.tensor(points, dtype=torch.float64), Y)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        function = LogExpectedImprovement(model, best_f=Y.max())
        X, _ = optimize_acqf(function, box, q=1, num_restarts=NUM_RESTARTS, raw_samples=RAW_SAMPLES)
        return None, dict(zip(NAMES, X.squeeze(0).tolist(), strict=True))

    def tell(_: Any, x: Values, value: float) -> None:
        points.append([x[name] for name in NAMES])
        values.append(value)

    return ask, tell


COMPETITORS: dict[str, Callable[[list[tuple[Values, float]]], tuple[Ask, Tell]]] = {
    "robustbo relevance-pursuit": lambda told: ours("relevance-pursuit", told),
    "robustbo standard": lambda told: ours("standard", told),
    "optuna GPSampler": optuna,
    "ax default": ax,
    "ax with relevance-pursuit": lambda told: ax(told, "relevance-pursuit"),
    "botorch SingleTaskGP, LogEI": botorch,
}


def measure(name: str, n: int, asks: int) -> dict[str, Any]:
    """Seconds of each ask of one competitor, and the peak memory of this process; run in a process of its own."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    ask, tell = COMPETITORS[name](history(12))
    tell(*(first := ask()), measured(first[1], rng))  # what a first call loads is not the ask's time
    ask, tell = COMPETITORS[name](history(n))
    seconds = []
    for _ in range(asks):
        started = time.perf_counter()
        handle, x = ask()
        seconds.append(time.perf_counter() - started)
        tell(handle, x, measured(x, rng))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"n": n, "competitor": name, "seconds": seconds, "peak_mib": round(peak)}


def row(found: dict[str, Any]) -> dict[str, Any]:
    """A line of the table."""
    seconds = found["seconds"]
    times = {"median_s": statistics.median(seconds[1:]), "first_s": seconds[0], "slowest_s": max(seconds[1:])}
    rounded = {key: round(value, 4) for key, value in times.items()}
    return {"n": found["n"], "competitor": found["competitor"], **rounded, "peak_mib": found["peak_mib"]}


def main() -> None:
    """Measure each competitor at each size, round after round, and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--asks", type=int, default=7)
    parser.add_argument("--only", choices=sorted(COMPETITORS), nargs="+", default=list(COMPETITORS))
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.sizes[0], options.asks)))
        return
    rows = []
    for n in options.sizes:
        for name in options.only:
            command = [sys.executable, __file__, "--measure", name, "--sizes", str(n), "--asks", str(options.asks)]
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=one_thread())
            rows.append(row(json.loads(done.stdout.splitlines()[-1])))
            print(rows[-1], file=sys.stderr)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(render(rows, "csv"), encoding="utf-8")


def one_thread() -> dict[str, str]:
    """This process's environment, with one thread for everybody."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


if __name__ == "__main__":
    main()
