"""Cost of sharing a study: asks and tells a second of one process, and of several on one journal.

    python -m benchmarks.hardening.shared_study --out runs/shared-study/asks.csv

Each process asks with the ``sobol`` acquisition (so that it is the sharing that is measured, not a fit) and tells a
value, for so many seconds; every event is on the disk before its call returns. The threads' part tells 1,000 trials in
each of eight threads.
"""

import csv
import multiprocessing
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import robustbo as rb
from benchmarks.common.parsers import parser_of

SPACE = rb.Space(**{f"x{i}": rb.Float(0.0, 1.0) for i in range(6)})
CONTEXT = multiprocessing.get_context("fork")  # of a process that has imported all, with one thread


def rounds(journal: Path, seconds: float, begin: Any) -> None:
    """Ask and tell for so many seconds."""
    opt = rb.Optimizer.resume(journal)
    begin.wait()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        opt.tell(opt.ask(), 1.0)


def of_processes(processes: int, seconds: float, folder: Path) -> dict[str, Any]:
    """A row: rounds a second of so many processes on one journal."""
    journal = folder / f"{processes}.jsonl"
    rb.Optimizer(SPACE, direction="minimize", acquisition="sobol", seed=0, journal=journal)
    begin = CONTEXT.Barrier(processes)
    workers = [CONTEXT.Process(target=rounds, args=(journal, seconds, begin)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    history = rb.Optimizer.resume(journal).history
    assert history.counts()["told"] == len(history)
    return {"what": f"{processes} processes, ask and tell", "rounds": len(history), "seconds": seconds}


def of_threads(threads: int, tells: int, folder: Path) -> dict[str, Any]:
    """A row: tells a second of so many threads of one process."""
    journal = folder / "threads.jsonl"
    opt = rb.Optimizer(SPACE, direction="minimize", acquisition="sobol", seed=0, journal=journal)
    trials = opt.ask(threads * tells)
    parts = [trials[k::threads] for k in range(threads)]
    working = [threading.Thread(target=lambda part: [opt.tell(t, 1.0) for t in part], args=(p,)) for p in parts]
    started = time.perf_counter()
    for thread in working:
        thread.start()
    for thread in working:
        thread.join()
    seconds = time.perf_counter() - started
    assert rb.Optimizer.resume(journal).history.counts()["told"] == threads * tells
    return {"what": f"{threads} threads, tell", "rounds": threads * tells, "seconds": round(seconds, 2)}


def main() -> None:
    """Measure, print and write."""
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = []
    for _ in range(options.repeats):
        for processes in (1, 2, 8):
            with tempfile.TemporaryDirectory() as folder:
                rows.append(of_processes(processes, options.seconds, Path(folder)))
                print(rows[-1], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        rows.append(of_threads(8, 1000, Path(folder)))
    print(rows[-1])
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0], "per_second"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | {"per_second": round(row["rounds"] / row["seconds"])} for row in rows)


if __name__ == "__main__":
    main()
