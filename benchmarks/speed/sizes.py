"""Time of an ask as values come in, from 50 to 10,000: ours, plain, robust and inside Ax, against others'.

Every competitor gets the same n values of a function in six dimensions, a tenth of them wrong, in a process of its own
with one thread, and is then asked and told a few times. The median is the price of an ask in the middle of a run (ours
then begins where the last fit ended; eleven asks, so that whatever is done at every tenth value is among them); the
first stands apart (ours begins from nothing there), as do the slowest and the largest ratio of an ask to the one
before. Seconds are the clock's, those called cpu and all ratios the processor's, which other work disturbs less.

Of ours there is more: the time of `best()` and of `outliers()` after an ask, and after a value was told; the peak
memory after all asks, libraries included; the median ask, and the first, in Cholesky factorizations of an n x n matrix
(LAPACK's, measured before and after it), by time and by counting; and how many calls factored such a matrix.

    pip install optuna ax-platform
    python -m benchmarks.speed.sizes --out runs/speed-sizes/results.csv
    python -m benchmarks.speed.sizes --functions hartmann6 --sizes 200 500 --only ax "default in ax"

A row that the CSV has is not measured again.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import torch

from benchmarks.common.csv_rows import read, row_writer
from benchmarks.common.measured_values import FUNCTIONS
from benchmarks.common.measured_values import measure as measure_value
from benchmarks.common.parsers import parser_of
from benchmarks.common.timing import peak_mib, time_call
from benchmarks.speed.competitors import COMPETITORS, Competitor
from benchmarks.speed.factorizations import cholesky_seconds, count_calls, num_factorizations
from benchmarks.speed.sizes_table import show
from robustbo import seeds

KEY = ("function", "n", "seed", "competitor")
TIMES = ("median_s", "cpu_s", "first_s", "first_cpu_s", "slowest_s", "largest_ratio")
LOOKS = ("best_s", "outliers_s", "told_best_s", "told_outliers_s")
COUNTS = ("cholesky_s", "choleskys", "first_choleskys", "counted", "first_counted", "factored", "first_factored")
COLUMNS = (*KEY, *TIMES, "peak_mib", *LOOKS, *COUNTS)
WARM_UP = 12  # values
LARGE = 2000  # values beyond which one factorization is timed, afterwards: its matrix is not the asks' memory


def measure(function: str, n: int, seed: int, competitor: str, asks: int) -> dict[str, Any]:
    """A row; to be measured in a process of its own."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    generator = seeds.generator(seed, n, "values that are told")
    warm = COMPETITORS[competitor](function, WARM_UP, seed)  # what a first call loads is not the ask's time
    for action in (warm.ask, *warm.looks.values()):
        action()
    factorization_s = cholesky_seconds(n, 5) if n <= LARGE else []
    opponent = COMPETITORS[competitor](function, n, seed)
    clock, cpu, counts = [], [], []
    for _ in range(1 + asks):
        with count_calls(n) as count:
            (handle, x), seconds, of_cpu = time_call(opponent.ask)
        clock.append(seconds)
        cpu.append(of_cpu)
        counts.append((count["work"], num_factorizations(count)))
        opponent.tell(handle, x, measure_value(function, x, generator))
    row = dict(zip(KEY, (function, n, seed, competitor), strict=True)) | times(clock, cpu)
    row["peak_mib"] = peak_mib()
    if opponent.looks:
        row |= time_looks(opponent, lambda x: measure_value(function, x, generator))
        row |= arithmetic(statistics.median(factorization_s + cholesky_seconds(n, 5 if n <= LARGE else 1)), row, counts)
    return {key: round_float(value) for key, value in row.items()}


def times(clock: list[float], cpu: list[float]) -> dict[str, float]:
    """Times of asks, the first and the others."""
    first, *later = clock
    figures = (
        statistics.median(later),
        statistics.median(cpu[1:]),
        first,
        cpu[0],
        max(later),
        max((after / before for before, after in pairwise(cpu[1:])), default=float("nan")),
    )
    return dict(zip(TIMES, figures, strict=True))


def time_looks(opponent: Competitor, value: Callable[[dict[str, float]], float]) -> dict[str, float]:
    """Seconds of each look, after an ask and after a value was told."""
    times = {}
    for name, look in opponent.looks.items():
        handle, x = opponent.ask()
        times[f"{name}_s"] = time_call(look).seconds
        opponent.tell(handle, x, value(x))
        times[f"told_{name}_s"] = time_call(look).seconds
    return times


def arithmetic(factorization_s: float, row: dict[str, Any], counts: list[tuple[float, int]]) -> dict[str, float]:
    """Asks in Cholesky factorizations, one of which takes so many seconds: by time, by arithmetic, and by number."""
    (first_work, first_number), *later = counts
    work, number = (statistics.median(of) for of in zip(*later, strict=True))
    figures = (
        factorization_s,
        row["cpu_s"] / factorization_s,
        row["first_cpu_s"] / factorization_s,
        work,
        first_work,
        number,
        first_number,
    )
    return dict(zip(COUNTS, figures, strict=True))


def round_float(value: Any) -> Any:
    """A float with five digits that count."""
    return float(f"{value:.5g}") if isinstance(value, float) else value


def apart(case: tuple[Any, ...], asks: int, limit: float) -> dict[str, Any] | None:
    """The row of a case, by a process of its own; None if it takes longer than so many seconds."""
    command = [sys.executable, "-m", __spec__.name, "--measure", json.dumps(case), "--asks", str(asks)]
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    try:
        process = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **one_thread}, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(process.stdout.splitlines()[-1])


def cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """Competitor after competitor, seed after seed, so that whatever else the machine does befalls all of them."""
    for function, n, seed, name in product(options.functions, options.sizes, options.seeds, options.only):
        if n <= options.others_up_to or name == "default":
            yield function, n, seed, name


def main() -> None:
    """Measure what is missing, row after row, and show the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--functions", choices=FUNCTIONS, nargs="+", default=["levy"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200, 500, 1000, 2000, 5000, 10_000])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--asks", type=int, default=11, help="after the first")
    parser.add_argument("--only", choices=COMPETITORS, nargs="+", default=["default", "standard", "optuna"])
    parser.add_argument("--others-up-to", type=int, default=2000, help="larger sizes are for the default alone")
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds that a row may take")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*json.loads(options.measure), options.asks)))
        return
    rows = [] if options.out is None else read(options.out)
    finished = {tuple(str(row[key]) for key in KEY) for row in rows}
    with row_writer(options.out or Path(os.devnull), COLUMNS) as append:
        for case in cases(options):
            if tuple(map(str, case)) in finished:
                continue
            row = apart(case, options.asks, options.limit)
            if row is None:
                print(f"{case}: more than {options.limit:g} s", file=sys.stderr)
                continue
            append(row)
            rows.append(row)
            print(row, file=sys.stderr)
    show(rows)


if __name__ == "__main__":
    main()
