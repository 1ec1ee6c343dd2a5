"""Scores of runs on bbob-noisy: the share of targets that are reached, and the recommended points.

Targets are the field's 51 precisions, 10^2 to 10^-8, five a decade, and precision is how far a value without noise lies
above the optimum's. As COCO has it, a target is reached at the first evaluation of a point that is as good, whether the
method knows it or not. A cell (one function, dimension, instance and method) scores the share of its targets that were
reached, up to a number of evaluations. Functions are fixed and instances drawn: errors are standard deviations over
resamples of instances, within each function and dimension, the same instances for all methods.
"""

import io
import re
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common.bootstrap import bootstrap

KINDS = ("gaussian", "uniform", "cauchy")
FIRST = 107
TARGETS = 10.0 ** (np.arange(10, -41, -1) / 5)
RECOMMENDED = (5, 10, 20)  # evaluations a dimension, after which a point is recommended
KEY = ["function", "dimension", "instance", "method"]
REFERENCE = "reference.csv"
LEAST = 1e-8  # precision: the last target
RESAMPLES = 1000
OURS = "default"


def evaluations_to_targets(precision: Sequence[float]) -> list[int]:
    """The evaluations at which the targets are reached, counted from 1, of as many targets as are."""
    best = np.minimum.accumulate(np.asarray(precision, dtype=float))
    return [int(np.argmax(best <= target)) + 1 for target in TARGETS if best[-1] <= target]


def row(function: int, dimension: int, instance: int, method: str, entry: dict[str, Any]) -> dict[str, Any]:
    """Row of a cell."""
    recommended = {f"recommended_{n}d": float(f"{entry['recommended_precision'][str(n)]:.5g}") for n in RECOMMENDED}
    times = " ".join(map(str, evaluations_to_targets(entry["precision"])))
    best = float(f"{min(entry['precision']):.5g}")
    return {**dict(zip(KEY, (function, dimension, instance, method), strict=True)), "reached": times} | (
        {"best": best} | recommended | {"cpu_s": entry["cpu_s"]}
    )


def read(folder: Path, methods: Sequence[str] | None = None) -> pd.DataFrame:
    """The rows that are kept, of all methods unless some are named; see `with_times`."""
    rows = pd.read_csv(folder / "rows.csv.gz", dtype={"reached": str}, keep_default_na=False)
    selected = rows if methods is None else rows[rows["method"].isin(methods)]
    if selected.empty:
        raise SystemExit(
            f"--methods must be among {', '.join(sorted(set(rows['method'])))}, got {', '.join(methods or ())}"
        )
    return with_times(selected)


def with_times(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with the kind of noise, the evaluations a dimension as an array, and the share of targets reached."""
    times = [np.array(times_of_cell.split(), dtype=float) for times_of_cell in rows["reached"]]
    per_dimension = [times_of_cell / d for times_of_cell, d in zip(times, rows["dimension"], strict=True)]
    kinds = [KINDS[(function - FIRST) % 3] for function in rows["function"]]
    return rows.assign(
        noise=kinds, reached=per_dimension, share=[len(times_of_cell) / len(TARGETS) for times_of_cell in times]
    )


def complete_pairs(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of instances of a function and dimension that all methods there have, so that all are paired."""
    counts = rows.groupby(KEY[:3])["method"].transform("size")
    return rows[counts == rows["method"].nunique()]


def compare_methods(rows: pd.DataFrame, column: str, by: Sequence[str]) -> pd.DataFrame:
    """A group and method a row: the mean, its error, and what it lies above ours, paired, with its error."""
    lines = []
    for key, group in rows.groupby(list(by), sort=False):
        wide = group.pivot_table(index=KEY[:3], columns="method", values=column, sort=False)
        means, resamples = bootstrap(wide, ["function", "dimension"], RESAMPLES)
        for method in wide.columns:
            line = dict(zip(by, key, strict=True)) | {"method": method, "cells": len(wide)}
            line |= {column: means[method], "error": resamples[method].std()}
            if OURS in wide.columns and method != OURS:
                line |= {"difference": means[method] - means[OURS]}
                line |= {"difference_error": (resamples[method] - resamples[OURS]).std()}
            lines.append(line)
    return pd.DataFrame(lines).round(4)


def tables(rows: pd.DataFrame, reference: pd.DataFrame | None) -> dict[str, pd.DataFrame]:
    """Targets reached by kind of noise, dimension and function, recommendations, costs, and the best of 2009."""
    paired = complete_pairs(rows).assign(all="all")
    logs = {f"recommended_{n}d": np.log10(paired[f"recommended_{n}d"].clip(lower=LEAST)) for n in RECOMMENDED}
    paired = paired.assign(**logs)
    by_name = {
        "all": compare_methods(paired, "share", ["all"]),
        "noise": compare_methods(paired, "share", ["noise"]),
        "dimensions": compare_methods(paired, "share", ["noise", "dimension"]),
        "functions": compare_methods(paired, "share", ["noise", "function"]),
    }
    by_name |= {column: compare_methods(paired, column, ["noise"]) for column in logs}
    by_name["cost"] = rows.groupby(["method", "dimension"])["cpu_s"].agg(["size", "median", "sum"]).reset_index()
    if reference is not None:
        best = with_times(reference)
        within = [np.mean([np.sum(times <= n) for times in best["reached"]]) for n in RECOMMENDED]
        by_name["best_2009"] = pd.DataFrame(
            [{f"{n}d": w / len(TARGETS) for n, w in zip(RECOMMENDED, within, strict=True)}]
        )
        of_noise = best.assign(share=[np.sum(times <= RECOMMENDED[-1]) / len(TARGETS) for times in best["reached"]])
        by_name["best_2009_noise"] = of_noise.groupby(["noise", "dimension"], sort=False)["share"].mean().reset_index()
    return by_name


def reference(archive: Path) -> pd.DataFrame:
    """Evaluations of 2009's best algorithm to each target (COCO's file): a function and dimension a row."""
    rows = []
    with tarfile.open(archive) as files:
        for member in files:
            named = re.search(r"_f(\d+)_d(\d+)\.dat$", member.name)
            if named is None or int(named[1]) < FIRST or int(named[2]) not in (2, 3, 5):
                continue
            file = files.extractfile(member)
            assert file is not None
            lines = [line.split() for line in io.TextIOWrapper(file) if line.strip() and not line.startswith("%")]
            times = [_first([(float(n), float(p)) for n, p, *_ in lines], target) for target in TARGETS]
            text = " ".join(f"{time:.6g}" for time in times if time is not None)
            rows.append({"function": int(named[1]), "dimension": int(named[2]), "reached": text})
    return pd.DataFrame(rows).sort_values(["function", "dimension"])


def _first(lines: Sequence[tuple[float, float]], target: float) -> float | None:
    """The evaluations of the first line that is as good as a target."""
    return next((evaluations for evaluations, precision in lines if precision <= target * (1 + 1e-9)), None)


def reference_in(folder: Path) -> pd.DataFrame | None:
    """The kept reference of a folder; None where there is none."""
    file = folder / REFERENCE
    return pd.read_csv(file, dtype={"reached": str}, keep_default_na=False) if file.exists() else None
