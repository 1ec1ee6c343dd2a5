"""A study: what can be seen of it, what is recorded in it, and who is given which trial."""

from robustbo.study.study import Study
from robustbo.view.prediction import Prediction

__all__ = ["Prediction", "Study"]
