"""Every exception and warning that robustbo raises on purpose."""

import sys
import warnings

OURS = ("robustbo", "contextlib")


class RobustBOError(Exception):
    """Base of all errors of this package."""


class SpaceError(RobustBOError, ValueError):
    """A search space, or a point of it, breaks a rule; names the parameter, the rule and the value."""


class FileError(RobustBOError, ValueError):
    """A file of somebody else's, or a text, cannot be read: names it, what must hold and what to do."""


class JournalError(RobustBOError):
    """A journal cannot be read, or cannot be written without losing something."""


class TrustError(JournalError):
    """A journal names code to import or an address to connect to, and the caller has not allowed it."""


class JournalMissing(JournalError):
    """A journal is missing."""


class JournalExists(JournalError):
    """A journal was to be begun where there is one."""


class JournalWriteError(JournalError, OSError):
    """An event could not be written, and was not recorded: a full disk, a missing right, a journal that is gone."""


class LockTimeout(JournalError, TimeoutError):
    """Somebody else has a journal locked; nothing was recorded."""


class SheetError(RobustBOError, ValueError):
    """A sheet of trials cannot be read, or not be written without losing something; names it, and what to do."""


class SpaceExhausted(RobustBOError):
    """Every point of a finite space is being measured: there is none left to ask for."""


class NumericalError(RobustBOError, ValueError):
    """A matrix that must be positive definite is not, whatever is done for it within reason."""


class FitError(RobustBOError):
    """A surrogate could not be fitted to the observations."""


class SpecError(RobustBOError, ValueError):
    """A run's specification breaks a rule; names the file, the key and what was expected."""


class DataError(RobustBOError):
    """A data set cannot be had, or is not what it should be; names the file, where it was looked for and what to do."""


class ProblemError(RobustBOError):
    """A problem's objective, or one of its failures, gave no finite number; names the problem and the point."""


class ReplayMismatch(RobustBOError):
    """A recorded run and its recomputation differ."""


class SpaceWarning(UserWarning):
    """A measured point breaks a constraint, or lies outside the space; it is kept, since it was measured."""


class SheetWarning(UserWarning):
    """Something in a sheet of trials waits: it is not told yet, and is not lost."""


class SourceWarning(UserWarning):
    """A source of measurements is more probably in error than not, or one is named that may be mistyped."""


class NumericsWarning(UserWarning):
    """The result is usable, but something about the numbers should be known."""


class JournalWarning(UserWarning):
    """A journal was readable, but not whole."""


class ExhaustedWarning(UserWarning):
    """Every point of a finite space has been asked for: what is asked from here on has been measured before."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn, and say that it was at the line outside this package that called it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in OURS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
