"""A search for scikit-learn's hyperparameters that believes no single score."""

from robustbo.sklearn.search import RobustSearchCV

__all__ = ["RobustSearchCV"]
