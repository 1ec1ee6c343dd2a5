"""What people write as a space, and what their estimators are given."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import robustbo as rb
from robustbo.sklearn import RobustSearchCV
from robustbo.sklearn.candidates import Candidates
from robustbo.sklearn.distributions import values_of


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (rb.Int(1, 5), rb.Int(1, 5)),
        (stats.uniform(1, 4), rb.Float(1.0, 5.0)),
        (stats.loguniform(1e-3, 1e3), rb.Float(1e-3, 1e3, log=True)),
        (stats.reciprocal(1e-3, 1e3), rb.Float(1e-3, 1e3, log=True)),
        (stats.randint(1, 5), rb.Int(1, 4)),
        (range(2, 11, 3), rb.Int(2, 8, step=3)),
        ([3, 1, 2, 2], rb.Ordinal(1, 2, 3)),
        (np.logspace(-2, 2, 5), rb.Ordinal(0.01, 0.1, 1.0, 10.0, 100.0, log=True)),
        ((50, 100, 200), rb.Ordinal(50, 100, 200, log=True)),
        ([0, 10, 100], rb.Ordinal(0, 10, 100)),
        (["sqrt", "log2", None, 0.5], rb.Choice("sqrt", "log2", None, 0.5)),
        ([True, False], rb.Choice(True, False)),
        ([10, np.inf], rb.Choice(0, 1)),
    ],
)
def test_what_is_meant(given, expected):
    space = Candidates.of({"a": given, "b": rb.Float(0, 1)}).space
    assert dict(space.parameters)["a"] == expected


def test_a_space_is_taken_as_it_is():
    space = rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1), constraints=["x + y <= 1"])
    assert Candidates.of(space).space is space


def test_objects():
    layers, scalers = [(50,), (50, 50)], {"standard": StandardScaler(), "none": "passthrough"}
    candidates = Candidates.of({"layers": layers, "scaler": scalers})
    assert candidates.params({"layers": 1, "scaler": "none"}) == {"layers": (50, 50), "scaler": "passthrough"}
    assert candidates.params({"layers": 0, "scaler": "standard"})["scaler"] is scalers["standard"]


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"a": stats.norm(0, 1)}, "a: of scipy.stats' distributions uniform, loguniform and randint .* got norm"),
        ({"a": "rbf"}, "a: must be a robustbo Float, Int, Ordinal or Choice, a list of values, .* got 'rbf'"),
        ({"a": []}, r"a: must be a robustbo Float.* got \[\]"),
        ({"a": 3}, "a: must be a robustbo Float.* got 3"),
        ({3: [1, 2]}, "parameters must have names, got 3"),
        ({"a": rb.Choice(1), "b": rb.Float(0, 1, when={"a": 2})}, "when"),
    ],
)
def test_what_cannot_be_meant(given, match):
    with pytest.raises(rb.SpaceError, match=match):
        Candidates.of(given)


@pytest.mark.slow
def test_estimators_are_chosen_and_their_parameters_exist_where_they_do():
    space = {
        "scaler": [StandardScaler(), MinMaxScaler(), None],
        "model": {"linear": LogisticRegression(max_iter=1000), "tree": DecisionTreeClassifier(random_state=0)},
        "model__C": rb.Float(1e-2, 1e2, log=True, when={"model": "linear"}),
        "model__max_depth": rb.Int(1, 6, when={"model": "tree"}),
    }
    pipe = Pipeline([("scaler", None), ("model", LogisticRegression())])
    search = RobustSearchCV(pipe, space, n_trials=12, cv=3, random_state=0)
    found = clone(search).fit(*load_iris(return_X_y=True))
    results = found.cv_results_
    assert results["param_model__C"].mask.any()
    assert np.array_equal(results["param_model__C"].mask, ~results["param_model__max_depth"].mask)
    assert {type(model) for model in results["param_model"]} == {LogisticRegression, DecisionTreeClassifier}
    assert found.best_score_ > 0.9
    assert type(found.best_estimator_["model"]) is type(found.best_params_["model"])
    assert not hasattr(space["model"]["tree"], "tree_")  # what was given was copied, not fitted


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            (0.01, 10),
            r"got the tuple \(0\.01, 10\); write \[0\.01, 10\] for these values, or rb\.Float\(0\.01, 10, log=True",
        ),
        ((-1, 5), r"or rb\.Int\(-1, 5\) for all between"),
        ((1.0, 10, "uniform"), r"or rb\.Float\(1\.0, 10\) for all"),
        ((1e-6, 1e6, "log-uniform"), r"or rb\.Float\(1e-06, 1000000\.0, log=True\) for all"),
    ],
)
def test_a_pair_of_numbers_may_be_a_range_elsewhere_and_is_refused(given, said):
    with pytest.raises(rb.SpaceError, match=said):
        values_of("alpha", given)


@pytest.mark.parametrize("given", [[0.01, 10], (0.01, 1, 10), ("a", "b"), (True, False), np.array([0.01, 10])])
def test_other_lists_and_tuples_are_their_values(given):
    assert values_of("alpha", given).parameter.count == len(given)
