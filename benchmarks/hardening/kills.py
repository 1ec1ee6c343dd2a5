r"""Many processes on one study, killed at random moments and started again: is a value lost, or a trial given twice?

Each process asks, measures and tells; what it was given and what was acknowledged it writes down, fsynced, in a file of
its own. A random moment after it has begun it gets SIGKILL, and another takes its place. Afterwards all that was
acknowledged is looked for in the study, and each decision in it is computed again.

    python -m benchmarks.hardening.kills --journal /tmp/kills.jsonl --kills 1000 --out runs/shared-study
    python tests/trials/postgres.py \
        python -m benchmarks.hardening.kills --journal ADDRESS#kills --kills 200 --out runs/shared-study
"""

import os

from benchmarks.common.parsers import parser_of

os.environ["OMP_NUM_THREADS"] = "1"  # a process with threads must not be forked

import gc
import json
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import robustbo as rb
from benchmarks.common.csv_rows import append_row
from robustbo.study.recomputing import recompute_asks
from robustbo.trials import worker
from robustbo.trials.codec import settings_of
from robustbo.trials.storage import places

LONGEST_S = 1.0  # that a process works before it is killed
REQUEUES = 0.1  # the share of asks before which what the dead have left is taken back
POLL_S = 0.002
LAST_S = 60.0  # for the last ones to end by themselves
NOT_DECIDED = ("by", "at", "fit_s", "acquisition_s", "unseen")  # what may differ where a decision is computed again


@dataclass
class Hand:
    """A process that works, the file of its notes, and when it is killed (None while it has not begun)."""

    pid: int
    notes: Path
    end: float | None = None


@dataclass
class Crew:
    """All of them.

    Attributes:
        journal: What they work on.
        folder: Where their files are.
        kills: How many are to be killed.
        random: What draws the moments.
        hands: Those that work.
        died: When each of those that are dead was killed, by process number.
        failed: How many ended by themselves, with an error.
    """

    journal: str
    folder: Path
    kills: int
    random: random.Random
    hands: list[Hand] = field(default_factory=list)
    died: dict[int, datetime] = field(default_factory=dict)
    failed: int = 0

    def hire(self) -> None:
        """Start one more."""
        notes, seed = self.folder / f"{len(self.died) + len(self.hands) + self.failed}.notes", self.random.random()
        if pid := os.fork():
            self.hands.append(Hand(pid, notes))
            return
        try:
            work(self.journal, notes, random.Random(seed))
        except BaseException:
            (self.folder / f"{os.getpid()}.error").write_text(traceback.format_exc(), encoding="utf-8")
            os._exit(1)
        os._exit(0)

    def look(self) -> None:
        """Kill those whose moment has come; find those that have ended by themselves."""
        for hand in list(self.hands):
            if hand.end is None and hand.notes.exists():
                hand.end = time.monotonic() + self.random.uniform(0.0, LONGEST_S)
            if os.waitpid(hand.pid, os.WNOHANG)[0]:
                self.failed += 1
                self.hands.remove(hand)
            elif len(self.died) < self.kills and hand.end is not None and time.monotonic() > hand.end:
                self.died[hand.pid] = datetime.now(UTC)
                os.kill(hand.pid, signal.SIGKILL)
                os.waitpid(hand.pid, 0)
                self.hands.remove(hand)

    def let_end(self) -> None:
        """Let those that are left end by themselves."""
        (self.folder / "stop").touch()
        end = time.monotonic() + LAST_S
        for hand in self.hands:
            pid = status = 0
            while not pid and time.monotonic() < end:
                pid, status = os.waitpid(hand.pid, os.WNOHANG)
                time.sleep(POLL_S)
            self.failed += not pid or status != 0


def work(journal: str, notes: Path, rng: random.Random) -> None:
    """Ask, measure and tell until there is a file named stop."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        opt = rb.Optimizer.resume(journal)
    with notes.open("xb", buffering=0) as file:
        torn = sum("torn" in str(warning.message) for warning in caught)
        note(file, {"what": "begun", "by": worker.name(), "torn": torn})
        while not notes.with_name("stop").exists():
            if rng.random() < REQUEUES:
                opt.requeue()
            trial = opt.ask()
            note(file, {"what": "given", "trial": trial.number})
            told = opt.tell(trial, rng.random())
            note(file, {"what": "acknowledged", "trial": told.number, "value": told.value})


def note(file: Any, content: Mapping[str, Any]) -> None:
    """Write a line down; it is kept when this returns."""
    file.write(f"{json.dumps(content)}\n".encode())
    os.fsync(file.fileno())


def read_notes(notes: Path) -> list[dict[str, Any]]:
    """The whole lines of a process's file."""
    *lines, _ = notes.read_bytes().split(b"\n")
    return [json.loads(line) for line in lines]


def run(journal: str, *, kills: int, processes: int, seed: int) -> dict[str, Any]:
    """Begin a study, let processes work on it until so many were killed, and count what went wrong."""
    started = time.monotonic()
    space = rb.Space(x=rb.Float(0.0, 1.0), y=rb.Float(0.0, 1.0))
    warm(rb.Optimizer(space, direction="minimize", acquisition="sobol", seed=seed, journal=journal))
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        crew = Crew(journal, Path(folder), kills, random.Random(seed))
        while len(crew.died) < kills and not crew.failed:
            while len(crew.hands) < processes:
                crew.hire()
            crew.look()
            time.sleep(POLL_S)
        crew.let_end()
        worked = time.monotonic() - started
        for error in Path(folder).glob("*.error"):
            print(error.read_text(encoding="utf-8"), file=sys.stderr)
        files = [read_notes(path) for path in Path(folder).glob("*.notes")]
    kind = journal.partition("://")[0].partition("+")[0] if places.is_address(journal) else "file"
    row = {"journal": kind, "processes": processes, "kills": len(crew.died), "failed": crew.failed}
    row |= {"torn": sum(note.get("torn", 0) for notes in files for note in notes)}
    return row | compare_notes(journal, files, crew.died) | verify_decisions(journal) | {"seconds": round(worked, 1)}


def warm(opt: rb.Optimizer) -> None:
    """Import here, once, what each process would import in the second that it lives."""
    opt.tell(opt.ask(), 0.0)
    gc.freeze()


def compare_notes(journal: str, files: Iterable[list[dict[str, Any]]], died: Mapping[int, datetime]) -> dict[str, Any]:
    """Compare what the processes noted with the study."""
    history, events = rb.Optimizer.resume(journal).history, places.contents(journal).events
    acknowledged = lost = unknown = 0
    handed = Counter((event["trial"], event["by"]) for event in events if event["event"] in ("ask", "assign"))
    for header, *notes in filter(None, files):
        told = [note for note in notes if note["what"] == "acknowledged"]
        acknowledged += len(told)
        lost += sum(n["trial"] >= len(history) or history[n["trial"]].value != n["value"] for n in told)
        handouts = Counter(note["trial"] for note in notes if note["what"] == "given")
        unknown += sum(count > handed[number, header["by"]] for number, count in handouts.items())
    points = [trial.point for trial in history if trial.repeats is None]
    return {
        "events": len(events),
        "trials": len(history),
        "acknowledged": acknowledged,
        "lost": lost,
        "taken_back": sum(event["event"] == "requeue" for event in events),
        "given_twice": unknown + too_early(events, died) + len(points) - len(set(points)),
    }


def too_early(events: Iterable[Mapping[str, Any]], died: Mapping[int, datetime]) -> int:
    """Number of times that a trial was taken back from a living process, or given to a second without having been."""
    holders: dict[int, str] = {}
    count = 0
    for event in events:
        kind, number = event["event"], event["trial"]
        if kind in ("ask", "assign"):
            count += number in holders
            holders[number] = event["by"]
        elif kind == "requeue":
            death = died.get(int(holders.pop(number).split(":")[1]))
            count += death is None or datetime.fromisoformat(event["at"]) < death
    return count


def verify_decisions(journal: str) -> dict[str, Any]:
    """Compute each decision of a study again."""
    contents = places.contents(journal)
    count = different = 0
    for recorded, again in recompute_asks(settings_of(journal, contents.header), contents.events):
        count += 1
        different += any(recorded.get(k) != again.get(k) for k in {*recorded, *again}.difference(NOT_DECIDED))
    return {"recomputed": count, "different": different}


def main() -> None:
    """Kill, count, and print a line."""
    parser = parser_of(__doc__)
    parser.add_argument("--journal", required=True, help="a new file, or the address of a new study in a database")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None, help="a folder, for a row in kills.csv")
    options = parser.parse_args()
    row = run(options.journal, kills=options.kills, processes=options.processes, seed=options.seed)
    print(", ".join(f"{key.replace('_', ' ')}: {value}" for key, value in row.items()))
    if options.out is not None:
        append_row(row, options.out / "kills.csv")
    sys.exit(bool(row["lost"] or row["given_twice"] or row["different"] or row["failed"]))


if __name__ == "__main__":
    main()
