"""A study: what can be seen of it, what is recorded in it, and who is given which trial."""

from robustbo.study.study import Prediction, Study

__all__ = ["Prediction", "Study"]
