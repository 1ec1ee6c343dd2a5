"""Gains of the learned warp of outcomes, on values of which none is wrong: errors, densities, flags and time.

The functions, sizes and seeds of benchmarks/quality/selection.py, without corruption. Scored as there: the root mean
squared error of the posterior mean and the mean negative log density of noise-free values (NLPD), in units of the
function's standard deviation; how many values are flagged, though none is wrong; and the time of a fit by that of the
same method with the inverse hyperbolic sine, which took its place before, fitted one after the other.

    python -m benchmarks.quality.warp --seeds 10 --out runs/warp/results.csv
"""

import time
from itertools import product
from pathlib import Path

import pandas as pd

from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import put_in
from benchmarks.quality.selection import FUNCTIONS, SIZES, Cell, data, predictive, start
from robustbo.report.summary.tables import records
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo.surrogates.registry import SURROGATES

METHODS = tuple(product(("standard", "relevance-pursuit"), ("none", "asinh", "learned")))


def rows_of(cell: Cell) -> list[dict[str, object]]:
    """A row a method and warp."""
    dataset, rows = data(cell), []
    for surrogate, warp in METHODS:
        started = time.process_time()
        model = fit(SURROGATES[surrogate](dataset.X, dataset.Y, warp=warp))
        seconds = time.process_time() - started
        rmse, nlpd = predictive(model, dataset)
        flagged = int(diagnose(model).is_outlier.sum())
        numbers = {"rmse": rmse, "nlpd": nlpd, "flagged": flagged, "seconds": seconds}
        rows.append(
            {"function": cell.function, "n": cell.n, "seed": cell.seed, "method": surrogate, "warp": warp} | numbers
        )
    return rows


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a function, size, method and warp: means over the seeds, and the ratio of the times to that of asinh."""
    keys = ["function", "n", "method", "warp"]
    means = rows.groupby(keys, sort=False)[["rmse", "nlpd", "flagged", "seconds"]].mean().reset_index()
    before = means[means["warp"] == "asinh"].set_index(keys[:3])["seconds"]
    means["time ratio"] = means["seconds"] / means.set_index(keys[:3]).index.map(before)
    return means.drop(columns="seconds").round(3)


def main() -> None:
    """Fit, print the table, and write it."""
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    start()
    cells = [Cell(f, n, "none", 0.0, seed) for f in FUNCTIONS for n in SIZES for seed in range(options.seeds)]
    ratios = table(pd.DataFrame([row for cell in cells for row in rows_of(cell)]))
    put_in(records(ratios), options.out)
    print(ratios.groupby(["method", "warp"], sort=False)["time ratio"].mean().round(2).to_string())


if __name__ == "__main__":
    main()
