"""The range that a parameter of a study is asked in, where trials had different ones.

A range that the last trials agree on is that of today: the others' values are modelled where they are, outside it too.
A range that varies from trial to trial is asked in as a whole, over the union.
"""

from collections.abc import Iterable, Sequence

from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial

LAST = 3  # trials that have the same range where it was changed for good

Distributions = dict[str, BaseDistribution]


def ranges_of(trials: Iterable[FrozenTrial]) -> Distributions:
    """The distribution of each parameter, except for single values, and for those of which no two are of one kind."""
    by_name: dict[str, list[BaseDistribution]] = {}
    for trial in trials:
        for name, distribution in trial.distributions.items():
            by_name.setdefault(name, []).append(distribution)
    ranges = {name: range_of(distributions) for name, distributions in by_name.items()}
    return {name: distribution for name, distribution in ranges.items() if distribution is not None}


def range_of(distributions: Sequence[BaseDistribution]) -> BaseDistribution | None:
    """The distribution that stands for those of all trials, in order; None where none does.

    Example:
        >>> wide, narrow = FloatDistribution(0, 4), FloatDistribution(1, 2)
        >>> range_of([wide, narrow, narrow, narrow]).high, range_of([wide, narrow, wide, narrow]).high
        (2.0, 4.0)
    """
    several = [distribution for distribution in distributions if not distribution.single()]
    last = several[-LAST:]
    if not last:
        return None
    if all(distribution == last[0] for distribution in last):
        return last[0] if _are_of_kind(last[0], several) else None
    return _union(several)


def _are_of_kind(first: BaseDistribution, more: Iterable[BaseDistribution]) -> bool:
    """Return whether distributions are ranges of the same kind as the first, or the very same choice."""
    if isinstance(first, FloatDistribution | IntDistribution):
        return all(type(other) is type(first) and other.log == first.log for other in more)
    return all(other == first for other in more)


def _union(distributions: Sequence[BaseDistribution]) -> BaseDistribution | None:
    """The smallest range that has all of these; None where they are of different kinds."""
    first = distributions[0]
    if not isinstance(first, FloatDistribution | IntDistribution) or not _are_of_kind(first, distributions):
        return None
    ranges = [d for d in distributions if isinstance(d, FloatDistribution | IntDistribution)]
    low, high = min(d.low for d in ranges), max(d.high for d in ranges)
    step = first.step if len({d.step for d in ranges}) == 1 else None
    is_even = step is None or all(abs((d.low - low) / step - round((d.low - low) / step)) < 1e-6 for d in ranges)
    if isinstance(first, IntDistribution):
        return IntDistribution(int(low), int(high), first.log, int(step) if step is not None and is_even else 1)
    return FloatDistribution(low, high, first.log, step if is_even else None)
