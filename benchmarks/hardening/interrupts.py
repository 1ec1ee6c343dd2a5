r"""Ctrl-C in `Optimizer.optimize` at random moments, as from a terminal: is a value lost, a trial left, a process?

A study is optimized by one process after the other, in itself and with two workers by turns. Each gets SIGINT, as its
whole process group does from a terminal, a random moment after it has begun. Then what it had acknowledged is looked
for in the study, whether a trial is still pending, and whether a process is still there. The next one goes on, until
the study is at its end and another is begun.

    python -m benchmarks.hardening.interrupts --interrupts 100 --out runs/shared-study/interrupts.csv
"""

import os

from benchmarks.common.parsers import parser_of

os.environ["OMP_NUM_THREADS"] = "1"  # a process with threads must not be forked

import csv
import importlib
import itertools
import json
import math
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import robustbo as rb

TRIALS = 16
LONGEST_S = 2.5  # that a process works before it is interrupted
PATIENCE_S = 30.0  # for it to end
GONE_S = 5.0  # for its workers to
HEARD = 130  # exit code of a process that ended by KeyboardInterrupt
COLUMNS = (
    "interrupt",
    "study",
    "jobs",
    "after_s",
    "exit_s",
    "where",
    "told",
    "lost",
    "pending",
    "processes",
    "waiting",
)


def branin(x: float, y: float) -> float:
    """The function of that name."""
    a = y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6
    return a * a + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def note(path: Path, content: Any) -> None:
    """Append a line to a file; it is on the disk when this returns."""
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(content)}\n")
        file.flush()
        os.fsync(file.fileno())


def notes(path: Path) -> list[Any]:
    """The lines of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def measure(folder: Path, params: dict[str, Any]) -> float:
    """The objective: it takes a moment, and writes down where it was evaluated and what came out."""
    time.sleep(0.02)
    value = branin(**params)
    note(folder / "evaluated.jsonl", [os.getpid(), value])
    return value


def work(folder: Path, jobs: int, ready_pipe: int) -> None:
    """A process that goes on with the study until it is interrupted."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def acknowledge(_: Any, trial: rb.Trial) -> None:
        note(folder / "acknowledged.jsonl", [trial.number, trial.value])

    code = 1
    try:
        space = rb.Space(x=rb.Float(-5.0, 10.0), y=rb.Float(0.0, 15.0))
        opt = rb.Optimizer(
            space, direction="minimize", seed=0, num_initial=4, journal=folder / "journal.jsonl", if_exists="resume"
        )
        os.write(ready_pipe, b"!")
        opt.optimize(partial(measure, folder), TRIALS, jobs=jobs, callbacks=acknowledge, progress=False)
        code = 0
    except KeyboardInterrupt as error:
        note(folder / "where.jsonl", where(error))
        code = HEARD
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def where(error: BaseException) -> str:
    """The innermost function of ours that was interrupted, and what the loop was doing."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/robustbo/" in f.filename and f.name != "_hear"]
    doing = next((f.name for f in ours if f.name in ("_ask", "wait", "_call_back", "best")), "elsewhere")
    return f"{doing}: {Path(ours[-1].filename).stem}.{ours[-1].name}" if ours else "the beginning"


def wait_for_exit(pid: int, seconds: float) -> int | None:
    """The exit code of a child, None if it goes on for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended_pid, status = os.waitpid(pid, os.WNOHANG)
        if ended_pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    return None


def is_running(pid: int) -> bool:
    """Return whether a process is there, and not only waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def live_processes(folder: Path) -> list[int]:
    """The processes that have evaluated and go on."""
    end = time.monotonic() + GONE_S
    pids = {pid for pid, _ in notes(folder / "evaluated.jsonl")}
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < end:
        time.sleep(0.01)
    return left


def interrupt_study(folder: Path, jobs: int, after_s: float) -> dict[str, Any] | None:
    """State that an interrupt after a while has left; None if the study was at its end before."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        work(folder, jobs, writing)
    os.close(writing)
    if os.read(reading, 1) != b"!":
        raise SystemExit("the process could not begin")
    os.close(reading)
    code, started = wait_for_exit(pid, after_s), time.monotonic()
    if code is None:
        os.killpg(pid, signal.SIGINT)
        code = wait_for_exit(pid, PATIENCE_S)
    exit_s = time.monotonic() - started
    if code == 0:
        return None
    if code != HEARD:
        raise SystemExit(
            f"{folder}: a process must end by KeyboardInterrupt, it ended with {code} after {exit_s:.1f} s"
        )
    study = rb.Optimizer.resume(folder / "journal.jsonl")
    told = {t.number: t.value for t in study.history.having("told")}
    return {
        "exit_s": round(exit_s, 3),
        "where": notes(folder / "where.jsonl")[-1],
        "told": len(told),
        "lost": sum(told.get(number) != value for number, value in notes(folder / "acknowledged.jsonl")),
        "pending": len(study.pending()),
        "processes": len(live_processes(folder)),
        "waiting": len(study.history.having("queued")),
    }


def check_final_study(folder: Path) -> None:
    """Check a study that is at its end."""
    history = rb.Study.resume(folder / "journal.jsonl").history
    told = {trial.number: trial.value for trial in history.having("told")}
    if len(told) != TRIALS or len(history) != TRIALS:
        raise SystemExit(f"{folder}: a study must have {TRIALS} told trials at its end, it has {history.counts()}")
    if any(told[number] != value for number, value in notes(folder / "acknowledged.jsonl")):
        raise SystemExit(f"{folder}: a value was lost")


def one_study(folder: Path, moments: random.Random, at_most: int) -> Iterator[dict[str, Any]]:
    """Interrupt one study again and again, at most so often, and then let it come to its end."""
    for count in itertools.count():
        jobs, after_s = 1 + (count + moments.randrange(2)) % 2, moments.uniform(0, LONGEST_S)
        outcome = interrupt_study(folder, jobs, after_s if count < at_most else PATIENCE_S)
        if outcome is None:
            return check_final_study(folder)
        yield {"jobs": jobs, "after_s": round(after_s, 3), **outcome}
    return None


def summary(rows: list[dict[str, Any]], evaluated: list[int]) -> str:
    """All of it in a few lines."""
    lost, pending, processes, waiting = (
        sum(row[name] for row in rows) for name in ("lost", "pending", "processes", "waiting")
    )
    doing = Counter(row["where"].split(":")[0] for row in rows).most_common()
    return (
        f"{len(rows)} interrupts ({', '.join(f'{count} in {name}' for name, count in doing)}), at most "
        f"{max(row['exit_s'] for row in rows):.2f} s to the end\n"
        f"{lost} acknowledged values lost, {pending} trials left pending, {processes} processes left\n"
        f"{waiting} trials waited for the next run\n"
        f"{len(evaluated)} studies of {TRIALS} trials reached their end, in {sum(evaluated)} evaluations"
    )


def main() -> None:
    """Interrupt, count, write down."""
    parser = parser_of(__doc__)
    parser.add_argument("--interrupts", type=int, default=100)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    importlib.import_module("robustbo.optimizer")  # before the first process is forked
    warnings.simplefilter("error")
    rows, evaluated = list[dict[str, Any]](), list[int]()
    with tempfile.TemporaryDirectory() as root:
        while len(rows) < args.interrupts:
            folder = Path(root) / str(len(evaluated))
            folder.mkdir()
            for row in one_study(folder, random.Random(args.seed + len(evaluated)), args.interrupts - len(rows)):
                rows.append({"interrupt": len(rows), "study": len(evaluated), **row})
                print(*rows[-1].values(), flush=True)
            evaluated.append(len(notes(folder / "evaluated.jsonl")))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with args.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(summary(rows, evaluated))


if __name__ == "__main__":
    main()
