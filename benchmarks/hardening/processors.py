"""Records that hold elsewhere: recorded asks computed again as other processors would, and what share agrees.

What a processor has decides which code its libraries take: NumPy and SciPy's linear algebra (OpenBLAS), torch's (MKL),
both libraries' functions, and those of C. Switches of theirs make them take that of other processors; each here is
verified in a process of its own, and the row says which libraries it has changed, by the bits of what they compute.
Verified are the cells of a run that was recorded before, and journals that are recorded first.

    python -m benchmarks.hardening.processors --run runs/quickstart --out runs/processors
"""

import os

from benchmarks.common.parsers import parser_of

os.environ["OMP_NUM_THREADS"] = "1"

import csv
import hashlib
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
import torch

from robustbo.errors import JournalError
from robustbo.optimizer import Optimizer
from robustbo.replay import kinds
from robustbo.replay.check.asks import verify_journal
from robustbo.replay.check.comparison import Agreement
from robustbo.replay.verify import verify
from robustbo.tasks.problem import load

OLD_C = "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4"  # the C library's functions without fused multiplication
NO_512, NO_256 = "X86_V4 AVX512_ICL", "X86_V3 X86_V4 AVX512_ICL"  # NumPy's names
# As a whole, then library by library (with journals alone): which of them it is that moves the asks.
PROCESSORS: dict[str, dict[str, str]] = {
    "this one": {},
    "AVX2 (Haswell, Zen)": {
        "OPENBLAS_CORETYPE": "Haswell",
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_CBWR": "AVX2",
        "NPY_DISABLE_CPU_FEATURES": NO_512,
    },
    "AVX (Sandy Bridge)": {
        "OPENBLAS_CORETYPE": "Sandybridge",
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "AVX",
        "NPY_DISABLE_CPU_FEATURES": NO_256,
        "GLIBC_TUNABLES": OLD_C,
    },
    "SSE4.2 (Nehalem)": {
        "OPENBLAS_CORETYPE": "Nehalem",
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "COMPATIBLE",
        "NPY_DISABLE_CPU_FEATURES": NO_256,
        "GLIBC_TUNABLES": OLD_C,
    },
    "OpenBLAS alone": {"OPENBLAS_CORETYPE": "Haswell"},
    "MKL alone": {"MKL_CBWR": "COMPATIBLE"},
    "torch alone": {"ATEN_CPU_CAPABILITY": "default"},
    "NumPy alone": {"NPY_DISABLE_CPU_FEATURES": NO_256},
    "the C library alone": {"GLIBC_TUNABLES": OLD_C},
}
STUDIES = [
    (problem, surrogate) for problem in ("hartmann6", "branin") for surrogate in ("relevance-pursuit", "student-t")
]
ALONE = "alone"
WRONG = 0.1  # share of the values
FIELDS = ("asks", "bits", "rounding", "as good", "different")
COLUMNS = ("processor", "changed", "records", *FIELDS, "agree", "largest")


def fingerprints() -> dict[str, str]:
    """Digests, by library, of the bits of what it computes from the same numbers."""
    x = np.random.default_rng(0).random(1001) * 5 - 2.5
    A, t = x[:961].reshape(31, 31), torch.from_numpy(x)
    K = np.round(np.exp(-np.abs(np.subtract.outer(x[:31], x[:31]))), 9) + 1e-3 * np.eye(31)
    T = torch.from_numpy(K)
    by_library: dict[str, Sequence[Any]] = {
        "OpenBLAS": (A @ A, np.linalg.cholesky(K), scipy.linalg.solve(K, A)),
        "MKL": (torch.from_numpy(A) @ T, torch.linalg.cholesky(T), torch.linalg.solve(T, t[:31])),
        "torch": (t.exp(), t.abs().log(), t.sin(), t.erf(), t.abs().lgamma(), t.tanh(), t.sum()),
        "NumPy": (np.exp(x), np.log(np.abs(x)), np.tanh(x), x.sum()),
        "C": [[f(v) for v in x] for f in (math.exp, math.sin, math.erf, lambda v: math.pow(abs(v), 1.3))],
    }
    digest = {name: hashlib.sha256() for name in by_library}
    for name, arrays in by_library.items():
        for array in arrays:
            digest[name].update(np.ascontiguousarray(array).tobytes())
    return {name: array.hexdigest() for name, array in digest.items()}


def record(problem: str, surrogate: str, path: Path, trials: int) -> None:
    """A journal of a study of which one value in ten is wrong."""
    problem_of, draws = load(problem), np.random.default_rng(7)
    opt = Optimizer(problem_of.space, direction=problem_of.direction, surrogate=surrogate, seed=11, journal=path)  # type: ignore[arg-type]
    sign = 1 if problem_of.direction == "maximize" else -1
    for _ in range(trials):
        trial, is_wrong = opt.ask(), draws.random() < WRONG
        opt.tell(trial, sign * draws.uniform(-3, 3) if is_wrong else problem_of.truth(trial.params))


def places(folders: Sequence[Path]) -> Iterator[tuple[str, Callable[[], Agreement]]]:
    """Places to verify, by the name of the kind of record: cells of runs, and journals in folders of them."""
    for folder in folders:
        if (folder / "cells").is_dir():
            for cell in kinds.read_cells(folder):
                yield f"{folder.name}: {cell.method}", partial(verify, cell, to_the_end=True)
        elif journals := sorted(folder.glob("*.jsonl")):
            for journal in journals:
                yield f"journals: {journal.stem}", partial(verify_journal, journal, to_the_end=True)
        else:
            raise JournalError(f"{folder}: must be a recorded run, or hold journals (*.jsonl), has neither")


def verify_records(folders: Sequence[Path]) -> dict[str, Any]:
    """Findings of a process of its own: the fingerprints, and by kind of record how many asks agree."""
    rows: dict[str, dict[str, Any]] = {}
    shares: dict[str, float] = {}
    for name, check in places(folders):
        agreement = check()
        row = rows.setdefault(name, dict.fromkeys(FIELDS, 0) | {"largest": ""})
        counts = agreement.count, agreement.bits, agreement.rounding, agreement.as_good, agreement.different
        for field, count in zip(FIELDS, counts, strict=True):
            row[field] += count
        if agreement.share > shares.get(name, 0.0):
            shares[name], row["largest"] = agreement.share, agreement.largest
    return {"fingerprints": fingerprints(), "rows": rows}


def on(switches: Mapping[str, str], folders: Sequence[Path]) -> dict[str, Any]:
    """Findings as another processor computes them."""
    command = [sys.executable, "-m", __spec__.name, "--found", *map(str, folders)]
    process = subprocess.run(command, env={**os.environ, **switches}, check=True, stdout=subprocess.PIPE, text=True)
    results: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return results


def compare_processors(
    processors: Sequence[str], runs: Sequence[Path], journals: Sequence[Path]
) -> Iterator[dict[str, Any]]:
    """A row a processor and kind of record, and one for all records of a processor."""
    own = fingerprints()
    for name in processors:
        results = on(PROCESSORS[name], [*(() if name.endswith(ALONE) else runs), *journals])
        changed = " ".join(library for library, bits in results["fingerprints"].items() if bits != own[library])
        rows: dict[str, dict[str, Any]] = results["rows"]
        totals = {field: sum(row[field] for row in rows.values()) for field in FIELDS} | {"largest": ""}
        for records, row in {**rows, "all": totals}.items():
            agree = f"{1 - row['different'] / row['asks']:.4f}" if row["asks"] else ""
            yield {"processor": name, "changed": changed, "records": records, **row, "agree": agree}


def main() -> None:
    """Record what is to be recorded, verify all as each processor would, and write and print the rows."""
    parser = parser_of(__doc__)
    parser.add_argument("--run", type=Path, nargs="*", default=[], help="Folders of recorded runs.")
    parser.add_argument("--trials", type=int, default=30, help="Of the journals that are recorded first; 0 for none.")
    parser.add_argument("--processors", nargs="*", default=[*PROCESSORS], choices=[*PROCESSORS])
    parser.add_argument("--out", type=Path, help="Folder of results.csv.")
    parser.add_argument("--found", type=Path, nargs="*", help="Print what this processor finds in these folders.")
    args = parser.parse_args()
    if args.found is not None:
        print(json.dumps(verify_records(args.found)))
        return
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for problem, surrogate in STUDIES if args.trials else ():
            record(problem, surrogate, Path(scratch) / f"{problem}, {surrogate}.jsonl", args.trials)
        for row in compare_processors(args.processors, args.run, [Path(scratch)] if args.trials else []):
            rows.append(row)
            print(*(row[column] for column in COLUMNS), sep=" | ", flush=True)
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        with (args.out / "results.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
