"""Patterns of the flagged values: many, together in time, in place or by value, which single errors do not explain.

Errors of single measurements are few, and strike at random. Where that is improbable (`RARE`), the model of the values
is what is wrong: the noise varies, an instrument has moved, values are limited, or a parameter is missing.

Notation:
    n, k    numbers of values, and of those that are flagged
    x       ... n   booleans: which are flagged, in the order of their trials

References:
    Kulldorff (1997), A spatial scan statistic (the likeliest stretch of time); Moran (1948), The interpretation of
    statistical maps (join counts); Mann and Whitney (1947), On a test of whether one of two random variables is
    stochastically larger than the other.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from robustbo.lazy import Module
from robustbo.loop.belief.judge import Outlier
from robustbo.rounding import format_number

if TYPE_CHECKING:
    from scipy import stats
else:
    stats = Module("scipy.stats")

RARE = 1e-3  # probability by chance below which a pattern is said
CLEAR = 6.0  # standard deviations beyond which no more permutations are drawn
FEWEST = 5  # flagged values below which none is
HEAP = 0.05  # share of the values that are the smallest or the largest, from which on that looks like a limit
DRAWS = (199, 800)  # permutations, the latter where none of the former has as many; if none at all: 1 in 1,000
NEVER = 0.05  # probability below which a stretch without flags says that it has ended

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Kind = Literal["limit", "time", "place", "level", "many"]


class FlagPattern(NamedTuple):
    """A pattern of the flagged values, with what it may mean and what to do.

    Attributes:
        kind: Which: values at a limit, flags together in time, in place, by what is expected, or too many.
        text: A sentence.
        probability: That of a pattern as marked by chance; of a limit, that all flags are on one side.
        outcome: Which of several outcomes; None where there is one.
    """

    kind: Kind
    text: str
    probability: float
    outcome: str | None = None

    def __str__(self) -> str:
        return self.text if self.outcome is None else f"{self.outcome}: {self.text}"


def flag_patterns(outliers: Sequence[Outlier], rows: Sequence[Sequence[float]], rate: float) -> list[FlagPattern]:
    """The patterns of the flagged values of one outcome.

    Args:
        outliers: The reports on its values, in the order of their trials.
        rows: The unit-cube row of each.
        rate: How often values are taken to be wrong before anything is known, in (0, 1).
    """
    x = np.array([report.flagged for report in outliers], dtype=bool)
    if x.sum() < FEWEST:
        return []
    X = np.array(rows, dtype=float).reshape(len(x), -1)
    _, first = np.unique(X, axis=0, return_index=True)  # replicates of a doubtful value follow it, and are at its point
    first.sort()
    patterns = (
        _limit(outliers, x),
        _time([outliers[i].trial.number for i in first], x[first]),
        _place(x[first], X[first]),
        _level(outliers, x),
        _many(x, rate),
    )
    return [pattern._replace(outcome=outliers[0].outcome) for pattern in patterns if pattern is not None]


def _many(x: Flags, rate: float) -> FlagPattern | None:
    n, k = len(x), int(x.sum())
    p = float(stats.binom.sf(k - 1, n, rate))
    if p >= RARE:
        return None
    text = (
        f"{k} of {n} values are flagged, where {rate * n:.2g} are expected to be wrong: the noise may have long tails "
        'or vary, or a parameter that matters may be missing; try surrogate="student-t", tell the sd of values, and '
        "measure some of these points again"
    )
    return FlagPattern("many", text, p)


def _time(numbers: Sequence[int], x: Flags) -> FlagPattern | None:
    if x.sum() < FEWEST or x.all():
        return None
    begin, end = likeliest_stretch(x)
    p = probability_of_stretch(x, begin, end)
    if p >= RARE:
        return None
    inside, width, k = int(x[begin:end].sum()), end - begin, int(x.sum())
    goes_on = (1 - inside / width) ** (len(x) - end) > NEVER
    stretch = f"from trial {numbers[begin]} on" if goes_on else f"from trial {numbers[begin]} to {numbers[end - 1]}"
    text = (
        f"{inside} of the {k} flagged values are among the {width} measured {stretch}, which chance does with "
        f"probability {p:.1g}: a step in time or a drift of the instrument, or more noise then; look up what changed "
        f"at trial {numbers[begin]}, and measure an earlier point again"
    )
    return FlagPattern("time", text, p)


def _place(x: Flags, X: Floats) -> FlagPattern | None:
    if x.sum() < FEWEST or x.all():
        return None
    nearest = cKDTree(X).query(X, k=2)[1]
    other = np.where(nearest[:, 0] == np.arange(len(x)), nearest[:, 1], nearest[:, 0])
    joins, p = probability_of_joins(x, other)
    if p > RARE:
        return None
    k = int(x.sum())
    low, high = X[x].min(0), X[x].max(0)
    share = float(((low <= X) & (high >= X)).all(-1).mean())
    text = (
        f"of {joins} of the {k} flagged points the nearest other point is flagged too, where "
        f"{k * (k - 1) / (len(x) - 1):.2g} are expected by chance (they lie in a part with {share:.0%} of the points): "
        "the objective may have a cliff or more noise there, or depend on a parameter that is missing; measure some of "
        "these points again"
    )
    return FlagPattern("place", text, p)


def _level(outliers: Sequence[Outlier], x: Flags) -> FlagPattern | None:
    expected = np.array([report.expected for report in outliers])
    if x.all():
        return None
    p = float(stats.mannwhitneyu(expected[x], expected[~x], method="asymptotic").pvalue)
    if not p < RARE:  # NaN where all are the same
        return None
    is_above = np.median(expected[x]) > np.median(expected[~x])
    level = float(np.quantile(expected[x], 0.2 if is_above else 0.8))
    beyond = expected >= level if is_above else expected <= level
    side = "or more" if is_above else "or less"
    text = (
        f"{int((x & beyond).sum())} of the {int(x.sum())} flagged values are among the {int(beyond.sum())} of {len(x)} "
        f"where {format_number(level, 3)} {side} is expected, which chance does with probability {p:.1g}: the noise "
        "may grow with the value, or the values be limited there; tell the sd of values, or their logarithm"
    )
    return FlagPattern("level", text, p)


def _limit(outliers: Sequence[Outlier], x: Flags) -> FlagPattern | None:
    values, n, k = [report.value for report in outliers], len(outliers), int(x.sum())
    above = [report.value > report.expected for report in outliers if report.flagged]
    if sum(above) not in (0, k):
        return None
    counts = Counter(values)
    limit = max(min(counts), max(counts), key=counts.__getitem__)
    if counts[limit] < max(FEWEST, HEAP * n) or len(counts) < 3:
        return None
    extreme = "smallest" if limit == min(counts) else "largest"
    name = "a detection limit" if extreme == "smallest" else "saturation"
    text = (
        f"{counts[limit]} of {n} values are {format_number(limit, 4)}, the {extreme} of all, and all {k} flagged "
        f"values are {'above' if above[0] else 'below'} what is expected: the heap looks like {name}; tell such values "
        "as bounds, not as numbers"
    )
    return FlagPattern("limit", text, 0.5 ** (k - 1))


def probability_of_stretch(x: Flags, begin: int, end: int) -> float:
    """Probability, at most, that random flags lie as densely from a flag on, whichever it is and however many.

    Bonferroni's bound over the k flags that it may begin with and the k that it may end with.
    """
    n, k, inside = len(x), int(x.sum()), int(x[begin:end].sum())
    return min(1.0, k * k * float(stats.hypergeom.sf(inside - 2, n - 1, k - 1, end - begin - 1)))


def likeliest_stretch(x: Flags) -> tuple[int, int]:
    """Begin and end (exclusive) of the stretch in which the share of flags differs most from that outside."""
    at, n, k = np.flatnonzero(x), len(x), int(x.sum())
    i, j = np.triu_indices(k)
    inside, width = (j - i + 1).astype(np.float64), (at[j] - at[i] + 1).astype(np.float64)
    gain = _log_likelihood(inside, width) + _log_likelihood(k - inside, n - width)
    gain = np.where(inside * (n - width) > (k - inside) * width, gain, -math.inf)
    best = int(gain.argmax())
    return int(at[i[best]]), int(at[j[best]]) + 1


def _log_likelihood(flags: Floats, count: Floats) -> Floats:
    """The largest log-likelihood of flags among some values, over their probability."""
    share = np.divide(flags, count, out=np.zeros_like(flags), where=count > 0)
    log = [np.log(np.where(p > 0, p, 1.0)) for p in (share, 1 - share)]
    return flags * log[0] + (count - flags) * log[1]


def probability_of_joins(x: Flags, nearest: NDArray[np.intp]) -> tuple[int, float]:
    """The number of flagged points whose nearest other one is flagged, and how often random flags make as many.

    It is `RARE` at the least.
    """
    joins, k, n = int((x & x[nearest]).sum()), int(x.sum()), len(x)
    mean = k * (k - 1) / (n - 1)
    if joins <= mean + 2 * math.sqrt(mean):  # no permutation test would find that rare
        return joins, 1.0
    random, as_many, draws = np.random.default_rng(0), 0, 0
    for batch in DRAWS:
        keys = random.random((batch, n), dtype=np.float32)
        flags = keys <= np.partition(keys, k - 1, axis=-1)[:, k - 1 : k]
        counts = (flags & flags[:, nearest]).sum(-1)
        as_many, draws = as_many + int((counts >= joins).sum()), draws + batch
        if as_many or joins > counts.mean() + CLEAR * counts.std():
            break
    return joins, RARE if as_many == 0 else (1 + as_many) / (1 + draws)
