"""Learning curves as levels: do few trees of a boosted model say what many would?

A gradient boosting of scikit-learn on a real table has four parameters; what is minimized is the logarithm of its error
on held-out rows after 200 trees. Values after 10 and 40 trees, of other points, are told as sources: as levels whose
errors shrink, as two sources of their own, or not at all. Compared is the error of the prediction at points that were
not told, in standard deviations of the values there.

Cells that --work has are not run again.

    python -m benchmarks.transfer.levels --data ../shared/data --work W/levels.csv --out W
"""

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor

import robustbo as rb
from benchmarks.common.commands import parser_of_seeds, record_seeds
from benchmarks.transfer.run import mean_and_error

KEY = ("table", "seed")
TABLES = ("uci_concrete", "uci_yacht")
LEVELS = (10, 40, 200)  # trees; the target's last
NUM_TOLD, NUM_TEST = (40, 20, 10), 60  # at each level; points that are predicted
SPACE = rb.Space(rate=rb.Float(0.01, 0.5, log=True), depth=rb.Int(1, 6), share=rb.Float(0.3, 1.0), leaf=rb.Int(1, 20))


def log_errors(X: np.ndarray, y: np.ndarray, point: dict[str, Any]) -> list[float]:
    """Logarithms of the held-out root mean squared error at each level."""
    half = len(y) // 2
    model = GradientBoostingRegressor(
        n_estimators=LEVELS[-1],
        learning_rate=point["rate"],
        max_depth=point["depth"],
        subsample=point["share"],
        min_samples_leaf=point["leaf"],
        random_state=0,
    ).fit(X[:half], y[:half])
    stages = list(model.staged_predict(X[half:]))
    return [float(np.log(np.sqrt(np.mean((stages[level - 1] - y[half:]) ** 2)))) for level in LEVELS]


def run_cell(folder: Path, table: str, seed: int) -> dict[str, Any]:
    """The errors of all predictions from the same values."""
    data, generator = np.load(folder / f"{table}.npz"), np.random.default_rng(seed)
    rows = generator.permutation(len(data["y"]))
    X, y = data["X"][rows], data["y"][rows].ravel()
    points = [SPACE.from_unit(row) for row in generator.random((sum(NUM_TOLD) + NUM_TEST, 4)).tolist()]
    curves = [log_errors(X, y, point) for point in points]
    levels = rb.fidelity_levels("trees", LEVELS)
    apart = {name: rb.Source(target=source.target, cost=source.cost) for name, source in levels.items()}
    row: dict[str, Any] = {"table": table, "seed": seed}
    truth = np.array([curve[-1] for curve in curves[-NUM_TEST:]])
    for name, sources in (("target alone", {}), ("sources", apart), ("levels", levels)):
        study = rb.Optimizer(SPACE, direction="minimize", sources=sources, seed=seed)
        at = 0
        for place, (source, count) in enumerate(zip(levels, NUM_TOLD, strict=True)):
            for point, curve in zip(points[at : at + count], curves[at : at + count], strict=True):
                if sources or place == len(LEVELS) - 1:
                    study.tell(point, curve[place], source=source if sources else None)
            at += count
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mean = study.predict(points[-NUM_TEST:])["mean"].to_numpy()
        row[name] = float(np.sqrt(np.mean((mean - truth) ** 2)) / truth.std())
    return row


def cells_of(seeds: range) -> Iterator[tuple[Any, ...]]:
    """The cells of the plan."""
    return ((table, seed) for seed in seeds for table in TABLES)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean errors, and the paired differences of levels."""
    lines = []
    for table, group in rows.groupby("table", sort=False):
        line = {"table": table, "seeds": len(group)}
        line |= {name: f"{group[name].mean():.3f}" for name in ("target alone", "sources", "levels")}
        line["levels - alone"] = mean_and_error(group["levels"] - group["target alone"])
        line["levels - sources"] = mean_and_error(group["levels"] - group["sources"])
        lines.append(line)
    return pd.DataFrame(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cells, and print or write their rows and their summary."""
    parser = parser_of_seeds(__doc__, 10)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the tables")
    o = parser.parse_args(arguments)
    record_seeds(o, KEY, cells_of(o.seeds), partial(run_cell, o.data), lambda rows: {"levels": summary(rows)})


if __name__ == "__main__":
    main()
