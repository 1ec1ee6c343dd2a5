"""A check whether measured values say anything yet: where all are equal within noise, the space goes on being filled.

A surrogate of equal values predicts the same everywhere, and is least sure in the corners: what it asks for lies at
the bounds, while what gives another value may lie anywhere. So the next points are space-filling until one differs.
"""

import math
from collections.abc import Sequence

import numpy as np

from robustbo.censored import CensoredValue
from robustbo.loop.observations.table import Data
from robustbo.numerics.gp.signal import log_evidence
from robustbo.numerics.linalg.lapack import Array
from robustbo.trials.trial import Trial

NO_SIGNAL = "no signal yet"  # the reason of a trial at a space-filling point while all values are equal within noise
LOOKED_AT = 200  # values: more that differ by no more than noise have no smooth signal worth a search
WITHIN = 2.0  # standard deviations of what noise alone gives: more is a signal


def has_signal(data: Data, outcomes: Sequence[str] = ()) -> bool:
    """Return whether the values of some outcome differ by more than the noise that was told with them."""
    names: list[str | None] = [*outcomes] or [None]
    by_outcome = ([trial if name is None else trial.of(name) for trial in data.told] for name in names)
    return any(_differ(data, [trial for trial in trials if trial.state == "told"]) for trials in by_outcome)


def _differ(data: Data, told: Sequence[Trial]) -> bool:
    """Return whether values differ: at all, or where their noise is known by more than that."""
    values = [trial.measured for trial in told]
    if len({(value.sign if isinstance(value, CensoredValue) else "", float(value)) for value in values}) < 2:
        return False
    sds = [trial.sd for trial in told if trial.sd]
    if len(sds) < len(values) or any(isinstance(value, CensoredValue) for value in values):
        return True
    y, sd = np.array(values), np.array(sds)
    X = np.array([data.rows[trial.number] for trial in told])
    return differ_by_more(y, sd) or (len(y) <= LOOKED_AT and log_evidence(X, (y - mean_of(y, sd)) / sd) > 0.0)


def differ_by_more(y: Array, sd: Array) -> bool:
    """Return whether values differ by more than noise of these standard deviations explains.

    The statistic is the sum of squared deviations from the weighted mean, in units of the noise, whose mean and
    variance under noise alone are n - 1 and 2 (n - 1).

    References:
        Cochran (1954), The combination of estimates from different experiments; equation (21.1).

    Example:
        >>> noise = np.full(3, 0.1)
        >>> differ_by_more(np.array([0.0, 0.1, -0.1]), noise), differ_by_more(np.array([0.0, 0.5, 1.0]), noise)
        (False, True)
    """
    with np.errstate(all="ignore"):  # of extreme noise, which says nothing either way
        q = float(np.square((y - mean_of(y, sd)) / sd).sum())
    return not q <= len(y) - 1 + WITHIN * math.sqrt(2.0 * (len(y) - 1))  # eq. 21.1


def mean_of(y: Array, sd: Array) -> float:
    """The mean of values, weighted by their noise."""
    return float(np.average(y, weights=np.square(sd.min() / sd)))
