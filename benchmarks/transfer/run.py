"""Learning from another source: is it better than the target alone, and no worse where the source is of no use?

A target has 6 or 20 values, a source 80, both with noise of 5 % of the objective's spread. The source is identical, or
has an offset, a negative scale, a smooth bias, or nothing to do with the target; in two cases a tenth of all values is
wrong. The root mean squared error of the objective is in its standard deviations over the space; log density is that of
a measurement, with the noise that the method expects. Real tables have two targets each, either of which is the source
by turns.

Cells that --work has are not run again. Seeds come first, so that it may be stopped at any time.

    python -m benchmarks.transfer.run --work W/transfer.csv \
        --page docs/evidence/transfer.md runs/transfer/tables.md
"""

import math
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common.commands import parser_of_seeds, record_seeds
from benchmarks.transfer.data import CASES, JUDGES, SIZES, TABLES, Case, case_of
from benchmarks.transfer.methods import METHODS

KEY = ("problem", "case", "n", "seed")
ALONE = "target alone"
REAL = "real"  # the case of real tables


def cells_of(problems: Sequence[str], seeds: range) -> Iterator[tuple[Any, ...]]:
    """The cells of the plan."""
    for seed in seeds:
        for problem in problems:
            cases = (REAL,) if problem in TABLES else CASES
            for n in SIZES:
                for case in cases:
                    yield problem, case, n, seed


def run_cell(methods: Sequence[str], problem: str, case: str, n: int, seed: int) -> dict[str, Any]:
    """The errors of some methods on the same values."""
    values, row = case_of(problem, case, n, seed), dict(zip(KEY, (problem, case, n, seed), strict=True))
    for name, method in ((name, METHODS[name]) for name in methods):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            prediction = method(values)
        row[f"{name}: rmse"] = float(np.sqrt(np.mean((prediction.mean - values.test_y) ** 2)))
        row[f"{name}: log density"] = float(np.mean(prediction.log_density))
        row[f"{name}: seconds"] = prediction.seconds
        if prediction.relation:
            row |= {f"{name}: relation": prediction.relation, f"{name}: unrelated": prediction.probability}
        if prediction.wrong is not None:
            row |= {f"{name}: {key}": value for key, value in _flags(values, prediction.wrong).items()}
    return row


def _flags(values: Case, wrong: np.ndarray) -> dict[str, int]:
    """Numbers of wrong values, of those that are named, and of right ones that are."""
    is_wrong = np.concatenate([values.target.is_wrong, values.source.is_wrong])
    flagged = wrong > 0.5
    return {
        "wrong": int(is_wrong.sum()),
        "hits": int((flagged & is_wrong).sum()),
        "false": int((flagged & ~is_wrong).sum()),
    }


def mean_and_error(x: pd.Series, digits: int = 3) -> str:
    """A mean and its standard error, which one value does not have; cells that lack a method do not count."""
    x = x.dropna()
    if len(x) < 2:
        return f"{x.mean():.{digits}f} (one)"
    return f"{x.mean():.{digits}f} ± {x.std(ddof=1) / math.sqrt(len(x)):.{digits}f}"


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean errors by case and size, and the paired differences from the target alone."""
    lines = []
    for (case, n), group in rows.groupby(["case", "n"], sort=False):
        line: dict[str, Any] = {"source, target values": f"{case}, {n}", "cells": len(group)}
        names = [name for name in METHODS if f"{name}: rmse" in group]
        line |= {name: f"{group[f'{name}: rmse'].mean():.3f}" for name in names}
        for other, heading in ((ALONE, "alone"), ("MultiTaskGP", "MultiTaskGP"), ("RGPE", "RGPE")):
            if other in names:
                line[f"averaged - {heading}"] = mean_and_error(group["averaged: rmse"] - group[f"{other}: rmse"])
        lines.append(line)
    return pd.DataFrame(lines)


def claim(rows: pd.DataFrame) -> pd.DataFrame:
    """Errors of the average beside those of the target alone: a source a row, and the difference by size, paired."""
    lines = []
    for case, group in rows.groupby("case", sort=False):
        line: dict[str, Any] = {"source": case, "cells": len(group)}
        for n, cells in group.groupby("n"):
            alone, averaged = cells[f"{ALONE}: rmse"], cells["averaged: rmse"]
            line[f"alone, {n} values"], line[f"with it, {n}"] = f"{alone.mean():.2f}", f"{averaged.mean():.2f}"
            line[f"difference, {n}"] = mean_and_error(averaged - alone, 2)
        lines.append(line)
    return pd.DataFrame(lines)


def densities(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean log densities by case and size, and how often single wrong values are named."""
    lines = []
    invented = rows[rows["case"] != REAL]  # a real value that is predicted has noise of its own
    for (case, n), group in invented.groupby(["case", "n"], sort=False):
        line: dict[str, Any] = {"source, target values": f"{case}, {n}"}
        names = [name for name in METHODS if f"{name}: log density" in group]
        line |= {name: f"{group[f'{name}: log density'].mean():.2f}" for name in names}
        line["unrelated"] = f"{group['averaged: unrelated'].mean():.2f}"
        hits, wrong, false = (int(group[f"averaged: {key}"].sum()) for key in ("hits", "wrong", "false"))
        line |= {"wrong named": f"{hits} of {wrong}", "right named": false}
        lines.append(line)
    return pd.DataFrame(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cells, and print or write their rows and summaries."""
    parser = parser_of_seeds(__doc__, 4)
    parser.add_argument("--problems", nargs="+", default=(*TABLES, *JUDGES))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=tuple(METHODS))
    o = parser.parse_args(arguments)
    record_seeds(o, KEY, cells_of(o.problems, o.seeds), partial(run_cell, o.methods), tables_of)


def tables_of(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables of the page, by their marks."""
    return {"claim": claim(rows), "errors": summary(rows), "densities": densities(rows)}


if __name__ == "__main__":
    main()
