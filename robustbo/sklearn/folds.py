"""Folds as sources: by how much the scores of each differ from those of the others, and whether one is in error."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robustbo.optimizer import Optimizer

if TYPE_CHECKING:
    from robustbo.view.sources import SourceFrame

FOLD = "fold"  # the kind of source that a split is


def fold_sources(optimizer: Optimizer, results: Mapping[str, Any], metric: str, num_splits: int) -> "SourceFrame":
    """The folds of a search as sources of its scores, which differ as expected; see `robustbo.Study.sources`.

    Args:
        optimizer: That of the search, which has been told of all candidates in the order of the results.
        results: Its ``cv_results_``.
        metric: The name of the metric.
        num_splits: How many splits there are.
    """
    settings = optimizer.settings
    study = Optimizer(settings.space, direction="maximize", seed=settings.seed, blocks=[FOLD])
    scores = np.array([results[f"split{split}_test_{metric}"] for split in range(num_splits)], dtype=float).T
    for trial, of_candidate in zip(optimizer.history, scores, strict=True):
        for split, score in enumerate(of_candidate.tolist()):
            if np.isfinite(score):
                study.tell(trial.params, score, source={FOLD: split})
    return study.sources()
