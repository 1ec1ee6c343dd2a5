"""Which values are left out for now, judged by what was expected of them before they were known.

A model fitted to a wrong value adapts to it: with few observations its length-scales shrink until nothing looks wrong.
The model that asked for the value has not seen it. So what it expected is kept with the trial, and a value that
disappoints it beyond belief is set aside, until another measurement, or a later model, bears it out.

A further measurement at the same point settles it: two that agree clear each other, two that do not are judged by what
the rest expected there. Three are left to the surrogate, which believes the majority.

References:
    Dawid (1984), Statistical theory: the prequential approach.
"""

from collections.abc import Sequence

import torch

from robustbo.history import History, Trial
from robustbo.numerics.gains import gain

ASIDE = 8.0  # nats of surprise at which a disappointing value is set aside
CREDIBLE = 3.0  # nats of surprise up to which a value is taken as expected
CLEAR = 4.0  # nats that tell two disagreeing values apart
TINY, HUGE = 1e-300, 1e100  # bounds of a standard deviation and of how many of them a value is off


def surprise(value: float, expected: float, sd: float) -> float:
    """Nats that a value gains by a variance of its own, given what was expected of it.

    Example:
        >>> surprise(2.0, 2.5, 1.0), round(surprise(-2.5, 2.5, 1.0), 2)
        (0.0, 10.39)
    """
    deviation = min(abs(value - expected) / max(sd, TINY), HUGE)
    return gain(torch.tensor(deviation, dtype=torch.float64), torch.tensor(1.0, dtype=torch.float64)).item()


def aside(history: History, sign: float) -> tuple[set[int], set[int]]:
    """The told trials that are not to be modelled: those that only a doubt speaks against, and those refuted.

    Args:
        history: All trials.
        sign: 1 where larger values are better, else -1.
    """
    doubted, refuted = set[int](), set[int]()
    for trials in history.at_points().values():
        told = [t for t in trials if t.state == "told"]
        if len(told) == 1:
            doubted |= {t.number for t in told if is_disappointing(t, sign)}
        elif len(told) == 2:
            refuted |= {t.number for t in _worse_of_two(told)}
    return doubted, refuted


def is_disappointing(trial: Trial, sign: float) -> bool:
    """Whether a value is worse than what was expected of it, beyond belief."""
    if trial.expected is None or trial.expected_sd is None:
        return False
    is_worse = sign * trial.measured < sign * trial.expected
    return is_worse and surprise(trial.measured, trial.expected, trial.expected_sd) >= ASIDE


def is_open(told: Sequence[Trial]) -> bool:
    """Whether two values at one point disagree, and what was expected there does not tell which of them is wrong."""
    if len(told) != 2 or (gains := _surprises(told)) is None:
        return False
    return max(gains) > CREDIBLE and not _agree(told) and not _worse_of_two(told)


def _expectation(told: Sequence[Trial]) -> tuple[float, float] | None:
    """What was expected at a point by the latest who had not seen a value there, or who judged one by the others."""
    unbiased = [t for t in told if t is told[0] or t.repeats is not None]
    said = [(t.expected, t.expected_sd) for t in unbiased if t.expected is not None and t.expected_sd is not None]
    return said[-1] if said else None


def _surprises(told: Sequence[Trial]) -> list[float] | None:
    found = _expectation(told)
    return None if found is None else [surprise(t.measured, *found) for t in told]


def _agree(told: Sequence[Trial]) -> bool:
    """Whether two values are nearer to each other than half as far as the farther is from what was expected."""
    found, (a, b) = _expectation(told), (t.measured for t in told)
    return found is not None and abs(a - b) <= max(abs(a - found[0]), abs(b - found[0])) / 2


def _worse_of_two(told: Sequence[Trial]) -> list[Trial]:
    gains = _surprises(told)
    if gains is None or _agree(told) or min(gains) > CREDIBLE or max(gains) < min(gains) + CLEAR:
        return []
    return [told[gains.index(max(gains))]]
