"""Which values are left out for now, judged by what was expected of them before they were known.

A model fitted to a wrong value adapts to it: with few observations its length-scales shrink until nothing looks wrong.
The model that asked for the value has not seen it. So what it expected is kept with the trial, and a value that
disappoints it beyond belief is set aside, until another measurement, or a later model, bears it out.

Repeats settle it: a credible one refutes what is beyond belief, two that agree clear each other, but where both
disappoint beyond belief a third is wanted. What is then not settled is left to the surrogate.

References:
    Dawid (1984), Statistical theory: the prequential approach.
"""

import math
from collections.abc import Sequence

import torch

from robustbo.numerics.gp.outlier_gain import gain
from robustbo.trials.history import History, Trial

ASIDE = 8.0  # nats of surprise at which a disappointing value is set aside
CREDIBLE = 3.0  # nats of surprise up to which a value is taken as expected
CLEAR = 4.0  # nats that tell two disagreeing values apart
SPARSE = 0.3  # of the told values: where more are in doubt, it is the model that is wrong
TINY, HUGE = 1e-300, 1e100  # bounds of a standard deviation and of how many of them a value is off


def surprise(value: float, expected: float, sd: float) -> float:
    """Nats that a value gains by a variance of its own, given what was expected of it.

    Example:
        >>> surprise(2.0, 2.5, 1.0), round(surprise(-2.5, 2.5, 1.0), 2)
        (0.0, 10.39)
    """
    deviation = min(abs(value - expected) / max(sd, TINY), HUGE)
    return gain(torch.tensor(deviation, dtype=torch.float64), torch.tensor(1.0, dtype=torch.float64)).item()


def aside(history: History, sign: float, max_repeats: int) -> tuple[set[int], set[int]]:
    """The told trials that are not to be modelled: those in doubt, and those refuted by another at their point.

    Args:
        history: All trials.
        sign: 1 where larger values are better, else -1.
        max_repeats: How many measurements more one point may get; after them, or two, nothing is in doubt any more.
    """
    doubted, refuted = set[int](), set[int]()
    for trials in history.at_points().values():
        told = judged(trials)
        refuted |= {t.number for t in _refuted(told)}
        ended = sum(t.state in ("told", "failed") for t in trials)
        if ended <= min(max_repeats, 2) and _is_disappointing(told, sign):
            doubted |= {t.number for t in told}
    is_sparse = len(doubted) <= SPARSE * len(history.having("told"))
    return doubted if is_sparse else set(), refuted


def judged(trials: Sequence[Trial]) -> list[Trial]:
    """The values at a point that are judged here: one that was asked, and its repeats.

    Other values at the same point (a discrete space comes back to its points, users tell their own) were expected by
    models that knew the first, and are left to the surrogate; so is a point where the user has excluded a value.
    """
    told = [t for t in trials if t.state == "told"]
    are_repeats = all(t.repeats is not None for t in told[1:])
    return told if are_repeats and not any(t.state == "excluded" for t in trials) else []


def is_open(told: Sequence[Trial], sign: float) -> bool:
    """Whether two values at a point want a third: they disagree and nothing tells which is wrong, or both disappoint.

    Failures look alike: two values that both disappoint beyond belief may agree by chance.
    """
    gains = _surprises(told)
    if len(told) != 2 or gains is None or max(gains) <= CREDIBLE or _refuted(told):
        return False
    return _is_disappointing(told, sign) or not _agree(told)


def _expectation(told: Sequence[Trial]) -> tuple[float, float] | None:
    """What the others let expect at a point: said with its first repeat, or else when it was first asked."""
    said = [t.expectation for t in [*(t for t in told if t.repeats is not None), *told[:1]]]
    return next((found for found in said if found is not None), None)


def _surprises(told: Sequence[Trial]) -> list[float] | None:
    found = _expectation(told)
    return None if found is None else [surprise(t.measured, *found) for t in told]


def _is_disappointing(told: Sequence[Trial], sign: float) -> bool:
    """Whether all the values at a point are worse than what was expected, beyond belief."""
    if not told or (found := _expectation(told)) is None:
        return False
    return all(sign * t.measured < sign * found[0] and surprise(t.measured, *found) >= ASIDE for t in told)


def _refuted(told: Sequence[Trial]) -> list[Trial]:
    """The values that are beyond belief beside a credible one at the same point."""
    gains = _surprises(told) or [math.inf] * len(told)
    least = min(gains, default=math.inf)
    if least > CREDIBLE:
        return []
    return [t for t, g in zip(told, gains, strict=True) if g > max(CREDIBLE, least + CLEAR)]


def _agree(told: Sequence[Trial]) -> bool:
    """Whether two values are nearer to each other than half as far as the farther is from what was expected."""
    found, (a, b) = _expectation(told), (t.measured for t in told)
    return found is not None and abs(a - b) <= max(abs(a - found[0]), abs(b - found[0])) / 2
