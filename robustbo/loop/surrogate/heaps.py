"""Heaps of values at the smallest or the largest one told: a limit that was written as if it had been measured.

An instrument that reads its detection limit wherever there is less, or its largest value wherever there is more, makes
a heap at one end of the values. A sensor that is stuck makes one too, wherever it is measured; and where numbers are
written with few digits, measured values coincide. Which it is, the other values tell: by what they predict at the
heap's points, each explanation has a probability.

References:
    docs/equations.md section 18.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from robustbo.censored import is_bound, value_at_limit
from robustbo.errors import NumericsWarning, warn
from robustbo.loop.observations.table import Observations
from robustbo.loop.surrogate.bounds import bound_rows, joint_prediction, noise_variances
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.censored.sites import (
    highest_log_probability,
    log_probability_of_stuck_sensor,
    log_probability_of_values,
    pseudo_values,
)

FEWEST = 3  # values, at as many points, that make a heap
SHARE = 0.05  # of all values, likewise
MIN_OTHERS = 10  # values beside the heaps, of which less can be told
OUTSTANDING = 2  # times as many as of any value between: where numbers have few digits, many coincide
CONVINCING = math.log(10.0)  # nats by which a limit must be the better explanation


class Heap(NamedTuple):
    """The values at one end.

    Attributes:
        sign: "<" for the smallest value, ">" for the largest.
        limit: The value.
        rows: Which observations have it.
    """

    sign: str
    limit: float
    rows: tuple[int, ...]


def find_heaps(told: Observations) -> list[Heap]:
    """The heaps of values at the ends, which may be limits; those that the user vouches for are no part of one.

    Example:
        >>> X = tuple((i / 14,) for i in range(14))
        >>> values = (0.5, 0.5, 0.5, 0.5, 1.0, 2.0, 3.5, 4.0, 5.0, 6.0, 6.5, 7.0, 8.0, 9.0)
        >>> find_heaps(Observations(tuple(range(14)), X, values, None))
        [Heap(sign='<', limit=0.5, rows=(0, 1, 2, 3))]
    """
    free = [i for i, v in enumerate(told.values) if not is_bound(v) and told.numbers[i] not in told.vouched]
    counts = Counter(told.values[i] for i in free)
    if len(counts) < FEWEST:
        return []
    ends = ("<", min(counts)), (">", max(counts))
    between = max(count for value, count in counts.items() if value not in (ends[0][1], ends[1][1]))
    least = max(FEWEST, SHARE * len(told.values), OUTSTANDING * between)
    heaps = [Heap(sign, limit, tuple(i for i in free if told.values[i] == limit)) for sign, limit in ends]
    heaps = [h for h in heaps if counts[h.limit] >= least and len({told.X[i] for i in h.rows}) >= FEWEST]
    num_others = len(told.values) - sum(len(heap.rows) for heap in heaps)
    return heaps if num_others >= MIN_OTHERS else []


def with_bounds(told: Observations, heaps: list[Heap]) -> Observations:
    """The observations in which the values of some heaps are bounds."""
    signs = {i: heap.sign for heap in heaps for i in heap.rows}
    values = tuple(value_at_limit(signs[i], float(v)) if i in signs else v for i, v in enumerate(told.values))
    return told._replace(values=values)


def bound_heaps(
    told: Observations, fit: Callable[[Observations], FittedSurrogate], fits: FitCache, key: Hashable
) -> Observations:
    """The observations in which values that a limit explains, written as the limit itself, are bounds; it is said once.

    Args:
        told: All values.
        fit: Fits the surrogate to some of them.
        fits: The last results, by which it is known what has been said.
        key: What these depend on besides.
    """
    heaps = limits_among(told, fit)
    for heap in heaps:
        fits.get_small(("heap", key, heap.sign, heap.limit), partial(warn_of_heap, heap, len(told.values)))
    return with_bounds(told, heaps) if heaps else told


def limits_among(told: Observations, fit: Callable[[Observations], FittedSurrogate]) -> list[Heap]:
    """The heaps that a limit explains better than values that happen to coincide, or a sensor that is stuck.

    Args:
        told: All values.
        fit: Fits the surrogate to some of them.
    """
    heaps = find_heaps(told)
    if not heaps:
        return []
    left_out = {told.numbers[i] for heap in heaps for i in heap.rows}
    base = fit(told.without(left_out))
    return [heap for heap in heaps if _is_limit(told, heap, base)]


def warn_of_heap(heap: Heap, num_values: int) -> None:
    """Say that values are taken for bounds, and how such values are told."""
    end, kind, bound = ("smallest", "at most", "Below") if heap.sign == "<" else ("largest", "at least", "Above")
    heaped = f"{len(heap.rows)} of {num_values} values are {heap.limit!r}, the {end} of all"
    advice = f"tell such values as rb.{bound}({heap.limit!r}), or include those that were measured as they are"
    warn(
        f"{heaped}: the surrogate takes them for {kind} that, as at the limit of an instrument; {advice}",
        NumericsWarning,
    )


def _is_limit(told: Observations, heap: Heap, base: FittedSurrogate) -> bool:
    """Return whether a heap is better explained by a limit, given the surrogate of the others."""
    of_heap = with_bounds(told, [heap]).take(heap.rows)
    X = base.encoded(of_heap.X)
    m, C = joint_prediction(base.model, X)
    bounds = bound_rows(of_heap, base.units, base.observations.values, 0.0).bounds(
        noise_variances(base.model, X).sqrt().numpy()
    )
    as_stuck = log_probability_of_stuck_sensor(len(heap.rows), len(told.values))
    if highest_log_probability(m, C, bounds) <= as_stuck + CONVINCING:
        return False
    as_values = log_probability_of_values(m, C, bounds, base.units.sd_to_model(_step(told)))
    as_limit = pseudo_values(m, C, bounds).L
    return as_limit > max(as_values, as_stuck) + CONVINCING


def _step(told: Observations) -> float:
    """The step in which values are written: a power of ten.

    Example:
        >>> _step(Observations((0, 1), ((0.0,), (1.0,)), (8.4, 8.25), None))
        0.01
    """
    return 10.0 ** min(_exponent(float(value)) for value in told.values)


def _exponent(value: float) -> int:
    """The place of a number's last digit."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0
