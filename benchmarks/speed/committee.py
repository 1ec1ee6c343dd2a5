"""Cost of evidence and gradient of a committee of Student-t experts: against GPy's experts, and as n grows.

Data as in the source's Figure 6: a linear model of five inputs, Student-t noise of 4 degrees of freedom, a tenth of the
values gross. An evaluation begins at the modes of a place 2 % away, as within a fit. GPy evaluates one expert after the
other on a sample of the same shards, from its last mode too. One process, one thread, seconds of the processor. The
arithmetic limit is the number of operations that the factorizations take (`operations`), over the rate of a product of
matrices of the experts' size on this machine.

    pip install GPy
    python -m benchmarks.speed.committee --out runs/speed-committee/results.csv
    python -m benchmarks.speed.committee --workers  # on a Dask cluster of one worker, and of two (seconds of the clock)
    python -m benchmarks.speed.committee --files 1000000  # two workers read their parts of files
"""

import math
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from distributed import Client, LocalCluster

from benchmarks.common.parsers import parser_of
from benchmarks.common.timing import peak_mib
from robustbo.numerics.committee import evidence
from robustbo.numerics.committee.evidence import SharedHyperparameters
from robustbo.numerics.committee.partition import MEMORY, Shards, random_parts, shard
from robustbo.report.summary.tables import render
from robustbo.surrogates.committee.cluster import CommitteeCluster, parts_of
from robustbo.surrogates.committee.files import MemoryMap
from robustbo.surrogates.committee.streamed import StreamedCommittee

try:
    import GPy
except ImportError:
    GPy = None

EXPERT, SAMPLE, D, FIT_EXPERTS = 256, 12, 5, 100
STEPS = (1.02, 1.0, 1.02, 1.0, 1.02)


def data(n: int) -> Shards:
    """The observations by expert."""
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(n, D, generator=generator, dtype=torch.float64)
    y = X @ torch.randn(D, generator=generator, dtype=torch.float64)
    y += 0.1 * torch.randn(n, generator=generator, dtype=torch.float64)
    y[torch.rand(n, generator=generator) < 0.1] += 10.0
    return shard(X, y, random_parts(n, math.ceil(n / EXPERT), generator))


def scaled_hyperparameters(factor: float) -> SharedHyperparameters:
    """Hyperparameters, length-scales by a factor."""
    numbers = (torch.tensor(x, dtype=torch.float64) for x in (4.0, 0.02, 4.0, 0.0))
    return SharedHyperparameters("matern52", torch.full((D,), 3.0 * factor, dtype=torch.float64), *numbers)


def cpu(action: Callable[[], Any]) -> float:
    """Seconds of the processor."""
    started = time.process_time()
    action()
    return time.process_time() - started


def ours(shards: Shards) -> float:
    """Median seconds of a warm evaluation."""
    f, times = evidence.evidence(shards, scaled_hyperparameters(1.0)).f, []
    for factor in STEPS:
        started = time.process_time()
        f = evidence.evidence(shards, scaled_hyperparameters(factor), f).f
        times.append(time.process_time() - started)
    return statistics.median(times)


def theirs(shards: Shards) -> float:
    """Seconds of GPy's evaluation, expert by expert."""
    models = []
    for X, y in zip(shards.X.numpy(), shards.y.numpy(), strict=True):
        likelihood = GPy.likelihoods.StudentT(deg_free=4.0, sigma2=0.02)
        kernel = GPy.kern.Matern52(D, ARD=True, variance=4.0, lengthscale=[3.0] * D)
        inference = GPy.inference.latent_function_inference.Laplace()
        models.append(GPy.core.GP(X, y[:, None], kernel, likelihood, inference_method=inference))
        models[-1].likelihood.deg_free.fix()

    def evaluate(factor: float) -> None:
        for model in models:
            model.update_model(False)
            model.kern.lengthscale[:] = 3.0 * factor
            model.update_model(True)  # evidence and gradient

    return statistics.median(cpu(lambda factor=factor: evaluate(factor)) for factor in STEPS)


def on_workers(shards: Shards, count: int) -> float:
    """Median seconds of a warm evaluation on a Dask cluster of so many workers, by the clock."""
    with (
        LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as local,
        CommitteeCluster(local.scheduler_address, parts_of(shards, MEMORY), MEMORY) as cluster,
    ):
        modes, times = cluster.evidence(scaled_hyperparameters(1.0)).f, []
        for factor in STEPS:
            started = time.perf_counter()
            modes = cluster.evidence(scaled_hyperparameters(factor), modes).f
            times.append(time.perf_counter() - started)
    return statistics.median(times)


def from_files(n: int) -> None:
    """A committee whose observations two workers read from files: seconds of the clock, and who held how much."""
    with (
        tempfile.TemporaryDirectory() as name,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
    ):
        X, y = (Path(name) / file for file in ("X.npy", "y.npy"))
        _write(n, X, y)
        with StreamedCommittee(MemoryMap(X, y), local.scheduler_address, fit_experts=FIT_EXPERTS) as model:
            started = time.perf_counter()
            fitted_committee = model.fit()
            print(f"fit to {FIT_EXPERTS} experts, then all found: {time.perf_counter() - started:.0f} s")
            print(f"{fitted_committee.num_evaluations} evaluations of the evidence")
            started = time.perf_counter()
            model.predict(torch.randn(1000, D, dtype=torch.float64))
            print(f"1,000 points predicted: {time.perf_counter() - started:.1f} s")
            started = time.perf_counter()
            print(f"{len(model.outliers())} outliers of {n}: {time.perf_counter() - started:.1f} s")
            with Client(local.scheduler_address, set_as_default=False) as client:
                memory = ", ".join(f"{mib} MiB" for mib in client.run(peak_mib).values())
        print(
            f"at most {peak_mib()} MiB here, {memory} on the workers; the files have {n * (D + 1) * 8 / 2**20:.0f} MiB"
        )


def _write(n: int, X: Path, y: Path) -> None:
    """Write data as `data` makes them, a million rows at a time."""
    inputs = np.lib.format.open_memmap(X, "w+", np.float64, (n, D))
    outcomes = np.lib.format.open_memmap(y, "w+", np.float64, (n,))
    generator = np.random.default_rng(0)
    slopes = generator.standard_normal(D)
    for start in range(0, n, 10**6):
        rows = slice(start, min(start + 10**6, n))
        inputs[rows] = generator.standard_normal(inputs[rows].shape)
        outcomes[rows] = inputs[rows] @ slopes + 0.1 * generator.standard_normal(len(outcomes[rows]))
        outcomes[rows] += 10.0 * (generator.random(len(outcomes[rows])) < 0.1)


def product_rate(n: int) -> float:
    """Operations a second of a product of n x n matrices."""
    A = torch.rand(8, n, n, dtype=torch.float64)
    A @ A
    return 8 * 2 * n**3 / statistics.median(cpu(lambda: A @ A) for _ in range(9))


def operations(n: int) -> float:
    """Operations of an expert's evaluation: mode (Cholesky, two LU), then Cholesky, inverse, solution for K, LU."""
    return n**3 * (1 / 3 + 2 * 2 / 3 + 1 / 3 + 2 / 3 + 1 + 2 / 3)


def main() -> None:
    """Measure, and write the rows."""
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[12_800, 25_600, 51_200, 102_400])
    parser.add_argument("--large", type=int, default=None, help="one evaluation from nothing, for its memory")
    parser.add_argument("--workers", action="store_true", help="one Dask worker against two, n = 51,200")
    parser.add_argument("--files", type=int, default=None, help="so many values, read by two Dask workers")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.files is not None:
        from_files(options.files)
        return
    if options.workers:
        ours_s, two = (on_workers(data(51_200), count) for count in (1, 2))
        print(f"one worker {ours_s:.2f} s, two {two:.2f} s: {two / ours_s:.2f} of it")
        return
    warnings.simplefilter("ignore")
    rate, rows = product_rate(EXPERT), []
    sample = data(SAMPLE * EXPERT)
    ours_s, theirs_s = ours(sample) / SAMPLE, theirs(sample) / SAMPLE if GPy is not None else math.nan
    limit = operations(EXPERT) / rate
    print(f"an expert: ours {1e3 * ours_s:.2f} ms, GPy {1e3 * theirs_s:.1f} ms, {theirs_s / ours_s:.1f} times as much;")
    print(f"arithmetic limit {1e3 * limit:.2f} ms at {rate / 1e9:.0f} GFlop/s: we take {ours_s / limit:.1f} times that")
    rows.append({"what": "GPy, an expert", "n": EXPERT, "seconds": round(theirs_s, 5), "peak_mib": ""})
    rows.append({"what": "ours, an expert", "n": EXPERT, "seconds": round(ours_s, 5), "peak_mib": ""})
    rows.append({"what": "arithmetic limit, an expert", "n": EXPERT, "seconds": round(limit, 5), "peak_mib": ""})
    for n in options.sizes:
        rows.append({"what": "ours", "n": n, "seconds": round(ours(data(n)), 3), "peak_mib": peak_mib()})
        print(rows[-1], file=sys.stderr)
    if options.large is not None:
        seconds = cpu(partial(evidence.evidence, data(options.large), scaled_hyperparameters(1.0)))
        cold = {"what": "ours, from nothing", "n": options.large, "seconds": round(seconds, 2), "peak_mib": peak_mib()}
        rows.append(cold)
        print(rows[-1], file=sys.stderr)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(render(rows, "csv"), encoding="utf-8")


if __name__ == "__main__":
    main()
