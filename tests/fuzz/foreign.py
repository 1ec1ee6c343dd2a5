"""Files of others, damaged in every way that their format has, and read by whoever reads them; a seed makes one file.

Each ends in an answer or in an error of one line that names the file, within seconds and a gibibyte.
"""

import contextlib
import gzip
import os
import re
import resource
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd

import robustbo as rb
from robustbo.cli.typed import description_of
from robustbo.errors import RobustBOError
from robustbo.replay.output.loaded import load
from robustbo.replay.spec import reading
from robustbo.report.summary import cache
from robustbo_problems import data_source, formats
from tests.fuzz import damage
from tests.trials import forged

LIMIT_S, HANG_S, MOST_BYTES = 5.0, 300.0, 2**30  # of the processor, of the clock, and of memory
A_ROW = re.compile(r"line \d+: |  \S")  # a line of a message below the first
SPACE = rb.Space(x=rb.Float(0, 1), n=rb.Int(1, 9), c=rb.Choice("a", "=b"))
TOML = b"""constraints = ["x + 2*k <= 4", "x*y >= 0.01"]
x = {kind = "float", low = 0.001, high = 1.0, log = true}
[y]
kind = "float"
low = -1e3
high = 1e3
when = {c = "a"}
[k]
kind = "int"
low = 0
high = 8
step = 2
[c]
kind = "choice"
values = ["a", 1, true]
[[outcome]]
name = "yield"
unit = "%"
low = 0
high = 100
"""
JSON = b"""{"x": {"kind": "float", "low": 0, "high": 1}, "n": {"kind": "int", "low": 1, "high": 64, "log": true},
"o": {"kind": "ordinal", "values": [1, 2.5, 7]}, "c": {"kind": "choice", "values": ["a", "b"]},
"constraints": ["x + n <= 50"], "outcome": {"name": "yield"}}"""


class Over(BaseException):
    """It took too long."""


def study(**options):
    """Trials that are quickly asked for."""
    return rb.Optimizer(SPACE, direction="minimize", acquisition="sobol", seed=1, **options)


# ---------------------------------------------------------------- what there is to read


def sources(folder):
    """Files as they are written: name -> bytes; those of a run and of a journal have their names in them."""
    files = {"space.toml": TOML, "space.json": JSON}
    for path in (folder / "one.jsonl", folder / "one.db"):
        opt = study(journal=path if path.suffix == ".jsonl" else f"sqlite:///{path}")
        for trial, value in zip(opt.ask(5), (1.0, 2.0, 1e6), strict=False):
            opt.tell(trial, value, sd=0.1)
        opt.fail(3, "no power")
        opt.exclude(1)
        opt.tell_frame(pd.DataFrame([{"x": 0.1 * i, "n": i, "c": "a", "value": float(i)} for i in range(1, 7)]))
        opt.enqueue([{"x": 0.5, "n": 2, "c": "=b"}, {"x": 0.75, "n": 3, "c": "=b"}])
        opt.requeue(opt.ask())
        files[path.name] = path.read_bytes()
    opt = rb.Optimizer(
        SPACE, objectives={"a": "minimize", "b": "maximize"}, outcome_constraints=["p >= 1"], acquisition="sobol",
        seed=1, journal=folder / "several.jsonl",
    )  # fmt: skip
    for trial in opt.ask(4):
        opt.tell(trial, {"a": trial.params["x"], "b": 1.0, "p": float(trial.number)})
    files["several.jsonl"] = (folder / "several.jsonl").read_bytes()
    table = pd.DataFrame({"x": [0.0, 0.5, 1.0, 1.5], "c": ["a", "b", "007", "b"], "b": [True, False, True, True]})
    opt = rb.Optimizer(rb.Pool(table), direction="minimize", acquisition="sobol", seed=1, journal=folder / "pool.jsonl")
    opt.tell(opt.ask(2)[0], 1.0)
    opt.add_rows(pd.DataFrame({"x": [2.0, 2.5], "c": ["a", "b"], "b": [True, False]}))
    files["pool.jsonl"], files["pool.csv"] = (folder / "pool.jsonl").read_bytes(), table.to_csv(index=False).encode()
    for name in ("sheet.csv", "sheet.xlsx"):
        study().write_sheet(folder / name, 4)
        files[name] = (folder / name).read_bytes()
    for run in forged.runs(folder):
        rows = (run / "results.csv").read_bytes()
        files[f"{run.name}/results.csv.gz"] = gzip.compress(rows, mtime=0)
        named = [run / "spec.toml", run / "results.csv", *sorted((run / "cells").glob("*.jsonl"))]
        files |= {path.relative_to(folder).as_posix(): path.read_bytes() for path in named}
    numbers = np.arange(12.0).reshape(4, 3)
    np.savez(folder / "data.npz", X=numbers[:, :2], y=numbers[:, 2])
    files["data.npz"] = (folder / "data.npz").read_bytes()
    files["data.txt"] = b"1 2 3.5\n4 5 6.25\n"
    files["data.csv.gz"] = gzip.compress(b"a,b,c\n1,2,3\n4,5,6\n")
    files["data.idx.gz"] = gzip.compress(b"\0\0\x08\x02\0\0\0\x02\0\0\0\x03abcdef")
    cache.put("overview", {"pending": [{"asked_by": None, "trial": 1}], "best": 1.5})
    files["overview.json"] = (cache.folder() / "overview.json").read_bytes()
    return files


CHANGES = {
    ".toml": [damage.as_toml] * 3 + [damage.bytes_of],
    ".json": [damage.as_json] * 3 + [damage.bytes_of],
    ".jsonl": [damage.journal] * 3 + [damage.bytes_of],
    ".csv": [damage.rows] * 3 + [damage.bytes_of],
    ".csv.gz": [damage.packed(damage.rows)] * 3 + [damage.packed(damage.bytes_of)],
    ".idx.gz": [damage.packed(damage.bytes_of)],
    ".xlsx": [damage.cells, damage.archive, damage.archive, damage.bytes_of],
    ".db": [damage.database] * 3 + [damage.bytes_of],
    ".npz": [damage.arrays] * 2 + [damage.bytes_of],
    ".txt": [damage.rows, damage.bytes_of],
}


# ---------------------------------------------------------------- who reads it


@contextlib.contextmanager
def deciding():
    """What has been opened may contradict itself: an error of ours need not name the file any more."""
    with contextlib.suppress(RobustBOError):
        yield


def read_journal(path, random):
    place = f"sqlite:///{path}" if path.suffix == ".db" else str(path)
    match random.choice(["look"] * 8 + ["go on"] * 6 + ["repair"] * 3 + ["verify"] * 2 + ["show"]):
        case "look":
            seen = rb.Study.resume(place)
            with deciding():
                seen.pending(), seen.frame(evidence=False), len(seen.history)
        case "go on":
            opt = rb.Optimizer.resume(place)
            with deciding():
                opt.tell(opt.ask(2)[0], 1.0 if not opt.settings.outcomes else dict.fromkeys("abp", 1.0))
        case "repair" if path.suffix != ".db":
            return forged.by_command("repair", path, "--out", path.with_name("repaired.jsonl"))
        case "verify":
            return forged.by_command("verify", place, codes=(1,))
        case _:
            return forged.by_command("show", place)
    return "works"


def read_space(path, random):
    with open(str(path), "rb") as file:
        is_pool = path.suffix == ".csv"
        space, outcomes, _ = description_of(None if is_pool else file, file if is_pool else None)
    with deciding():
        said = {"outcome": outcomes} if outcomes else {}
        rb.Optimizer(space, direction="minimize", acquisition="sobol", seed=0, **said).ask(2)


def read_sheet(path, random):
    opt = study()
    opt.ask(4)
    opt.read_sheet(path)
    if random.random() < 0.3:
        opt.write_sheet(path, 1)


def read_run(path, random):
    run = path.parents[1] if path.parent.name == "cells" else path.parent
    match random.choice(["load"] * 8 + ["verify", "report"]):
        case "load":
            reading.load(run, is_recorded=True)
            load(run)
        case "verify":
            return forged.by_command("verify", run, codes=(1,))
        case _:
            return forged.by_command("report", run, "--out", run / "page.html")
    return "works"


def read_data(path, random):
    read = {".idx.gz": formats.idx, ".csv.gz": formats.minutes}.get("".join(path.suffixes), formats.either)
    data_source._read_and_check(data_source.DataSource((path.name,), None, "", read), path)


def read_kept(path, random):
    shutil.copy(path, cache.folder() / path.name)
    made = cache.get("overview")
    assert made is None or made["best"] == 1.5, made


def reader_of(name):
    """Who reads a file of such a name."""
    if "/" in name:
        return read_run
    kinds = {"space": read_space, "pool.csv": read_space, "sheet": read_sheet, "data": read_data, "overview": read_kept}
    return next((reader for begin, reader in kinds.items() if name.startswith(begin)), read_journal)


# ---------------------------------------------------------------- what it must not do


@contextlib.contextmanager
def bounded():
    """An `Over` or a MemoryError where it takes too much."""

    def ring(*_):
        raise Over

    hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, HANG_S)
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, hard[1]))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, hard)
        signal.signal(signal.SIGALRM, before)


def outcome_of(path, read, random, folder):
    """What a reader makes of a file: "works", "refused" in a line that names it or its run, or what is wrong.

    Of several rows that are wrong there may be a line each, below the one that names the file.
    """
    begun = time.process_time()
    try:
        with bounded(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = read(path, random) or "works"
    except (RobustBOError, ValueError) as error:
        said = str(error)
        first, *others = said.splitlines() or [""]
        is_named = str(folder) in first and all(str(folder) in line or A_ROW.match(line) for line in others)
        outcome = "refused" if is_named else f"{type(error).__name__}: {said[:300]!r}\n{_last()}"
    except Over:
        outcome = f"hangs for {HANG_S} s"
    except Exception as error:
        outcome = f"{type(error).__name__}: {str(error)[:300]!r}\n{_last()}"
    if (time_s := time.process_time() - begun) > LIMIT_S and outcome in ("works", "refused"):
        outcome = f"takes {time_s:.1f} s"
    return outcome


def _last():
    """Where the last exception came from."""
    return "".join(traceback.format_exc().splitlines(keepends=True)[-7:])


def looked_at(seed, files, folder):
    """One file, changed, and read: its name, and what came of it."""
    random = Random(seed)
    name = random.choice([*files])
    folder, path = folder / "read", folder / "read" / name
    shutil.rmtree(folder, ignore_errors=True)
    path.parent.mkdir(parents=True)
    for beside in (other for other in files if "/" in name and other.split("/")[0] == name.split("/")[0]):
        if name.endswith(".gz") and (beside.endswith("results.csv") or "/cells/" in beside):
            continue
        if name.endswith("results.csv") and "/cells/" in beside:
            continue
        (folder / beside).parent.mkdir(parents=True, exist_ok=True)
        (folder / beside).write_bytes(files[beside])
    change = random.choice(next(changes for end, changes in CHANGES.items() if name.endswith(end)))
    try:
        data = change(files[name], random, path) if change is damage.database else change(files[name], random)
    except (ValueError, RecursionError):  # such a file cannot be written
        data = damage.bytes_of(files[name], random)
    path.write_bytes(data)
    return name, outcome_of(path, reader_of(name), random, folder)


@contextlib.contextmanager
def place():
    """A folder to work in, with a cache of its own, and files."""
    with tempfile.TemporaryDirectory(prefix="foreign-") as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = os.environ.get("XDG_CACHE_HOME")
        os.environ["XDG_CACHE_HOME"] = f"{name}/cache"
        try:
            (Path(name) / "made").mkdir()
            yield Path(name), sources(Path(name) / "made")
        finally:
            os.environ.pop("XDG_CACHE_HOME")
            os.environ |= {} if before is None else {"XDG_CACHE_HOME": before}
