"""Restricted spaces: how good what is recommended in the end is, beside the best peer.

A method of a run a row. Regret is what the true value at the recommended point lacks to the best there is, at least
what `LEAST` has for its problem; its logarithm is to base 10. A replication that recommends nothing counts as the worst
of the run, by any method. The best peer is the one of the smallest mean logarithm of regret, over all that is recorded
of it. Differences are paired, over the replications in common: below 0, less regret than the best peer's. The ratio is
that of the geometric means, 10 to the power of the difference.

    python -m benchmarks.quality.spaces --out runs/spaces
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common.parsers import parser_of
from benchmarks.common.paths import RUNS
from benchmarks.common.tables import put
from benchmarks.quality.failures import complete_replications, mean_and_error
from robustbo.replay.output.loaded import load
from robustbo.replay.spec.optimization import RunSpec
from robustbo.report.summary.tables import Rows

NAMES = ("two-circles", "mixture", "speed-reducer", "conditional", "pool")
LEAST = {"speed-reducer": 1e-3, "crossed-barrel": 0.1}  # regret that is none, in the problem's units
OTHERWISE = 1e-6
PEERS = ("optuna-gp", "optuna-tpe", "ax-default")


def final(rows: pd.DataFrame, spec: RunSpec) -> pd.DataFrame:
    """A replication a row, a method a column: log10 of the regret in the end, the run's worst where nothing is."""
    problem = spec.load_problem()
    assert problem.best is not None
    last = rows[rows["trial"] == spec.trials - 1].set_index(["replication", "method"])["inference"]
    lacks = (last - problem.best[1]) * (-1 if problem.direction == "maximize" else 1)
    logs = np.log10(lacks.clip(lower=LEAST.get(problem.name, OTHERWISE)))
    return logs.fillna(logs.max()).unstack("method")


def summary(name: str, rows: pd.DataFrame, spec: RunSpec) -> Rows:
    """A method a row: regret, and its difference from the best peer's."""
    ends = final(rows, spec)
    peers = [peer for peer in PEERS if peer in ends]
    first = min(peers, key=lambda peer: ends[peer].mean()) if peers else None
    summaries = []
    for method in [name_of_method for name_of_method in spec.methods if name_of_method in ends]:
        mine = rows[rows["method"] == method]
        row: dict[str, Any] = {"run": name, "method": method, "replications": int(ends[method].notna().sum())}
        row |= dict(zip(("log10_regret", "log10_regret_error"), mean_and_error(ends[method]), strict=True))
        row |= {"regret_median": float(10 ** ends[method].median())}
        difference, error = mean_and_error(ends[method] - ends[first]) if first else (None, None)
        row |= {"best_peer": first, "difference": difference, "difference_error": error}
        row |= {"ratio": None if difference is None else 10**difference}
        row |= {"drawn": int((mine["origin"] == "random").sum())}
        row |= {"ask_s": float((mine["fit_s"] + mine["acquisition_s"])[mine["trial"] >= spec.num_initial].median())}
        summaries.append({key: float(f"{v:.4g}") if isinstance(v, float) else v for key, v in row.items()})
    return summaries


def main() -> None:
    """Read, print and write the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=Path, default=RUNS, help="the specs, and beside each its folder of cells")
    parser.add_argument("--out", type=Path, default=None, help="a folder")
    options = parser.parse_args()
    lines: Rows = []
    for name in [f"{name}{how}" for name in NAMES for how in ("", "-wrong")]:
        if (options.runs / f"spaces-{name}").is_dir():
            run = load(options.runs / f"spaces-{name}.toml")
            assert isinstance(run.spec, RunSpec)
            lines += summary(name, complete_replications(run.tables.rows, run.spec.trials), run.spec)
    put({"summary": lines}, options.out)


if __name__ == "__main__":
    main()
