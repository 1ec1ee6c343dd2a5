"""The labels of the sources that measured values, as the mathematics has them."""

from collections.abc import Sequence

import numpy as np

from robustbo.numerics.sources.labels import SourceLabels
from robustbo.trials.history import History
from robustbo.trials.tree import Trials


def source_labels(history: History | Trials, rows: Sequence[int]) -> SourceLabels | None:
    """The sources of measured values, and the order in which they were told; None where nobody told a source.

    Args:
        history: All trials.
        rows: The numbers of the trials, in the order of the rows.

    Example:
        >>> told = {"event": "tell", "params": {"x": 0.5}, "value": 1.0, "sd": None}
        >>> labels = [{"reactor": "R3"}, {}, {"reactor": "R1", "plate": "7"}]
        >>> history = History().apply_all(told | {"trial": i, "source": source} for i, source in enumerate(labels))
        >>> result = source_labels(history, [2, 1, 0])
        >>> result.names, result.levels, result.codes.tolist(), result.order.tolist()
        (('plate', 'reactor'), (('7',), ('R1', 'R3')), [[0, 0], [-1, -1], [-1, 1]], [2.0, 1.0, 0.0])
    """
    trials = [history[number] for number in rows]
    if not any(trial.sources for trial in trials):
        return None
    kinds = tuple(sorted({kind for trial in trials for kind in trial.sources}))
    levels = tuple(tuple(sorted({t.sources[kind] for t in trials if kind in t.sources})) for kind in kinds)
    places = [{level: place for place, level in enumerate(of_kind)} for of_kind in levels]
    codes = [
        [at.get(trial.sources.get(kind, ""), -1) for kind, at in zip(kinds, places, strict=True)] for trial in trials
    ]
    order = [float(trial.number if trial.order is None else trial.order) for trial in trials]
    return SourceLabels(kinds, levels, np.array(codes, dtype=int).reshape(len(trials), len(kinds)), np.array(order))
