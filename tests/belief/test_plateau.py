"""Scores that are the same in a part of the space: trees that are pruned to the largest class."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

import robustbo as rb

NUMBER = 40


def score(depth, leaf, pruning):
    tree = DecisionTreeClassifier(
        max_depth=1 + int(9 * depth), min_samples_leaf=1 + int(40 * leaf), ccp_alpha=0.2 * pruning**3, random_state=0
    )
    return cross_val_score(tree, *load_breast_cancer(return_X_y=True), cv=3).mean()


@pytest.fixture(scope="module")
def scores():
    X = np.random.default_rng(NUMBER).uniform(size=(NUMBER, 3))
    return pd.DataFrame(X, columns=["depth", "leaf", "pruning"]).assign(value=[score(*x) for x in X])


def judged(table):
    space = rb.Space(depth=rb.Float(0, 1), leaf=rb.Float(0, 1), pruning=rb.Float(0, 1))
    return rb.Optimizer(space, direction="maximize", seed=0, prior_data=table)


def test_scores_beside_a_plateau_are_believed(scores):
    assert (scores["value"].round(9) == scores["value"].round(9).mode()[0]).sum() > NUMBER / 2
    optimizer = judged(scores)
    assert not any(report.flagged for report in optimizer.outliers())
    assert optimizer.best().trial.value > scores["value"].max() - 0.01


def test_a_gross_error_beside_a_plateau_is_found(scores):
    table = scores.copy()
    table.loc[7, "value"] = 93.0  # in percent
    (flagged,) = [report for report in judged(table).outliers() if report.flagged]
    assert flagged.trial.number == 7
