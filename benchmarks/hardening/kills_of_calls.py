r"""Processes killed in the middle of calls that write one event or many: is one lost, or a part of a call there?

A process tells, asks for several trials, tells tables, begins studies from prior data and adds rows to a pool, says
what it begins and what was acknowledged, and gets SIGKILL a few milliseconds later. After each kill its journals are
opened: all that was acknowledged must be there, and of the call that was killed all or nothing. Where the journal is a
file, the disk takes few bytes at once (``--piece``), so that many kills fall between two of them.

    python -m benchmarks.hardening.kills_of_calls --kills 10000 --out runs/shared-study
    python -m benchmarks.hardening.kills_of_calls --kills 1000 --database --out runs/shared-study
"""

import os

from benchmarks.common.parsers import parser_of

os.environ["OMP_NUM_THREADS"] = "1"  # a process with threads must not be forked

import gc
import io
import json
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

import robustbo as rb
from benchmarks.common.csv_rows import append_row
from robustbo.errors import JournalMissing, JournalWarning
from robustbo.trials.storage import disk

SPACE = rb.Space(x=rb.Float(0.0, 1.0), y=rb.Float(0.0, 1.0))
SETTINGS: dict[str, Any] = {"direction": "minimize", "acquisition": "sobol", "seed": 0}
KINDS = ("tell", "ask", "tell_frame", "prior_data", "add_rows")
LONGEST_S = 0.08  # from when a process is ready to its end
PIECE_S = 0.0005
KILLS_OF_A_STUDY = 50  # before another is begun, since opening one takes a time that grows


class Hand:
    """A process that works until it is killed.

    Args:
        folder: Of the journals.
        is_database: Whether they are databases.
        first: A number that no value had before.
        rng: What draws the calls.
        pipe: Where it says what it begins and what was acknowledged.
    """

    def __init__(self, folder: Path, is_database: bool, first: int, rng: random.Random, pipe: int) -> None:
        self.folder, self.is_database, self.number, self.rng, self.pipe = folder, is_database, first, rng, pipe
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JournalWarning)  # of what is torn, which the audit has counted
            self.study = rb.Optimizer.resume(place(folder, "study", is_database))
            self.pool = rb.Optimizer.resume(place(folder, "pool", is_database))

    def work(self) -> None:
        """Call, and call again."""
        self.say({"ready": True})
        while True:
            kind = self.rng.choice(KINDS)
            count = 1 if kind == "tell" else self.rng.randint(2, 12)
            names = [self.number + k for k in range(count)]
            self.number += count
            self.say({"begun": kind, "names": names, "of": f"prior-{names[0]}"})
            getattr(self, kind)(names)
            self.say({"acknowledged": kind, "names": names, "of": f"prior-{names[0]}"})

    def say(self, note: dict[str, Any]) -> None:
        """Write a line into the pipe, at once and as a whole."""
        os.write(self.pipe, f"{json.dumps(note)}\n".encode())

    def tell(self, names: list[int]) -> None:
        """One value."""
        self.study.tell({"x": self.rng.random(), "y": 0.5}, float(names[0]))

    def ask(self, names: list[int]) -> None:
        """Ask for as many trials."""
        self.study.ask(len(names))

    def tell_frame(self, names: list[int]) -> None:
        """Tell as many values."""
        self.study.tell_frame(table(names))

    def prior_data(self, names: list[int]) -> None:
        """A study of its own, begun from as many values."""
        journal = place(self.folder, f"prior-{names[0]}", self.is_database)
        rb.Optimizer(SPACE, journal=journal, prior_data=table(names), **SETTINGS)

    def add_rows(self, names: list[int]) -> None:
        """Add as many rows to a pool."""
        self.pool.add_rows(pd.DataFrame({"x": [float(name) for name in names]}))


def table(names: list[int]) -> pd.DataFrame:
    """Measurements whose values are these."""
    return pd.DataFrame({"x": 0.25, "y": [name % 97 / 97 for name in names], "value": [float(name) for name in names]})


def place(folder: Path, name: str, is_database: bool) -> str:
    """The journal of a study."""
    return f"sqlite:///{folder / name}.db" if is_database else str(folder / f"{name}.jsonl")


def slow_disk(piece: int) -> None:
    """Let files take few bytes at once, as the system may, and take their time."""

    def write(file: io.FileIO, data: Any) -> int:
        time.sleep(PIECE_S)
        return io.FileIO.write(file, bytes(data[:piece]))

    disk.Locked.write = write  # type: ignore[method-assign]


def run_until_kill(folder: Path, is_database: bool, first: int, rng: random.Random, piece: int) -> list[dict[str, Any]]:
    """Notes of a process before it was killed."""
    ours, its = os.pipe()
    seed, lives_s = rng.random(), rng.uniform(0.0, LONGEST_S)
    if not (pid := os.fork()):
        try:
            slow_disk(piece)
            Hand(folder, is_database, first, random.Random(seed), its).work()
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        os._exit(1)
    os.close(its)
    with open(ours, "rb", buffering=0) as pipe:
        output = pipe.read(1)  # empty where it has ended
        time.sleep(lives_s)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        while part := pipe.read(2**16):
            output += part
    if not os.WIFSIGNALED(status):
        raise RuntimeError("a process has ended by itself")
    return [json.loads(line) for line in output.decode().splitlines()]


class Books:
    """Books of what must be there: of each journal the names that were acknowledged; counts of findings."""

    def __init__(self, folder: Path, is_database: bool) -> None:
        self.folder, self.is_database = folder, is_database
        self.names: dict[str, set[float]] = {"study": set(), "pool": {-1.0, -2.0}, "asked": set()}
        self.count = 0  # of trials that were asked for
        rb.Optimizer(SPACE, journal=place(folder, "study", is_database), **SETTINGS)
        rb.Optimizer(rb.Pool(pd.DataFrame({"x": [-1.0, -2.0]})), journal=place(folder, "pool", is_database), **SETTINGS)

    def audit(self, notes: list[dict[str, Any]]) -> Counter[str]:
        """Compare what a process said with what is there now, which becomes what must be there."""
        counts = Counter[str](kills=1)
        for note in notes:
            if kind := note.get("acknowledged"):
                counts[kind] += 1
                self._expect(kind, note)
        last = notes[-1] if notes and "begun" in notes[-1] else None
        counts[f"killed in {last['begun'] if last else 'between'}"] += 1
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self._compare("study", self._values("study"), last, ("tell", "tell_frame"), counts)
            self._compare("pool", self._rows(), last, ("add_rows",), counts)
            for note in (note for note in notes if note.get("acknowledged") == "prior_data"):
                counts["lost"] += len(set(map(float, note["names"])) - self._values(note["of"]))
            if last and last["begun"] == "prior_data":
                values = self._values(last["of"])
                counts["parts"] += values not in (set(), set(map(float, last["names"])))
        counts["torn lines"] = sum("last line is torn" in str(w.message) for w in caught)
        counts["torn calls"] = sum("last call is torn" in str(w.message) for w in caught)
        return counts

    def _expect(self, kind: str, note: dict[str, Any]) -> None:
        if kind == "ask":
            self.count += len(note["names"])
        elif kind != "prior_data":
            self.names["pool" if kind == "add_rows" else "study"] |= set(map(float, note["names"]))

    def _compare(
        self, name: str, values: set[float], last: dict[str, Any] | None, kinds: tuple[str, ...], counts: Counter[str]
    ) -> None:
        must = self.names[name]
        counts["lost"] += len(must - values)
        more, call_names = values - must, set(map(float, last["names"])) if last and last["begun"] in kinds else set()
        counts["parts"] += more not in (set(), call_names)
        self.names[name] = values
        if name == "study":
            num_missing = self._asked - self.count
            whole_ask = len(last["names"]) if last and last["begun"] == "ask" else 0
            counts["lost"] += max(0, -num_missing)
            counts["parts"] += num_missing not in (0, whole_ask)
            self.count = self._asked

    def _values(self, name: str) -> set[float]:
        """The values in a study; none where it has not begun."""
        try:
            history = rb.Study.resume(place(self.folder, name, self.is_database)).history
        except JournalMissing:
            return set()
        if name == "study":
            self._asked = sum(trial.value is None for trial in history)
        return {trial.value for trial in history if trial.value is not None}

    def _rows(self) -> set[float]:
        space: Any = rb.Study.resume(place(self.folder, "pool", self.is_database)).settings.space
        return {row[0] for row in space.rows}


def warm(is_database: bool) -> None:
    """Call everything once, so that no process has to import anything."""
    with tempfile.TemporaryDirectory() as name, open(os.devnull, "wb") as nobody:
        Books(Path(name), is_database)
        hand = Hand(Path(name), is_database, 0, random.Random(0), nobody.fileno())
        for kind in KINDS:
            getattr(hand, kind)([1] if kind == "tell" else [1, 2])


def run(kills: int, seed: int, *, is_database: bool, piece: int) -> dict[str, Any]:
    """Kill so many processes, and count what was found."""
    start, rng, total, first = time.monotonic(), random.Random(seed), Counter[str](), 0
    warm(is_database)
    gc.freeze()
    while total["kills"] < kills:
        with tempfile.TemporaryDirectory(prefix="kills-") as name:
            books = Books(Path(name), is_database)
            for _ in range(min(KILLS_OF_A_STUDY, kills - total["kills"])):
                notes = run_until_kill(Path(name), is_database, first, rng, piece)
                first += 10**4
                total.update(books.audit(notes))
    counts = {kind: total[kind] for kind in ("kills", "lost", "parts", "torn lines", "torn calls", *KINDS)}
    within = {f"killed in {kind}": total[f"killed in {kind}"] for kind in KINDS}
    journal = "sqlite" if is_database else "file"
    return {"journal": journal, "seed": seed, **counts, **within, "seconds": round(time.monotonic() - start, 1)}


def main() -> None:
    """Kill, count, and print a line."""
    parser = parser_of(__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--database", action="store_true", help="SQLite in the place of files")
    parser.add_argument("--piece", type=int, default=64, help="how many bytes the disk takes at once")
    parser.add_argument("--out", type=Path, default=None, help="a folder, for a row in kills_of_calls.csv")
    options = parser.parse_args()
    row = run(options.kills, options.seed, is_database=options.database, piece=options.piece)
    print(", ".join(f"{key}: {value}" for key, value in row.items()))
    if options.out is not None:
        append_row(row, options.out / "kills_of_calls.csv")
    sys.exit(bool(row["lost"] or row["parts"]))


if __name__ == "__main__":
    main()
