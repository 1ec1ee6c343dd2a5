"""The labels of the sources that measured values, as the mathematics has them."""

from collections.abc import Collection, Sequence

import numpy as np

from robustbo.numerics.sources.labels import SourceLabels
from robustbo.trials.sources import COMPUTER
from robustbo.trials.times import hours_of
from robustbo.trials.trial import Trial


def source_labels(
    trials: Sequence[Trial], rows: Sequence[int], without: Collection[str] = frozenset()
) -> SourceLabels | None:
    """The sources of measured values, and the times of these; None where nobody told a source.

    Times are hours where it was told when values were measured, and else places in the order of telling.

    Which computer measured, where that was recorded without being told, is a source only where there are several.

    Args:
        trials: All trials.
        rows: The numbers of the trials, in the order of the rows.
        without: Kinds of source of which no error is looked for.

    Example:
        >>> labels = [{"reactor": "R3"}, {}, {"reactor": "R1", "plate": "7"}]
        >>> trials = [Trial(i, {"x": 0.5}, "told", 1.0, sources=source, order=i) for i, source in enumerate(labels)]
        >>> result = source_labels(trials, [2, 1, 0])
        >>> result.names, result.levels, result.codes.tolist(), result.order.tolist()
        (('plate', 'reactor'), (('7',), ('R1', 'R3')), [[0, 0], [-1, -1], [-1, 1]], [2.0, 1.0, 0.0])
    """
    measured = [trials[number] for number in rows]
    passed_over = constant_kinds(measured) | {*without}
    kinds = tuple(sorted({kind for trial in measured for kind in trial.sources} - passed_over))
    if not kinds:
        return None
    levels = tuple(tuple(sorted({t.sources[kind] for t in measured if kind in t.sources})) for kind in kinds)
    places = [{level: place for place, level in enumerate(of_kind)} for of_kind in levels]
    codes = [
        [at.get(trial.sources.get(kind, ""), -1) for kind, at in zip(kinds, places, strict=True)] for trial in measured
    ]
    order = hours_of(measured) or [float(trial.number if trial.order is None else trial.order) for trial in measured]
    return SourceLabels(kinds, levels, np.array(codes, dtype=int).reshape(len(measured), len(kinds)), np.array(order))


def constant_kinds(measured: Sequence[Trial]) -> set[str]:
    """The kinds of source that tell nothing: the computer, where it is the same for all values."""
    return {COMPUTER} if len({trial.sources.get(COMPUTER) for trial in measured}) == 1 else set()
