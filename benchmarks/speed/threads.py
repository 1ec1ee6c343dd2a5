"""Cost of a fit, and of an ask in Ax, where nobody limits the threads of linear algebra, beside OMP_NUM_THREADS=1.

Each measurement is a process of its own, with and without the variable in turn; n x 5 uniform points of a smooth
function, a tenth of the values wrong. An ask in Ax is the last of those of an experiment, after its fit. Seconds of the
wall and of the processor, medians.

    python -m benchmarks.speed.threads --ways fit --sizes 500 --repeats 3 --out runs/speed-threads/fit.csv
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import put_in

OPENMP = "OMP_NUM_THREADS"
LIMITS = (OPENMP, "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def data(n: int) -> tuple[Any, Any]:
    """Points and values."""
    import torch

    generator = torch.Generator().manual_seed(0)
    X = torch.rand(n, 5, generator=generator, dtype=torch.float64)
    noise = torch.randn(n, generator=generator, dtype=torch.float64)
    Y = torch.sin(6 * X[:, 0]) + X[:, 1].square() + 0.3 * X[:, 2:].sum(-1) + 0.05 * noise
    Y[::10] += 10 * torch.rand(len(Y[::10]), generator=generator, dtype=torch.float64)
    return X, Y.unsqueeze(-1)


def fit(surrogate: str, n: int) -> Any:
    """A fit to be timed."""
    from robustbo.surrogates.common.contract import fit
    from robustbo.surrogates.registry import SURROGATES

    model = SURROGATES[surrogate](*data(n))
    return lambda: fit(model)


def predict(surrogate: str, n: int) -> Any:
    """Posterior means and deviations at 512 points, to be timed, of a model whose hyperparameters are as they began."""
    import torch

    from robustbo.surrogates.registry import SURROGATES

    model, X = SURROGATES[surrogate](*data(n)).eval(), torch.rand(512, 5, dtype=torch.float64)
    return lambda: model.posterior(X).variance


def ask(surrogate: str, n: int) -> Any:
    """An ask of Ax, to be timed, after n trials."""
    from ax.api.client import Client
    from ax.api.configs import RangeParameterConfig

    from robustbo.ax import generation_strategy

    names = [f"x{i}" for i in range(5)]
    client = Client(random_seed=0)
    client.configure_experiment([RangeParameterConfig(name=k, parameter_type="float", bounds=(0, 1)) for k in names])
    client.configure_optimization(objective="-loss")
    client.set_generation_strategy(generation_strategy(surrogate, seed=0))
    for x, y in zip(*(column.tolist() for column in data(n)), strict=True):
        client.complete_trial(client.attach_trial(dict(zip(names, x, strict=True))), {"loss": y[0]})
    return lambda: client.get_next_trials(max_trials=1)


WAYS = {"fit": fit, "predict": predict, "ask in Ax": ask}


def measure(way: str, surrogate: str, n: int) -> None:
    """Print what one call takes: of the wall, and of the processor."""
    call = WAYS[way](surrogate, n)
    started, used = time.perf_counter(), time.process_time()
    call()
    print("took", time.perf_counter() - started, time.process_time() - used)


def time_process(way: str, surrogate: str, n: int, is_limited: bool) -> tuple[float, float]:
    """Seconds of a measurement in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if name not in LIMITS}
    command = [sys.executable, "-m", __spec__.name, "--measure", way, surrogate, str(n)]
    output = subprocess.run(
        command, env=environment | ({OPENMP: "1"} if is_limited else {}), capture_output=True, text=True, check=True
    ).stdout
    wall, processor = output.split("took")[1].split()
    return float(wall), float(processor)


def row(way: str, surrogate: str, n: int, repeats: int) -> dict[str, Any]:
    """Medians without and with a limit, and their ratios."""
    seconds: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    for i in range(repeats):
        for is_limited in (False, True) if i % 2 else (True, False):
            seconds[is_limited].append(time_process(way, surrogate, n, is_limited))
    unset, limited = (
        [statistics.median(column) for column in zip(*seconds[is_limited], strict=True)] for is_limited in (False, True)
    )
    result = {"what": way, "surrogate": surrogate, "n": n, "cores": os.cpu_count(), "repeats": repeats}
    result |= {"unset_s": unset[0], "one_s": limited[0], "unset_cpu_s": unset[1], "one_cpu_s": limited[1]}
    result = {name: round(value, 3) if isinstance(value, float) else value for name, value in result.items()}
    return result | {"ratio": round(unset[0] / limited[0], 2), "cpu_ratio": round(unset[1] / limited[1], 2)}


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--surrogates", nargs="+", default=["relevance-pursuit"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 500])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(*arguments.measure[:2], int(arguments.measure[2]))
    else:
        cases = [(w, s, n) for w in arguments.ways for s in arguments.surrogates for n in arguments.sizes]
        put_in([row(*case, arguments.repeats) for case in cases], arguments.out)
