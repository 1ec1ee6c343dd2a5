"""The result of a call of `Optimizer.optimize`."""

from typing import TypeAlias

from robustbo.loop.best.front import Front
from robustbo.loop.best.incumbent import Incumbent
from robustbo.study.study import Study

Result: TypeAlias = Incumbent | Front


def result(study: Study) -> Result | None:
    """The best, or the front of several objectives; None where nothing has been told, or an outcome has no value.

    Example:
        >>> import robustbo as rb
        >>> opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), objectives={"a": "maximize"}, seed=0)
        >>> result(opt) is None
        True
    """
    view = study.view
    if not view.is_measured:
        return None
    return study.front() if len(view.settings.objectives) > 1 else study.best()
