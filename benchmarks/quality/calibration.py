"""Calibration of the probabilities that values are wrong: are the reports' weights true?

The default optimizes in the settings of some runs (what is done already is kept in --work), and says of each value
after 20, 24, 28, 32, 38, 44 and 52 trials how probable it is that it is wrong
(`robustbo.loop.observations.probability_wrong`), over all sets of outliers unless it is quarantined. Beside it
stands the share of the levels of the pursuit, by their posterior probabilities, that leave the value out. A wrong
value within 0.2 of the truth is nobody's loss, and not counted at all.

    python -m benchmarks.quality.calibration --replications 12 --work results/calibration --out runs/calibration
"""

import multiprocessing
from itertools import pairwise, product
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor

from benchmarks.common.parsers import parser_of
from benchmarks.common.paths import RUNS
from benchmarks.common.tables import log_loss, put
from robustbo.loop.belief.judge import judge
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fit import fit_to
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.replay.cells import optimization as cells
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.spec.reading import load
from robustbo.surrogates.common.model_averaging import ModelAveraging
from robustbo.trials.codec import fold
from robustbo.trials.history import History
from robustbo.trials.settings import DEFAULT_SURROGATE
from robustbo.trials.storage.reading import read

RATES, KINDS = (7, 12), ("uniform", "random-point", "constant")  # a tenth and a fifth of the values
SPECS = (*(f"figure-{rate}-{kind}" for kind, rate in product(KINDS, RATES)), "loop-clean")
AFTER = (20, 24, 28, 32, 38, 44, 52)  # trials
HARMLESS = 0.2  # distance of a wrong value from the truth; the values' range is 3.3
EDGES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)


def wrong_probabilities(place: Path, replication: int, work: Path) -> pd.DataFrame:
    """A row a value and report: whether it was wrong, and the two probabilities that it is."""
    torch.set_num_threads(1)
    spec_of_run = load(place)
    assert isinstance(spec_of_run, RunSpec)
    spec = spec_of_run.model_copy(update={"trials": max(AFTER)})
    cell = OptimizationCell.of(spec, DEFAULT_SURROGATE, replication, work / place.stem)
    cells.run(cell, lambda *_: None)
    truth = {entry["trial"]: entry for entry in cell.entries()}
    _, full_history = fold(cell.journal, read(cell.journal))
    rows = []
    for n in AFTER:
        history = History(full_history.trials[:n])
        data = observations(cell.settings, history)
        fitted = fit_to(cell.settings, data, FitCache())
        levels = dict(zip(fitted.observations.numbers, outlier_shares(fitted).tolist(), strict=True))
        for o in judge(data, fitted):
            entry, number = truth[o.trial.number], o.trial.number
            is_harmless = entry["corrupted"] and abs(entry["value"] - entry["clean"]) <= HARMLESS
            if not is_harmless:
                probabilities = levels.get(number, 1.0), o.probability_wrong
                rows.append((place.stem, replication, n, number, entry["corrupted"], *probabilities))
    return pd.DataFrame(rows, columns=["run", "replication", "after", "trial", "wrong", "levels", "sets"])


def outlier_shares(fitted: FittedSurrogate) -> Tensor:
    """The share of the plausible levels, by their probabilities, in which each value is an outlier."""
    assert isinstance(fitted.model, ModelAveraging)
    supports = [(m.weight, m.fit.support) for m in fitted.model.components]
    total = torch.zeros(len(fitted.X))
    for weight, support in supports:
        total[list(support)] += weight
    return total


def reliability(reports: pd.DataFrame) -> pd.DataFrame:
    """A row a range of probabilities: how many values were said to be in it, by the mean, and how many were wrong."""
    rows = []
    for by, (low, high) in product(("levels", "sets"), pairwise(EDGES)):
        p = reports[by]
        mine = reports[(p >= low) & ((p < high) | (high == 1.0))]
        shares = {"said": mine[by].mean(), "wrong": mine["wrong"].mean()}
        rows.append(
            {"by": by, "low": low, "high": high, "values": len(mine)} | {k: round(v, 3) for k, v in shares.items()}
        )
    return pd.DataFrame(rows)


def losses(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a run, and one of all: the share of wrong values, and the log losses."""
    return pd.DataFrame(
        {"run": name, "values": len(mine), "wrong": round(mine["wrong"].mean(), 3)}
        | {by: round(log_loss(mine[by], mine["wrong"]), 3) for by in ("levels", "sets")}
        for name, mine in [*rows.groupby("run", sort=False), ("all", rows)]
    )


def main() -> None:
    """Optimize, compare, print two tables and write them."""
    parser = parser_of(__doc__)
    parser.add_argument("--replications", type=int, default=12)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=Path, default=Path("results/calibration"))
    parser.add_argument("--out", type=Path, default=None, help="a folder")
    options = parser.parse_args()
    todo = [(RUNS / f"{name}.toml", r, options.work) for r in range(options.replications) for name in SPECS]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        rows = pd.concat(pool.starmap(wrong_probabilities, todo, chunksize=1), ignore_index=True)
    put({"reliability": reliability(rows), "log-loss": losses(rows)}, options.out)


if __name__ == "__main__":
    main()
