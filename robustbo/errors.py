"""Every exception and warning that robustbo raises on purpose."""

import sys
import warnings

OURS = ("robustbo", "contextlib")


class RobustBOError(Exception):
    """Base of all errors of this package."""


class SpaceError(RobustBOError, ValueError):
    """A search space, or a point of it, breaks a rule; names the parameter, the rule and the value."""


class FileError(RobustBOError, ValueError):
    """A file or a text from elsewhere cannot be read; the message names it, what must hold and what to do."""


class JournalError(RobustBOError):
    """A journal cannot be read, or cannot be written without losing something."""


class TrustError(JournalError):
    """A journal names code to import or an address to connect to, and the caller has not allowed it."""


class JournalMissing(JournalError):
    """A journal is missing."""


class JournalExists(JournalError):
    """A new journal has the name of an existing one."""


class JournalWriteError(JournalError, OSError):
    """An event was not recorded, because it could not be written: a full disk, missing rights, a deleted journal."""


class LockTimeout(JournalError, TimeoutError):
    """Another process holds the journal's lock; nothing was recorded."""


class SheetError(RobustBOError, ValueError):
    """A sheet of trials cannot be read, or cannot be written without a loss; the message names it and what to do."""


class SpaceExhausted(RobustBOError):
    """Every point of a finite space is being measured, and no point is left to ask for."""


class NumericalError(RobustBOError, ValueError):
    """A matrix that must be positive definite is not, whatever is done for it within reason."""


class FitError(RobustBOError):
    """A surrogate could not be fitted to the observations."""


class SpecError(RobustBOError, ValueError):
    """A run's specification breaks a rule; names the file, the key and what was expected."""


class DataError(RobustBOError):
    """A data set is missing or is not as expected; the message names the file, where it was sought and what to do."""


class ProblemError(RobustBOError):
    """A problem's objective, or one of its failures, gave no finite number; names the problem and the point."""


class ReplayMismatch(RobustBOError):
    """A recorded run and its recomputation differ."""


class SpaceWarning(UserWarning):
    """A measured point breaks a constraint, or lies outside the space; robustbo keeps it, because it was measured."""


class SheetWarning(UserWarning):
    """An entry of a sheet of trials waits: it is neither told nor lost."""


class SourceWarning(UserWarning):
    """A source of measurements is more probably in error than not, or its name may be a typing error."""


class NumericsWarning(UserWarning):
    """The result is usable, and the message says what to know about its numbers."""


class JournalWarning(UserWarning):
    """A journal can be read, but is not complete."""


class ExhaustedWarning(UserWarning):
    """Every point of a finite space has been asked for; further asks repeat measured points."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn, and say that it was at the line outside this package that called it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in OURS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
