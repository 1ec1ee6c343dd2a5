"""Calibration of the probabilities that trials give a value: is P(value) true?

In the runs `failures-*` each ask of the default, once a trial has failed, is said to give a value with a probability,
by all that was known before it (`loop.feasibility.report.chances`, as `Optimizer.viability` says it). Beside it stands
what somebody would say who knows the share of values so far and nothing of points (with one of each added).

    python -m benchmarks.common.replays record --work W --runs failures-memory failures-disc ...
    python -m benchmarks.quality.failures_calibration --runs W --out runs/failures
"""

from itertools import pairwise
from pathlib import Path

import pandas as pd

from benchmarks.common.parsers import parser_of
from benchmarks.common.paths import RUNS
from benchmarks.common.tables import log_loss, put
from robustbo.loop.feasibility.report import chances
from robustbo.loop.surrogate.cache import FitCache
from robustbo.replay.spec.reading import load
from robustbo.trials.codec import fold
from robustbo.trials.history import History
from robustbo.trials.storage.reading import read

NAMES = ("memory", "disc", "half-space", "slab", "checkerboard", "flakes", "flakes-region")
METHOD = "relevance-pursuit"
EDGES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)


def value_probabilities(journal: Path, run: str) -> pd.DataFrame:
    """A row an ask after the first failure: what was said of it, and whether it gave a value."""
    settings, history = fold(journal, read(journal))
    fits, rows = FitCache(), []
    for trial in history:
        before = History(history.trials[: trial.number])
        if before.having("failed") and trial.state in ("told", "failed"):
            (p,) = chances(settings, before, [settings.space.to_unit(trial.params)], fits)
            share = (len(before.having("told")) + 1) / (len(before) + 2)
            rows.append((run, journal.stem, trial.number, p, share, trial.state == "told"))
    return pd.DataFrame(rows, columns=["run", "cell", "trial", "said", "share", "value"])


def reliability(reports: pd.DataFrame) -> pd.DataFrame:
    """A row a range of probabilities: how many asks were in it, what was said by the mean, and how many gave values."""
    rows = []
    for low, high in pairwise(EDGES):
        mine = reports[(reports["said"] >= low) & ((reports["said"] < high) | (high == 1.0))]
        shares = {"said": round(mine["said"].mean(), 3), "values": round(mine["value"].mean(), 3)}
        rows.append({"low": low, "high": high, "asks": len(mine), **shares})
    return pd.DataFrame(rows)


def losses(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a run, and one of all: the share of values, and the log losses of what was said and of the share so far."""
    return pd.DataFrame(
        {"run": name, "asks": len(mine), "values": round(mine["value"].mean(), 3)}
        | {by: round(log_loss(mine[by], mine["value"]), 3) for by in ("said", "share")}
        for name, mine in [*rows.groupby("run", sort=False), ("all", rows)]
    )


def main() -> None:
    """Compute what was said, print two tables and write them."""
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=Path, default=RUNS, help="folder of the runs, with their cells")
    parser.add_argument("--out", type=Path, default=None, help="a folder")
    options = parser.parse_args()
    journals = [
        (options.runs / f"failures-{name}" / "cells" / f"{METHOD}-{i}.jsonl", name)
        for name in NAMES
        for i in range(load(RUNS / f"failures-{name}.toml").replications)
    ]
    if not (journals := [(path, name) for path, name in journals if path.exists()]):
        usual = f"failures-memory/cells/{METHOD}-0.jsonl"
        parser.error(f"--runs must have journals such as {usual}, none is in {options.runs}")
    rows = pd.concat([value_probabilities(*journal) for journal in journals], ignore_index=True)
    put({"calibration": reliability(rows), "log-loss": losses(rows)}, options.out)


if __name__ == "__main__":
    main()
