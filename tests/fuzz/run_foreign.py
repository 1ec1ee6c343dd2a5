"""As many damaged files as there is time for, in one process; each seed makes the same one.

    python tests/fuzz/run_foreign.py --first 4700 --last 20000 --out runs/hardening/foreign.csv

A row of the file is a hundred seeds: how many files were read ("works"), how many refused in a line, how many neither,
and the seconds of the processor. Each that is neither is printed. Hundreds that are in the file are not run again.
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import argparse
import csv
import logging
import sys
import time
import types
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "problems")]
package = types.ModuleType("tests")  # ours, and not what others install under the name
package.__path__ = [str(ROOT / "tests")]
sys.modules["tests"] = package

from tests.fuzz import foreign

AT_ONCE = 100
COLUMNS = ("first", "works", "refused", "neither", "cpu_s")


def main():
    """Read them, and add a row for each hundred."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=20_000)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)
    done = set()
    if args.out.exists():
        with args.out.open() as file:
            done = {int(row["first"]) for row in csv.DictReader(file)}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with foreign.place() as (folder, sources), args.out.open("a", newline="") as file:
        if not done:
            csv.writer(file).writerow(COLUMNS)
        for first in range(args.first, args.last, AT_ONCE):
            if first not in done:
                csv.writer(file).writerow(row_of(first, sources, folder))
                file.flush()


def row_of(first, sources, folder):
    """The row of a hundred seeds; prints what is neither an answer nor a line."""
    begun, counts = time.process_time(), Counter()
    for seed in range(first, first + AT_ONCE):
        name, outcome = foreign.looked_at(seed, sources, folder)
        counts[outcome] += outcome in ("works", "refused")
        if outcome not in ("works", "refused"):
            counts["neither"] += 1
            print(f"{seed}, {name}: {outcome}", flush=True)
    return [first, *(counts[kind] for kind in COLUMNS[1:4]), round(time.process_time() - begun, 1)]


if __name__ == "__main__":
    main()
