"""Cost of an ask with several outcomes: the default's beside BoTorch's qLogNEHVI on plain Gaussian processes.

Our own loop runs on exact values. In its last asks both decide on the same trials, in turn, in one process with one
thread: fits and maximization, seconds of the processor. BoTorch's is that of replay's method `botorch`, as its
tutorials have it.

    python -m benchmarks.speed.several --trials 60 --asks 5 --out runs/several/speed.csv
"""

import argparse
import statistics
import time
from pathlib import Path

import pandas as pd
import torch

import robustbo as rb
from benchmarks.common.paths import RUNS
from robustbo.replay.cells.botorch import BoTorch
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.spec.reading import load

PROBLEMS = ("branin-currin", "dtlz2-2", "c2-dtlz2", "vehicle-safety", "dtlz2-3")


def time_asks(name: str, trials: int, asks: int, seed: int) -> dict[str, object]:
    """A row of the table."""
    spec = load(RUNS / f"several-{name}.toml", [f"trials={trials}", f"seed={seed}"])
    assert isinstance(spec, RunSpec)
    ours, theirs = (OptimizationCell.of(spec, method, 0, Path()) for method in ("relevance-pursuit", "botorch"))
    other = BoTorch(theirs)
    s, problem = ours.settings, spec.load_problem()
    objectives, reference = dict(s.objectives), dict(s.reference_point)
    opt = rb.Optimizer(
        s.space,
        objectives=objectives,
        outcome_constraints=s.outcome_constraints,
        reference_point=reference,
        replicate="never",
        seed=s.seed,
    )
    spent: dict[str, list[float]] = {"ours": [], "botorch": []}
    for number in range(trials):
        started = time.process_time()
        trial = opt.ask()
        spent["ours"].append(time.process_time() - started)
        values = dict(problem.truth(trial.params))
        if number >= trials - asks:
            started = time.process_time()
            other.ask(number)
            spent["botorch"].append(time.process_time() - started)
            other._rows.pop(), other._told.pop()
        other._rows.append(list(s.space.to_unit(trial.params)))
        other._told.append(values)
        opt.tell(trial, values)
    mine, its = statistics.median(spent["ours"][-asks:]), statistics.median(spent["botorch"])
    kinds = {"objectives": len(objectives), "outcomes": len(s.outcomes), "d": len(s.space), "trials": trials}
    return {"problem": name, **kinds, "asks": asks, "ours_s": mine, "botorch_s": its, "ratio": mine / its}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--asks", type=int, default=5, help="of the last trials, timed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name in args.problems:
        rows.append(time_asks(name, args.trials, args.asks, args.seed))
        print(pd.DataFrame(rows[-1:]).round(3).to_string(index=False, header=len(rows) == 1), flush=True)
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).round(4).to_csv(args.out, index=False)


if __name__ == "__main__":
    main()
