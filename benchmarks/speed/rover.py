"""Drives of the rover that are evaluated in a second on one core: in batches, and one at a time.

python -m benchmarks.speed.rover --out runs/rover/speed.csv
"""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.parsers import parser_of
from robustbo.report.summary.tables import render
from robustbo_problems.rover import VARIANTS, load_field, rewards, rover


def seconds(action: Callable[[], Any]) -> float:
    """Seconds of an action: the median of seven times."""
    times = []
    for _ in range(7):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def measure(variant: str, n: int) -> dict[str, Any]:
    """Evaluations a second at n random points, and of calls of the problem."""
    problem, field = rover(variant), load_field(variant)
    unit = np.random.default_rng(0).random((n, len(problem.space)))
    points = [problem.space.from_unit(u.tolist()) for u in unit]
    X = np.array([list(point.values()) for point in points])
    batch, calls = seconds(lambda: rewards(field, X)), seconds(lambda: [problem(point) for point in points[:100]])
    return {"variant": variant, "batched_per_s": round(n / batch), "calls_per_s": round(100 / calls)}


def main() -> None:
    """Measure each variant and write a row each."""
    parser = parser_of(__doc__)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    rows = [measure(variant, options.points) for variant in VARIANTS]
    for row in rows:
        print(row, file=sys.stderr)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(render(rows, "csv"), encoding="utf-8")


if __name__ == "__main__":
    main()
