"""Shares of a study that processes get, however many threads each has.

    python -m benchmarks.hardening.fairness --out runs/shared-study/fairness.csv

Four processes, of one, two, three and four threads, ask (``sobol``, so that nothing is fitted) and tell one study for
so many seconds, as often as they can: who lets go of a lock wants it again at once. Counted are the trials of each
process between the moment when all have begun and the end.
"""

import csv
import multiprocessing
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import robustbo as rb
from benchmarks.common.parsers import parser_of

SPACE = rb.Space(**{f"x{i}": rb.Float(0.0, 1.0) for i in range(6)})
CONTEXT = multiprocessing.get_context("fork")  # of a process that has imported all, with one thread
THREADS = (1, 2, 3, 4)
PLACES = {"file": "{}/study.jsonl", "SQLite": "sqlite:///{}/study.db#study"}


def work(journal: str, threads: int, seconds: float, begin: Any) -> None:
    """Ask and tell in so many threads, for so many seconds."""
    opt = rb.Optimizer.resume(journal)
    begin.wait()
    end = time.perf_counter() + seconds

    def rounds() -> None:
        while time.perf_counter() < end:
            opt.tell(opt.ask(), 1.0)

    working = [threading.Thread(target=rounds) for _ in range(threads)]
    for thread in working:
        thread.start()
    for thread in working:
        thread.join()


def shares(kind: str, journal: str, seconds: float) -> list[dict[str, Any]]:
    """A row a process: its threads and its trials."""
    rb.Optimizer(SPACE, direction="minimize", acquisition="sobol", seed=0, journal=journal)
    begin = CONTEXT.Barrier(len(THREADS))
    workers = [CONTEXT.Process(target=work, args=(journal, threads, seconds, begin)) for threads in THREADS]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    asks_by_process = Counter(int(str(trial.asked_by).split(":")[1]) for trial in rb.Optimizer.resume(journal).history)
    return [
        {"journal": kind, "threads": threads, "trials": asks_by_process[worker.pid or 0], "seconds": seconds}
        for worker, threads in zip(workers, THREADS, strict=True)
    ]


def main() -> None:
    """Measure, print and write."""
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--journal", default=None, help="the address of a new study in a database")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        places = PLACES if options.journal is None else {options.journal.partition(":")[0]: options.journal}
        for kind, place in places.items():
            rows += shares(kind, place.format(folder), options.seconds)
            trials = [row["trials"] for row in rows if row["journal"] == kind]
            print(f"{kind}: {trials} trials, the largest share {max(trials) / max(1, min(trials)):.2f} of the smallest")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
