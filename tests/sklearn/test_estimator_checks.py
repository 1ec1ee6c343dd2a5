"""scikit-learn's own checks of estimators, on searches for a classifier's and a regressor's hyperparameters."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import check_estimator

import robustbo as rb
from robustbo.sklearn import RobustSearchCV

# of classes that are infinite, which a check gives to see them refused
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")

# What scikit-learn declares of GridSearchCV and RandomizedSearchCV (sklearn/utils/_test_common/instance_generator.py)
DECLARED = {
    "check_supervised_y_2d": "DataConversionWarning not caught",
    "check_requires_y_none": "Doesn't fail gracefully",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "space", "options"),
    [
        (Ridge(), {"alpha": [0.1, 1.0]}, {}),  # as it comes: where every candidate fails, its error says why
        (LogisticRegression(), {"C": rb.Float(0.1, 1.0, log=True)}, {}),
        (Ridge(), {"alpha": [0.1, 1.0]}, {"error_score": "raise"}),
    ],
)
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.FitFailedWarning", "ignore:(Scoring failed|One or more of the test scores):UserWarning"
)
def test_it_is_an_estimator(estimator, space, options):
    search = RobustSearchCV(estimator, space, n_trials=2, cv=2, random_state=0, **options)
    checks = check_estimator(search, expected_failed_checks=DECLARED, on_skip=None)
    assert {check["status"] for check in checks} <= {"passed", "skipped", "xfail"}
    assert sum(check["status"] == "passed" for check in checks) > 45
    assert {check["check_name"] for check in checks if check["status"] == "xfail"} <= set(DECLARED)
