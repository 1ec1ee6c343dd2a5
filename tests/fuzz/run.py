"""As many hostile histories as there is time for; each seed makes the same ones.

    python tests/fuzz/run.py --seeds 0 100 --histories 1000 --jobs 2 --out runs/hardening/histories.csv

A row of the file is one seed's: how many histories, trials and asks it made, by which surrogates, how many asks fell
back on another surrogate, and how many histories broke a promise. What breaks one is printed as the shortest history
that does. A seed that is in the file is not run again.
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import argparse
import csv
import logging
import multiprocessing
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from hypothesis import Phase, seed

from tests.fuzz import hostile, machine

COLUMNS = (
    *("seed", "histories", "broken", "trials", "told", "asked", "by_model", "fallbacks", "refused", "not_judged"),
    *("asked_again", "surrogates", "seconds"),
)


def run(number, histories, is_shrinking):
    """The histories of one seed; their record, and what broke."""
    logging.disable(logging.WARNING)
    machine.COUNTS.clear()
    phases = [Phase.generate, Phase.shrink] if is_shrinking else [Phase.generate]
    started, broken = time.perf_counter(), ""
    try:
        hostile_one = seed(number)(type("Hostile", (machine.Hostile,), {}))
        machine.run(hostile_one, histories, phases=phases, report_multiple_bugs=False, print_blob=False)
    except BaseException as error:  # a failed assertion, or an exception group of several
        broken = "".join(traceback.format_exception(error))
        if isinstance(error, KeyboardInterrupt):
            raise
    counts = machine.COUNTS
    row = {
        "seed": number,
        "histories": counts["histories"],
        "broken": int(bool(broken)),
        "trials": counts["trials"],
        "told": counts["told"],
        "asked": counts["asked"],
        "by_model": counts["asked: model"],
        "fallbacks": counts["fallback"],
        "refused": counts["refused"],
        "not_judged": counts["could not be judged"],
        "asked_again": counts["asked again"],
        "surrogates": " ".join(
            f"{name}:{counts[name]}" for name in sorted({"auto", *hostile.SURROGATES} & set(counts))
        ),
        "seconds": round(time.perf_counter() - started, 1),
    }
    return row, broken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 10), help="the first, and the one after the last")
    parser.add_argument("--histories", type=int, default=1000, help="a seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--no-shrink", action="store_true", help="print what breaks a promise as it was found")
    args = parser.parse_args()
    done = set()
    if args.out and args.out.exists():
        done = {int(row["seed"]) for row in csv.DictReader(args.out.open())}
    elif args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(",".join(COLUMNS) + "\n")
    seeds = [number for number in range(*args.seeds) if number not in done]
    context, number_broken = multiprocessing.get_context("spawn"), 0
    with context.Pool(args.jobs, maxtasksperchild=4) as pool:
        tasks = [pool.apply_async(run, (number, args.histories, not args.no_shrink)) for number in seeds]
        for task in tasks:
            row, broken = task.get()
            print(*(f"{key}={value}" for key, value in row.items()), flush=True)
            if broken:
                number_broken += 1
                print(broken, flush=True)
            if args.out:
                with args.out.open("a", newline="") as file:
                    csv.DictWriter(file, COLUMNS).writerow(row)
    return 1 if number_broken else 0


if __name__ == "__main__":
    sys.exit(main())
