"""scikit-learn's manners: a search that believes no single score, and regression that believes no single value."""

from typing import TYPE_CHECKING

from robustbo.lazy import exports
from robustbo.sklearn.search import RobustSearchCV

if TYPE_CHECKING:  # joblib's workers import the search to fit, and need no torch
    from robustbo.sklearn.outlier_table import outliers
    from robustbo.sklearn.regressor import RobustGPRegressor

__all__ = ["RobustGPRegressor", "RobustSearchCV", "outliers"]

__getattr__ = exports(
    globals(),
    {"RobustGPRegressor": "robustbo.sklearn.regressor", "outliers": "robustbo.sklearn.outlier_table"},
)
