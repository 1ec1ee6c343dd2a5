"""Optimizations in random spaces of all kinds: is each ask in the space and feasible, and the same when resumed?

A space has steps, orders, words, single values, conditions two deep, inequalities (linear and not), mixtures,
equations, whole numbers that add up, or listed rows; a tenth of the asks are batches, in half of them something is
fixed, some trials fail, and some values are told of points that nobody asked for. Each decision is computed again from
the journal at last.

    python -m benchmarks.hardening.spaces --asks 10000 --out runs/spaces.csv
"""

import os

from benchmarks.common.parsers import parser_of

os.environ["OMP_NUM_THREADS"] = "1"

import csv
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from tests.searchspace.driven import Driven, driven
from tests.searchspace.made import KINDS, made

DEFAULT_SHARE = 0.2  # of the spaces are searched with the default surrogate
COUNTS = tuple(name for name in asdict(Driven()) if name not in ("faults", "seconds"))
WRONG = ("infeasible", "out_of_the_space", "not_fixed", "doubled", "not_the_same", "fell_back", "errors")


def run_space(index: int, seed: int, asks: int, *, again: bool = True) -> dict[str, Any]:
    """A row on one space, by its number: what was asked for in it, and what was wrong."""
    rng = random.Random(f"{seed} {index}")
    kind = list(KINDS)[index % len(KINDS)]
    row: dict[str, Any] = {"space": index, "kind": kind, "surrogate": "standard", "spaces": 1, "errors": 0}
    result = Driven()
    with tempfile.TemporaryDirectory() as folder:
        try:
            space = made(rng, kind)
            row["surrogate"] = "auto" if rng.random() < DEFAULT_SHARE else "standard"
            options = {"surrogate": row["surrogate"], "num_initial": rng.randint(2, 5)}
            result = driven(space, Path(folder) / "run.jsonl", asks, seed=seed + index, again=again, **options)
        except Exception as error:
            row["errors"] = 1
            last = "".join(traceback.format_exception(error, limit=-3))
            result.faults.append(f"{type(error).__name__}: {error}\n{last}")
        for fault in result.faults:
            print(f"space {index} ({kind}, {row['surrogate']}): {fault}", file=sys.stderr, flush=True)
    return row | {name: getattr(result, name) for name in COUNTS} | {"seconds": result.seconds}


def table(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row a kind of space and surrogate, and one of all."""
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        for key in ((row["kind"], row["surrogate"]), ("all", "all")):
            total = groups.setdefault(key, {"kind": key[0], "surrogate": key[1]})
            for name in ("spaces", *COUNTS, "errors", "seconds"):
                total[name] = total.get(name, 0) + row[name]
    made_rows = [groups[key] for key in sorted(groups, key=lambda key: (key[0] == "all", key))]
    for row in made_rows:
        row["ms_per_ask"] = round(1e3 * row.pop("seconds") / max(row["asks"], 1), 1)
    return made_rows


def main() -> None:
    """Run, print counts and write them."""
    torch.set_num_threads(1)
    parser = parser_of(__doc__)
    parser.add_argument("--asks", type=int, default=10_000, help="in all spaces together")
    parser.add_argument("--each", type=int, default=20, help="in one space")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, default=None, help="the number of the one space to run")
    parser.add_argument("--out", type=Path, default=None, help="a CSV file")
    options = parser.parse_args()
    rows, number_asked, started = [], 0, time.perf_counter()
    indices = [options.only] if options.only is not None else range(options.asks)
    for index in indices:
        rows.append(run_space(index, options.seed, options.each))
        number_asked += rows[-1]["asks"]
        wrong = sum(row[name] for row in rows for name in WRONG)
        print(
            f"{number_asked} asks in {index + 1} spaces, {wrong} faults, {time.perf_counter() - started:.0f} s",
            flush=True,
        )
        if number_asked >= options.asks:
            break
    rows_by_kind = table(rows)
    for row in rows_by_kind:
        print("  ".join(f"{name}={value}" for name, value in row.items()))
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with options.out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows_by_kind[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows_by_kind)


if __name__ == "__main__":
    main()
