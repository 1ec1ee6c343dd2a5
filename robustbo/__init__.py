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
    from robustbo.censored import Above, Below
    from robustbo.driving.stopping import LittleToGain
    from robustbo.errors import (
        DataError,
        ExhaustedWarning,
        FileError,
        FitError,
        JournalError,
        JournalExists,
        JournalWarning,
        JournalWriteError,
        LockTimeout,
        NumericsWarning,
        ProblemError,
        ReplayMismatch,
        RobustBOError,
        SheetError,
        SheetWarning,
        SourceWarning,
        SpaceError,
        SpaceExhausted,
        SpaceWarning,
        SpecError,
    )
    from robustbo.loop.belief.outliers import Outlier
    from robustbo.loop.best.front import Front
    from robustbo.loop.best.incumbent import Incumbent
    from robustbo.loop.best.measured_points import FrontPoint
    from robustbo.loop.sources.source_report import SourceReport
    from robustbo.optimizer import Optimizer
    from robustbo.searchspace.constraints.at_most import AtMost
    from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal
    from robustbo.searchspace.pool import Pool
    from robustbo.searchspace.space import Space
    from robustbo.study.study import Study
    from robustbo.trials.declared import Source, fidelity_levels
    from robustbo.trials.history import History, Trial
    from robustbo.trials.outcome import Outcome
    from robustbo.view.prediction import Prediction

__version__ = "0.2.0"

__all__ = [
    "Above",
    "AtMost",
    "Below",
    "Choice",
    "DataError",
    "ExhaustedWarning",
    "FileError",
    "FitError",
    "Float",
    "Front",
    "FrontPoint",
    "History",
    "Incumbent",
    "Int",
    "JournalError",
    "JournalExists",
    "JournalWarning",
    "JournalWriteError",
    "LittleToGain",
    "LockTimeout",
    "NumericsWarning",
    "Optimizer",
    "Ordinal",
    "Outcome",
    "Outlier",
    "Pool",
    "Prediction",
    "ProblemError",
    "ReplayMismatch",
    "RobustBOError",
    "SheetError",
    "SheetWarning",
    "Source",
    "SourceReport",
    "SourceWarning",
    "Space",
    "SpaceError",
    "SpaceExhausted",
    "SpaceWarning",
    "SpecError",
    "Study",
    "Trial",
    "fidelity_levels",
]

_ERRORS = [
    name for name in __all__ if name.endswith(("Error", "Warning", "Mismatch", "Exists", "Exhausted", "Timeout"))
]
_HOME = dict.fromkeys(_ERRORS, "robustbo.errors") | {
    "Above": "robustbo.censored",
    "AtMost": "robustbo.searchspace.constraints.at_most",
    "Below": "robustbo.censored",
    "Choice": "robustbo.searchspace.parameters",
    "Float": "robustbo.searchspace.parameters",
    "Int": "robustbo.searchspace.parameters",
    "Ordinal": "robustbo.searchspace.parameters",
    "Pool": "robustbo.searchspace.pool",
    "Space": "robustbo.searchspace.space",
    "History": "robustbo.trials.history",
    "Trial": "robustbo.trials.history",
    "Front": "robustbo.loop.best.front",
    "FrontPoint": "robustbo.loop.best.measured_points",
    "Incumbent": "robustbo.loop.best.incumbent",
    "LittleToGain": "robustbo.driving.stopping",
    "Optimizer": "robustbo.optimizer",
    "Outcome": "robustbo.trials.outcome",
    "Outlier": "robustbo.loop.belief.outliers",
    "Prediction": "robustbo.view.prediction",
    "Source": "robustbo.trials.declared",
    "fidelity_levels": "robustbo.trials.declared",
    "SourceReport": "robustbo.loop.sources.source_report",
    "Study": "robustbo.study.study",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import robustbo`` itself costs nothing."""
    if name not in _HOME:
        from robustbo.guidance import TOP, translation
        from robustbo.validation import nearest

        meant = "" if name.startswith("_") else translation(name, TOP) or nearest(name, __all__)
        raise AttributeError(f"module 'robustbo' has no attribute {name!r}{meant}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
