"""The fallback where numbers fail: a ladder of surrogates, from the one that was asked for to one that always works.

Values to which nothing can be fitted in floating-point numbers come from real loops: deterministic objectives told with
no noise, points that all but coincide, values of 1e300. An ask or a recommendation does not end in an error for that,
nor for a mistake of ours: whatever our own mathematics raises, assertions included, the next rung is tried.
Each rung is a function of the history, so that resuming and verifying climb the same; which one it was is logged and
kept.
"""

import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

from robustbo.loop.observations.table import Data
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fit import fit_to
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.trials.settings import Settings

log = logging.getLogger("robustbo")
T = TypeVar("T")

PLAIN = "standard"


def fit_and_use(
    settings: Settings,
    data: Data,
    use: Callable[[Settings, FittedSurrogate], T],
    fits: FitCache,
    *,
    is_judging: bool = False,
) -> tuple[T | None, str | None]:
    """Return what the first surrogate gives that can be fitted and used.

    Args:
        settings: What the run was told at its beginning.
        data: All that happened before; at least one value has been told.
        use: What is made of a fitted surrogate; an error that is survivable (`attempt`) says that it cannot be.
        fits: The last fits.
        is_judging: Whether each value is to be judged, so that none may be left out.

    Returns:
        What it made, None if no surrogate could be used; and, where it was not the first, which rung it was and why.
    """
    why: list[str] = []
    for rung in _rungs(settings, data, is_judging):
        result, error = attempt(partial(_fit_rung, use, rung, fits), rung.settings.surrogate)
        if error is None:
            return result, f"by {rung.name}, since these failed: {'; '.join(why)}" if why else None
        why.append(f"{rung.name}: {error}")
        log.warning("a surrogate could not be used, so the optimizer tries the next; %s", why[-1])
    return None, f"by none, since these failed: {'; '.join(why)}"


class _Rung(NamedTuple):
    """A rung of the ladder: a surrogate that may decide, the data of its fit, and the told trials it leaves out."""

    name: str
    settings: Settings
    data: Data
    left_out: tuple[int, ...] = ()


def _fit_rung(use: Callable[[Settings, FittedSurrogate], T], rung: _Rung, fits: FitCache) -> T:
    fitted = fit_to(rung.settings, rung.data, fits)
    return use(rung.settings, replace(fitted, quarantined=(*fitted.quarantined, *rung.left_out)))


def _rungs(settings: Settings, data: Data, is_judging: bool) -> Iterator[_Rung]:
    name = settings.of_size(len(data.told)).surrogate
    yield _Rung(name, settings, data)
    if len(data.told) > 1 and not is_judging:  # it could be fitted before, as a rule: with what it found then
        last = data.told[-1].number
        yield _Rung(f"{name} without the last value", settings, data.without_last_value(), (last,))
    if name != PLAIN:
        yield _Rung(PLAIN, replace(settings, surrogate=PLAIN, options="{}", committee_from=None), data)


def check_finite(*numbers: float) -> None:
    """Raise an ArithmeticError if a number is not finite."""
    if not all(map(math.isfinite, numbers)):
        raise ArithmeticError(f"predictions must be finite, got {numbers}")
