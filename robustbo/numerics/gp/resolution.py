"""The resolution of outcomes, and what their rounding is as noise.

An instrument shows multiples of one step; what lies between has been rounded away, evenly within half a step on either
side. A fit that follows such values more closely than that follows their rounding, and takes the next digit for an
error.
"""

from torch import Tensor

FEWEST = 8  # observations of which it can be told
TOLERANCE, DIGITS = 1e-9, 1e-14  # of the typical distance, and of the values: what is a whole number of steps
FINEST = 1e-5  # of the typical distance: a finer step changes nothing
OFTEN, DEEP = 3, 10  # values at the only distance that there is, or steps from 0 to the median: else it may be an error
LEVELS, SHARE = 5, 0.05  # distances that recur, by which it is known of all but a share of the values
FAR = 20  # typical distances beyond which a value is not asked: a gross one has fewer digits


def resolution(y: Tensor, zero: float = 0.0) -> float:
    """The largest step that all values are whole multiples of, apart; 0 where there is none that matters.

    One value in twenty may be no multiple, where values at several distances recur and are: of whole numbers, 1.9 is an
    error for 19, and no sign of a finer step.

    Of two values that are told alone, the distance is a step if the rarer one is told several times, or the other one
    is many such steps from zero: else the rarer one may be an error.

    Args:
        y: ``n`` outcomes.
        zero: Where the instrument's zero lies among them.

    Example:
        >>> import torch
        >>> resolution(torch.tensor([8.41, 8.40, 8.43, 8.40, 8.46, 8.52, 8.57, 8.61], dtype=torch.float64))
        0.01
        >>> resolution(torch.rand(50, dtype=torch.float64))
        0.0
    """
    if len(y) < FEWEST:
        return 0.0
    distances = (y - y.median()).abs()
    tolerance = DIGITS * y.abs().median().item()
    apart = distances[distances > tolerance]
    if not len(apart):
        return 0.0
    typical, near = apart.median().item(), apart.quantile(0.25).item()
    typical = near if typical > FAR * near else typical  # most others are gross where most values are equal
    tolerance = max(TOLERANCE * typical, tolerance)
    is_alone = apart.max() - apart.min() <= tolerance and len(apart) < OFTEN
    if is_alone and not _is_grid(abs(y.median().item() - zero), typical):
        return 0.0
    levels, counts = apart[apart < FAR * typical].unique(return_counts=True)
    step = _step_of(levels, tolerance, FINEST * typical)
    recurring = levels[counts > 1]
    if len(recurring) >= LEVELS and (coarse := _step_of(recurring, tolerance, FINEST * typical)):
        steps = distances / coarse
        is_between = (steps - steps.round()).abs() * coarse > tolerance
        step = coarse if is_between.sum() <= SHARE * len(y) else step
    return float(f"{step:.6g}")


def _step_of(distances: Tensor, tolerance: float, finest: float) -> float:
    """The largest step that all distances are multiples of; 0 where it is finer than matters."""
    step = 0.0
    for distance in distances.tolist():
        step = _common_step(distance, step, tolerance)
        if step < finest:
            return 0.0
    return step


def _is_grid(level: float, step: float) -> bool:
    """Return whether a level is a whole number of steps, and of many."""
    steps = level / step
    return steps >= DEEP - 0.5 and abs(steps - round(steps)) <= TOLERANCE * steps


def rounding_variance(step: float) -> float:
    """The variance of what is rounded away."""
    return step * step / 12  # a power would be an error where this is infinite


def _common_step(a: float, b: float, tolerance: float) -> float:
    """The largest number that both are multiples of, but for rounding (Euclid)."""
    while b > tolerance:
        rest = a % b
        a, b = b, min(rest, b - rest)
    return a
