"""Effects of rounding: how far a number may be from the recorded one where another processor computes it.

A processor that has other vector units adds in another order, and its libraries have other approximations of exp and
log: a value differs in its last digits, and what follows from many values by more.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from robustbo.loop.observations.units import center_and_scale
from robustbo.searchspace.space import Space
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.trial import EXPECTATION, EXPECTED_ERROR

VALUE = 1e-12  # of its size: a value follows from its point by some hundred operations, of 1e-16 each
POINT = 1e-6  # of a parameter's range: what tells open points apart, too (`loop.candidates.pending.NEAR`)
MODEL = 1e-5  # of the spread of the values; see `asks`

Path = tuple[str | int, ...]  # keys and places that lead to a number within what is compared
Scales = Mapping[str | None, float]  # the spread of the values, of several outcomes by name


class Apart(NamedTuple):
    """Distance of two numbers.

    Attributes:
        share: Of what rounding may do.
        text: How far, in words.
    """

    share: float
    text: str


Rounding = Callable[[Path, float, float], Apart | None]  # of a recorded and a recomputed number; None: must be equal


def scales_of(settings: Settings, history: History) -> Scales:
    """The spread of all that was told, as a model's units have it: a few gross values do not widen it."""
    names = [outcome.name for outcome in settings.outcomes]
    told = {name: [trial.values[name] for trial in history if name in trial.values] for name in names}
    values_by_outcome = told if names else {None: [trial.value for trial in history if trial.value is not None]}
    return {name: center_and_scale(tuple(values))[1] for name, values in values_by_outcome.items() if values}


def exactly(_: Path, __: float, ___: float) -> None:
    """No rounding at all: of settings, flags, states, and the numbers of trials."""


def values(scales: Scales) -> Rounding:
    """The rounding of values: of their size, or of the spread of all where they are smaller, as sums may be."""

    def apart(path: Path, a: float, b: float) -> Apart:
        off = abs(a - b) / max(abs(a), abs(b), _scale(scales, path))
        return Apart(off / VALUE, f"{off:.1g} of the value")

    return apart


def asks(space: Space, scales: Scales) -> Rounding:
    """The rounding of an ask and of the diagnosis made with it.

    A point may be `POINT` of each parameter's range away; what has steps, or is a row of a pool, must be equal. What a
    model says there (`MODEL` of the spread of the values; percentiles, of 1) may be ten times as far: it is said at
    that other point, between which and this one it changes by several spreads times the way, and of hyperparameters
    that a search has found, which ends where the evidence is flat.
    """
    parameters = dict(space.parameters)

    def apart(path: Path, a: float, b: float) -> Apart | None:
        first, last = path[0], path[-1]
        if first == "params":
            parameter = parameters[str(last)]
            if space.is_pool or parameter.count is not None:
                return None
            off = abs(parameter.to_unit(a) - parameter.to_unit(b))
            return Apart(off / POINT, f"{off:.1g} of {last}'s range")
        if first in (*EXPECTATION, *EXPECTED_ERROR):
            off = abs(a - b) / (_scale(scales, path) or max(abs(a), abs(b)))
            return Apart(off / MODEL, f"{off:.1g} of the spread of the values")
        return Apart(abs(a - b) / MODEL, f"{abs(a - b):.1g} of a probability") if first == "percentiles" else None

    return apart


def scores(_: Path, a: float, b: float) -> Apart:
    """The rounding of the scores of a fit, all of which follow from hyperparameters that a search has found."""
    off = abs(a - b) / max(abs(a), abs(b))
    return Apart(off / MODEL, f"{off:.1g} of the score")


def _scale(scales: Scales, path: Path) -> float:
    """Scale of an outcome, whose name comes last, or of the only one."""
    return scales.get(str(path[-1]) if path else None, scales.get(None, 0.0))
