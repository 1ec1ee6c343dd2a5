"""The resolution of outcomes, and what their rounding is as noise.

An instrument shows multiples of one step; what lies between has been rounded away, evenly within half a step on either
side. A fit that follows such values more closely than that follows their rounding, and takes the next digit for an
error.
"""

from torch import Tensor

FEWEST = 8  # observations of which it can be told
TOLERANCE, DIGITS = 1e-9, 1e-14  # of the typical distance, and of the values: what is a whole number of steps
FINEST = 1e-5  # of the typical distance: a finer step changes nothing
COARSEST = 0.35  # likewise: of a coarser one the values are counts, or kinds, and are what they are


def resolution(y: Tensor) -> float:
    """The largest step that all values are whole multiples of, apart; 0 where there is none that matters.

    Args:
        y: ``n`` outcomes.

    Example:
        >>> resolution(torch.tensor([8.41, 8.40, 8.43, 8.40, 8.46, 8.52, 8.57, 8.61], dtype=torch.float64))
        0.01
        >>> resolution(torch.rand(50, dtype=torch.float64))
        0.0
    """
    if len(y) < FEWEST:
        return 0.0
    distances = (y - y.median()).abs()
    typical = distances.quantile(0.5).item()
    tolerance = max(TOLERANCE * typical, DIGITS * y.abs().quantile(0.75).item())
    ordinary = distances[(distances > tolerance) & (distances < 20 * typical)].unique()
    step = 0.0
    for distance in ordinary.tolist():
        step = _common_step(distance, step, tolerance)
        if step < FINEST * typical:
            return 0.0
    return _tidy(step) if step <= COARSEST * typical / 0.6745 else 0.0


def rounding_variance(step: float) -> float:
    """The variance of what is rounded away."""
    return step**2 / 12


def _common_step(a: float, b: float, tolerance: float) -> float:
    """The largest number that both are multiples of, but for rounding (Euclid)."""
    while b > tolerance:
        rest = a % b
        a, b = b, min(rest, b - rest)
    return a


def _tidy(step: float) -> float:
    return float(f"{step:.6g}")
