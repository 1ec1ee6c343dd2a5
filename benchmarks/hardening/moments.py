r"""Ctrl-C at each moment of a call: has it happened or not, and does the next call work?

Python hears a signal where a function begins and after a call of one in C. Each such moment of an operation, in any
Python code that it runs, is interrupted once, in a study that is in memory, in a file or in a database; the error is
kept, as a notebook keeps it. Then the study must be as if the call had been made, or as if it had not; the next calls
must work at once, and whoever opens the journal must see the same. The process must be as before: torch's default type,
modes and threads, NumPy's treatment of overflows, the filters of warnings and the random numbers.

    python -m benchmarks.hardening.moments --most 1000 --out runs/hardening/interrupts.csv
"""

import os

from benchmarks.common.parsers import parser_of

os.environ["OMP_NUM_THREADS"] = "1"

import csv
import logging
import random
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import torch

import robustbo as rb

COLUMNS = (
    "operation",
    "journal",
    "moments",
    "interrupts",
    "raised",
    "happened",
    "refused",
    "different",
    "slow",
    "disturbed",
    "seconds",
)
SPACE = rb.Space(x=rb.Float(0.0, 1.0), c=rb.Choice("a", "b"))
PATIENCE_S = 5.0  # a next call that takes longer has waited for a lock
NEW_AFTER = 25  # interrupts in one study
LAST_ERROR: list[BaseException] = []  # as `sys.last_value` is


def interrupt_at(moment: int | None, act: Callable[[], object]) -> tuple[int, bool]:
    """Run with Ctrl-C at the so manieth moment at which Python may hear it, None for never.

    Returns:
        How many moments there were, and whether KeyboardInterrupt came out.
    """
    count, is_interrupted = 0, False

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        if event in ("call", "c_return") and frame.f_code is not interrupt_at.__code__:
            count += 1
            if count == moment:
                signal.raise_signal(signal.SIGINT)

    sys.setprofile(profile)
    try:
        act()
    except KeyboardInterrupt as error:
        LAST_ERROR[:] = [error]
        is_interrupted = True
    finally:
        sys.setprofile(None)
    return count, is_interrupted


def surroundings() -> tuple[object, ...]:
    """State of the process that a call might leave changed."""
    modes = torch.overrides._get_current_function_mode_stack()
    switches = (torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads())
    numbers = (torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist())  # type: ignore[index] # noqa: NPY002
    return modes, switches, np.geterr(), warnings.filters.copy(), numbers  # type: ignore[attr-defined]


def _begin(place: Any, acquisition: str) -> rb.Optimizer:
    opt = rb.Optimizer(SPACE, direction="minimize", seed=1, num_initial=3, acquisition=acquisition, journal=place)  # type: ignore[arg-type]
    for number in range(5):
        opt.tell(opt.ask(), float(number))
    opt.exclude(1)
    return _refill(opt)


def _refill(opt: rb.Optimizer) -> rb.Optimizer:
    """Refill with enough trials to end."""
    while opt.settings.acquisition == "sobol" and len(opt.pending()) < 3:
        opt.ask()
    return opt


def _table(value: float) -> pd.DataFrame:
    """Two repeats, which are no copies of what was told before where the value is new."""
    return pd.DataFrame([{**POINT, "value": value}] * 2)


POINT = {"x": 0.5, "c": "b"}
OPERATIONS: dict[str, tuple[str, Callable[[rb.Optimizer], object]]] = {
    "tell": ("sobol", lambda opt: opt.tell(opt.pending()[0], 1.0)),
    "tell elsewhere": ("sobol", lambda opt: opt.tell(POINT, 1.0)),
    "tell_frame": ("sobol", lambda opt: opt.tell_frame(_table(float(len(opt.history))))),
    "fail": ("sobol", lambda opt: opt.fail(opt.pending()[0])),
    "enqueue": ("sobol", lambda opt: opt.enqueue(POINT)),
    "requeue": ("sobol", lambda opt: opt.requeue(opt.pending()[0])),
    "amend": ("sobol", lambda opt: opt.amend(0, 1.0 + opt.history[0].measured)),
    "ask": ("sobol", lambda opt: opt.ask()),
    "ask for three": ("sobol", lambda opt: opt.ask(3)),
    "ask by a model": ("auto", lambda opt: opt.ask()),
    "best": ("auto", lambda opt: opt.best()),
}


def run(operation: str, journal: str, most: int, folder: Path) -> dict[str, object]:
    """Interrupt one operation at each of its moments, or at ``most`` evenly spread ones."""
    acquisition, act = OPERATIONS[operation]
    count = 0

    def new() -> tuple[Any, rb.Optimizer]:
        nonlocal count
        count += 1
        place = folder / f"{operation} {count}.jsonl"
        named = {"memory": None, "file": place, "sqlite": f"sqlite:///{folder}/{count}.db#{operation}"}[journal]
        return named, _begin(named, acquisition)

    for _ in range(2):  # the first call does what is done once
        _, opt = new()
        moments, _ = interrupt_at(None, lambda opt=opt: act(opt))  # type: ignore[misc]
    place, opt = new()
    counts = dict.fromkeys(("interrupts", "raised", "happened", "refused", "different", "slow", "disturbed"), 0)
    started = time.perf_counter()
    step = max(1, moments // most)
    for moment in range(1, moments + 1, step):
        if moment // step % NEW_AFTER == 0:
            place, opt = new()
        before, around = opt.history, surroundings()
        moments_met, is_raised = interrupt_at(moment, lambda opt=opt: act(opt))  # type: ignore[misc]
        counts["interrupts"] += moments_met >= moment  # the same call has a moment more or less at times
        counts["raised"] += is_raised
        counts["disturbed"] += surroundings() != around
        clock = time.perf_counter()
        try:
            after = opt.history
            counts["happened"] += after != before
            if operation != "best" and not is_raised and after == before:
                counts["different"] += 1  # it returned, and nothing has happened
            act(opt)
            opt.tell(opt.ask() if opt.settings.acquisition == "sobol" else POINT, 2.0)
            _refill(opt)
        except Exception as error:  # any is one too many
            print(f"{operation}, {journal}, moment {moment}: {error!r}", flush=True)
            counts["refused"] += 1
            place, opt = new()
            continue
        counts["slow"] += time.perf_counter() - clock > PATIENCE_S
        if place is not None and rb.Study.resume(place).history != opt.history:
            counts["different"] += 1
            place, opt = new()
    return {
        "operation": operation,
        "journal": journal,
        "moments": moments,
        **counts,
        "seconds": round(time.perf_counter() - started, 1),
    }


def main() -> None:
    """Interrupt every operation in every kind of journal."""
    parser = parser_of(__doc__)
    parser.add_argument("--most", type=int, default=1000, help="interrupts of an operation")
    parser.add_argument("--operations", nargs="*", default=[*OPERATIONS], choices=[*OPERATIONS])
    parser.add_argument("--journals", nargs="*", default=["memory", "file", "sqlite"])
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    logging.getLogger("robustbo").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    torch.set_default_dtype(torch.float64)  # not the one that it computes with
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background has turned off
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with args.out.open("w", newline="") as file, tempfile.TemporaryDirectory() as folder:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for journal in args.journals:
            for operation in args.operations:
                (place := Path(folder) / journal / operation.replace(" ", "-")).mkdir(parents=True)
                row = run(operation, journal, args.most, place)
                print(row, flush=True)
                writer.writerow(row)
                file.flush()


if __name__ == "__main__":
    main()
