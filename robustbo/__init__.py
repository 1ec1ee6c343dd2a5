"""robustbo: Bayesian optimization for measurements that cannot all be trusted.

Example:
    >>> import robustbo as rb
    >>> space = rb.Space(x=rb.Float(0.0, 1.0))
    >>> opt = rb.Optimizer(space, direction="maximize", seed=0)
    >>> trial = opt.ask()
    >>> _ = opt.tell(trial, 0.93)
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robustbo.errors import (
        DataError,
        FitError,
        JournalError,
        JournalWarning,
        NumericsWarning,
        ProblemError,
        ReplayMismatch,
        RobustBOError,
        SpaceError,
        SpecError,
    )
    from robustbo.optimizer import Optimizer
    from robustbo.outliers import Outlier
    from robustbo.space import Choice, Float, Int, Space
    from robustbo.suggest import Incumbent
    from robustbo.trials.history import History, Trial

__version__ = "0.1.0"

__all__ = [
    "Choice",
    "DataError",
    "FitError",
    "Float",
    "History",
    "Incumbent",
    "Int",
    "JournalError",
    "JournalWarning",
    "NumericsWarning",
    "Optimizer",
    "Outlier",
    "ProblemError",
    "ReplayMismatch",
    "RobustBOError",
    "Space",
    "SpaceError",
    "SpecError",
    "Trial",
]

_ERRORS = [name for name in __all__ if name.endswith(("Error", "Warning", "Mismatch"))]
_HOME = dict.fromkeys(_ERRORS, "robustbo.errors") | {
    "Choice": "robustbo.space",
    "Float": "robustbo.space",
    "Int": "robustbo.space",
    "Space": "robustbo.space",
    "History": "robustbo.trials.history",
    "Trial": "robustbo.trials.history",
    "Incumbent": "robustbo.suggest",
    "Optimizer": "robustbo.optimizer",
    "Outlier": "robustbo.outliers",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import robustbo`` itself costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'robustbo' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
