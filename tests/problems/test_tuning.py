from functools import partial

import numpy as np
import pytest

from robustbo_problems.tuning import boosting_diabetes, svr_diabetes

sklearn = pytest.importorskip("sklearn")


@pytest.mark.parametrize("problem", [svr_diabetes, boosting_diabetes], ids=lambda problem: problem.name)
def test_the_best_seen_is_that_and_no_random_point_beats_it(problem):
    assert problem(problem.best_seen_at) == pytest.approx(problem.best_seen, abs=1e-9)  # trees have a fixed seed
    assert problem(problem.space.sobol(0, 0)) > problem.best_seen


def test_it_is_what_scikit_learn_says_of_the_same_parts():
    from sklearn.model_selection import PredefinedSplit, cross_val_predict
    from sklearn.svm import SVR

    from robustbo_problems.conditional import data

    X, y, parts = data()
    number = np.empty(len(y), dtype=int)
    for i, part in enumerate(parts):
        number[part] = i
    make = partial(SVR, C=1.0, epsilon=0.1, gamma=0.02)
    predictions = cross_val_predict(make(), X, y, cv=PredefinedSplit(number))
    expected = np.sqrt(np.mean((predictions - y) ** 2))
    assert svr_diabetes({"C": 1.0, "epsilon": 0.1, "gamma": 0.02}) == pytest.approx(expected, abs=1e-12)
