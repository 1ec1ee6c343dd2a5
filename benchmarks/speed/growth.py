"""Cost of an ask of the initial design and of a tell beside the mathematics, by how many trials there are already.

Trials that have been told are put into a study without a journal, with a file and with SQLite; then it is asked and
told in turn, and told of points measured elsewhere. Processor time of this process (medians), and what it is of that at
the smallest size. At the end: how many bytes a tell reads of a file to which somebody else has written two lines.

    python -m benchmarks.speed.growth --out runs/speed-growth/results.csv
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import robustbo as rb
from benchmarks.common.parsers import parser_of
from robustbo.report.summary.tables import render
from robustbo.trials.storage import disk

DIMENSIONS = 3
PLACES = {"no journal": "", "a file": "{}/study.jsonl", "SQLite": "sqlite:///{}/study.db"}
Row = dict[str, Any]


def point(rng: random.Random) -> dict[str, float]:
    """A random point."""
    return {f"x{i}": rng.random() for i in range(DIMENSIONS)}


def study(count: int, place: str, rng: random.Random) -> rb.Optimizer:
    """A study with so many told trials, which is asked for its initial design alone."""
    space = rb.Space({f"x{i}": rb.Float(0.0, 1.0) for i in range(DIMENSIONS)})
    journal = place.format(tempfile.mkdtemp()) or None
    opt = rb.Optimizer(space, direction="minimize", seed=0, num_initial=10 * count + 1000, journal=journal)
    events = [
        {"event": "tell", "trial": i, "value": rng.gauss(0, 1), "sd": None, "params": point(rng)} for i in range(count)
    ]
    opt._store.commit(lambda _: events)
    opt.tell(opt.ask(), 0.0)  # what is computed once a process
    return opt


def milliseconds(action: Callable[[], Any]) -> float:
    """The processor's time that it takes."""
    started = time.process_time()
    action()
    return 1e3 * (time.process_time() - started)


def costs(opt: rb.Optimizer, rng: random.Random, repeats: int) -> Row:
    """Medians of asks and tells."""
    asks, tells, points = [], [], []
    for _ in range(repeats):
        asks.append(milliseconds(opt.ask))
        tells.append(milliseconds(partial(opt.tell, opt.pending()[0], rng.gauss(0, 1))))
        points.append(milliseconds(partial(opt.tell, point(rng), rng.gauss(0, 1))))
    measured = {"ask": asks, "tell": tells, "tell of a point": points}
    return {name: statistics.median(times) for name, times in measured.items()}


def bytes_read_of_another(count: int, rng: random.Random) -> int:
    """The bytes that a tell reads of a file to which another optimizer has written two lines."""
    opt = study(count, PLACES["a file"], rng)
    other = rb.Optimizer.resume(opt._store._log.name)
    other.tell(other.ask(), 1.0)
    reads, read = [], disk.read_from
    disk.read_from = lambda file, start: reads.append(read(file, start)) or reads[-1]
    try:
        opt.tell(point(rng), 1.0)
    finally:
        disk.read_from = read
    return sum(map(len, reads))


def main() -> None:
    """Measure, print and write."""
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows: list[Row] = []
    for name, place in PLACES.items():
        first: Row = {}
        for size in options.sizes:
            rng = random.Random(size)
            costs_here = costs(study(size, place, rng), rng, options.repeats)
            first = first or costs_here
            ratios = {
                f"{name_of_cost} / at {options.sizes[0]}": f"{costs_here[name_of_cost] / first[name_of_cost]:.2f}"
                for name_of_cost in costs_here
            }
            rows.append(
                {"journal": name, "n": size} | {f"{k} (ms)": f"{v:.2f}" for k, v in costs_here.items()} | ratios
            )
            print(f"{name}, {size}: {rows[-1]}", file=sys.stderr)
    print(render(rows, "table"))
    reads = [{"n": size, "bytes": bytes_read_of_another(size, random.Random(size))} for size in options.sizes]
    print(render(reads, "table", "read by a tell where another process has written two lines"))
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(render(rows, "csv"), encoding="utf-8")


if __name__ == "__main__":
    main()
