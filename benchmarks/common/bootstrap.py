"""Means with intervals: cases are fixed and replications are drawn, the same for all methods (a paired bootstrap)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd


class Resampled(NamedTuple):
    """The mean of each column, each case counting once, and the means of resampled replications, a row each."""

    mean: pd.Series
    resamples: pd.DataFrame

    @property
    def low(self) -> pd.Series:
        """Lower ends of 95 % intervals."""
        return self.resamples.quantile(0.025)

    @property
    def high(self) -> pd.Series:
        """Upper ends of 95 % intervals."""
        return self.resamples.quantile(0.975)


def bootstrap(wide: pd.DataFrame, case: Sequence[str], num_resamples: int, seed: int = 0) -> Resampled:
    """Means and resampled means of a table; these are NaN where no case has two replications.

    Args:
        wide: A case and replication a row, a method a column.
        case: The levels of its index that say the case.
        num_resamples: How many resamples are drawn.
        seed: Of the resampling.
    """
    generator = np.random.default_rng(seed)
    groups = [group.to_numpy() for _, group in wide.groupby([*case])]
    mean = pd.Series(np.mean([group.mean(axis=0) for group in groups], axis=0), wide.columns)
    resamples = np.zeros((num_resamples, len(wide.columns)))
    for group in groups:
        indices = generator.integers(len(group), size=(num_resamples, len(group)))
        resamples += group[indices].mean(axis=1) / len(groups)
    if max(map(len, groups)) == 1:
        resamples[:] = np.nan
    return Resampled(mean, pd.DataFrame(resamples, columns=wide.columns))
