"""Rows that methods of regression meet: tables with wrong values of ours, and tables whose owners labelled theirs.

Of a table of a library or of UCI, a fifth of the rows, drawn, is to be predicted; a tenth of the other targets is wrong
(none, shifted up or down, or all shifted one way, by three to nine standard deviations). Of a labelled table nothing is
changed: a fifth of the right rows is to be predicted, and the wrong rows are all among the training rows. Rows whose
label is disputed are trained on and not scored. So is the first reading of one river's sensor, which nobody labelled: a
method that predicts the water would be judged by it.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from benchmarks.labelled.data import DISPUTED, RIGHT, WRONG
from robustbo import seeds
from robustbo_problems import regression
from robustbo_problems.regression_corruptions import CORRUPTIONS

TABLES = ("boston", "concrete", "diabetes", "energy", "yacht")
KINDS = ("none", "uniform", "asymmetric")
LABELLED = "labelled"  # the kind of what nobody corrupted
UNLABELLED = {"river-tonygrove-2014-temp": 0}  # the row of 0.577 degrees, before -9999 and 11.77
RATE, HELD_OUT, MOST = 0.1, 0.2, 500  # share of wrong targets and of rows to predict; rows at most


class Case(NamedTuple):
    """A table, what is wrong with it, and the seed of its split."""

    table: str
    kind: str
    seed: int


class Rows(NamedTuple):
    """Training rows, which of them are wrong, and rows to predict; of the training rows those scored are judged."""

    X: np.ndarray
    y: np.ndarray
    is_wrong: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    is_scored: np.ndarray


def rows_of(case: Case, labelled: Path | None = None) -> Rows:
    """The rows of a case, the same for each method.

    Args:
        case: The case.
        labelled: The folder of labelled tables.
    """
    return _labelled_rows(case, labelled) if case.kind == LABELLED and labelled else _rows_with_corruption(case)


def _rows_with_corruption(case: Case) -> Rows:
    X, y = _table(case.table)
    order = seeds.generator(case.seed, 0, f"split {case.table}").permutation(len(y))[:MOST]
    test, train = np.split(order, [round(HELD_OUT * len(order))])
    n = len(train)
    wrong = seeds.generator(case.seed, 0, "wrong rows").permutation(n)[: round(RATE * n)]
    values = y[train]
    if case.kind != "none":
        _, values = CORRUPTIONS[case.kind](X[train], values, wrong, seeds.generator(case.seed, 0, "wrong targets"))
    is_wrong = np.isin(np.arange(n), wrong) & (case.kind != "none")
    return Rows(X[train], values, is_wrong, X[test], y[test], np.ones(n, dtype=bool))


def _labelled_rows(case: Case, folder: Path) -> Rows:
    table = pd.read_csv(folder / f"{case.table}.csv")
    X = pd.get_dummies(table.drop(columns=["value", "label"])).to_numpy(float)
    y, label = table["value"].to_numpy(float), table["label"].to_numpy().copy()
    if case.table in UNLABELLED:
        label[UNLABELLED[case.table]] = DISPUTED
    right = seeds.generator(case.seed, 0, f"split {case.table}").permutation(np.flatnonzero(label == RIGHT))
    is_test = np.isin(np.arange(len(y)), right[: round(HELD_OUT * len(right))])
    labels = label[~is_test]
    return Rows(X[~is_test], y[~is_test], labels == WRONG, X[is_test], y[is_test], np.isin(labels, [RIGHT, WRONG]))


def labelled_names(folder: Path, most: int) -> list[str]:
    """Names of the labelled tables of so many rows at most in which a value is wrong."""
    tables = {file.stem: pd.read_csv(file)["label"] for file in sorted(folder.glob("*.csv"))}
    return [name for name, labels in tables.items() if len(labels) <= most and (labels == WRONG).any()]


def _table(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        return X, y
    parts = regression.split(name, None, 0)
    return np.vstack([parts.X, parts.X_test]), np.concatenate([parts.y, parts.y_test])
