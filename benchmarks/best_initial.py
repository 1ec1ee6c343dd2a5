"""How often the best of the initial values is wrong, whether it is flagged, and whether a failure shows.

For runs of one problem: many designs of Sobol points, their values corrupted as in the run, and relevance pursuit's
report of them. A failure shows where a value lies below the whisker of a box plot (on the bad side).

    python benchmarks/best_initial.py runs/figure-{12,7}-{uniform,random-point}.toml runs/loop-clean.toml
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from calibrated import put_in

import robustbo as rb
from robustbo import seeds
from robustbo.numerics.baselines.box_plot import whiskers
from robustbo.replay.spec import reading as specs
from robustbo.replay.spec.optimization import RunSpec


def design(spec: RunSpec, number: int) -> dict[str, float]:
    """One design: whether its best value is wrong, flagged, and with how much evidence; whether a failure shows."""
    root = seeds.derive(spec.seed, number, "best initial")
    problem, corruption = spec.load_problem(), spec.build_corruption()
    opt = rb.Optimizer(problem.space, direction=problem.direction, seed=root, num_initial=spec.num_initial)
    wrong = {}
    for i in range(spec.num_initial):
        trial = opt.ask()
        value = problem(trial.params)
        measured, wrong[i] = spec.measure(corruption, trial.params, value, root=root, number=i)
        opt.tell(trial, measured)
    report, sign = opt.outliers(), opt.settings.sign
    best = max(report, key=lambda o: sign * o.value)
    y = sign * torch.tensor([[o.value] for o in report], dtype=torch.float64)
    shows = bool((y < whiskers(y)[0]).any())
    return {"wrong": wrong[best.trial.number], "flagged": best.flagged, "evidence": best.evidence, "shows": shows}


def row(path: Path, designs: int) -> dict[str, Any]:
    """Shares over the designs of a run."""
    spec = specs.load(path)
    if not isinstance(spec, RunSpec):
        raise SystemExit(f"{path}: expected an optimization run, got a {type(spec).__name__}")
    found = [design(spec, number) for number in range(designs)]
    made: dict[str, Any] = {"run": path.stem, "designs": designs}
    made |= {key: round(float(np.mean([d[key] for d in found])), 2) for key in ("wrong", "flagged", "shows")}
    for key, is_wrong in (("evidence_wrong", True), ("evidence_right", False)):
        mine = [d["evidence"] for d in found if d["wrong"] == is_wrong]
        made[key] = round(float(np.median(mine)), 2) if mine else None
    return made


def main() -> None:
    """Count, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--designs", type=int, default=150)
    parser.add_argument("--out", type=Path, default=None, help="a CSV file")
    options = parser.parse_args()
    torch.set_num_threads(1)
    put_in([row(path, options.designs) for path in options.runs], options.out)


if __name__ == "__main__":
    main()
