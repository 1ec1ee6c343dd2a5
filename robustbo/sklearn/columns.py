"""Beliefs about each candidate, as columns of ``cv_results_``."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.ma import MaskedArray

from robustbo.errors import FitError
from robustbo.optimizer import Optimizer
from robustbo.sklearn.evaluation import EvaluatedCandidate


def columns(
    optimizer: Optimizer | None, candidates: Sequence[EvaluatedCandidate], metric: str | None, num_splits: int
) -> dict[str, Any]:
    """One entry a candidate each.

    Args:
        optimizer: It has been told of all of them; None where there is one, of which it need not be asked.
        candidates: The candidates.
        metric: The name of the metric that was optimized; None for the only one.
        num_splits: How many splits there are.
    """
    beliefs = _measured_scores(candidates, metric) if optimizer is None else _beliefs(optimizer, candidates)
    return _fates(optimizer, candidates, metric, num_splits) | _columns_of(beliefs, metric or "score")


def _fates(
    optimizer: Optimizer | None, candidates: Sequence[EvaluatedCandidate], metric: str | None, num_splits: int
) -> dict[str, Any]:
    """Columns that say which candidates failed, why, and which replicate others."""
    place = {candidate.trial.number: index for index, candidate in enumerate(candidates)}
    failed = np.array([candidate.num_failed(metric, num_splits) for candidate in candidates])
    failures = [] if optimizer is None else optimizer.failures()
    looks = {failure.trial.number: failure.looks_like for failure in failures}
    first = [place.get(-1 if candidate.trial.repeats is None else candidate.trial.repeats) for candidate in candidates]
    return {
        "is_failed": failed > 0,
        "n_failed_splits": failed,
        "failure_looks_like": _masked_array([looks.get(candidate.trial.number) for candidate in candidates], object),
        "repeats": _masked_array(first, int),
    }


class _Beliefs(NamedTuple):
    """Beliefs about each score, an entry a candidate: NaN where it failed, or where no surrogate can be fitted."""

    is_outlier: Any
    expected: Any
    expected_sd: Any
    evidence: Any
    mean: Any
    sd: Any
    best: int  # the place of the best candidate


def _columns_of(beliefs: _Beliefs, name: str) -> dict[str, Any]:
    return {
        "is_outlier": beliefs.is_outlier,
        f"expected_test_{name}": beliefs.expected,
        f"std_expected_test_{name}": beliefs.expected_sd,
        f"evidence_test_{name}": beliefs.evidence,
        f"believed_test_{name}": beliefs.mean,
        f"std_believed_test_{name}": beliefs.sd,
        f"rank_believed_test_{name}": _ranks(beliefs.mean, beliefs.is_outlier, beliefs.best),
    }


def _measured_scores(candidates: Sequence[EvaluatedCandidate], metric: str | None) -> _Beliefs:
    """The measured scores, for candidates of which nothing is learned."""
    unknown = np.full(len(candidates), math.nan)
    mean = np.array([candidate.mean(metric) for candidate in candidates])
    return _Beliefs(unknown > 0, unknown, unknown, unknown, mean, unknown, int(np.argmax(mean)))


def _beliefs(optimizer: Optimizer, candidates: Sequence[EvaluatedCandidate]) -> _Beliefs:
    """The model's beliefs about each score."""
    numbers = [candidate.trial.number for candidate in candidates]
    told = [n for n in numbers if optimizer.history[n].state == "told"]
    believed: dict[int, tuple[float, float]] = {}
    judged: dict[int, tuple[float, float, float]] = {}
    flagged: set[int] = set()
    try:
        outliers = optimizer.outliers()
        believed = {n: optimizer.predict(optimizer.history[n].params)[:2] for n in told}
        judged = {o.trial.number: (o.expected, o.sd, o.evidence) for o in outliers}
        flagged = {o.trial.number for o in outliers if o.flagged}
    except FitError:
        believed = {n: (optimizer.history[n].measured, math.nan) for n in told}
    expected, expected_sd, evidence = np.array([judged.get(n, (math.nan,) * 3) for n in numbers]).T
    mean, sd = np.array([believed.get(n, (math.nan,) * 2) for n in numbers]).T
    is_outlier = np.array([n in flagged for n in numbers])
    best = optimizer.best().trial.point  # of which another measurement than the first may be the one that is believed
    at_best = [n for n in told if optimizer.history[n].point == best]
    place = numbers.index(min(at_best, key=lambda n: n in flagged))
    return _Beliefs(is_outlier, expected, expected_sd, evidence, mean, sd, place)


def _ranks(mean: Any, is_outlier: Any, best: int) -> Any:
    """Ranks from 1: the best candidate, the others by their expected scores, then outliers, then failed ones."""
    is_other = np.arange(len(mean)) != best
    order = np.lexsort((np.arange(len(mean)), -mean, is_outlier, np.isnan(mean), is_other))
    ranks = np.empty(len(mean), dtype=np.int32)
    ranks[order] = np.arange(1, len(mean) + 1)
    return ranks


def _masked_array(values: Sequence[Any], dtype: Any) -> Any:
    """An array that is masked where there is no value, as scikit-learn's columns of parameters are."""
    is_missing = [value is None for value in values]
    filled = [(None if dtype is object else -1) if value is None else value for value in values]
    return MaskedArray(np.array(filled, dtype=dtype), mask=is_missing)
