"""Errors of groups of rows, such as batches and instruments: which group is in error, and a fit without that."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray

from robustbo.numerics.sources.labels import SourceLabels
from robustbo.surrogates.common import contract
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.pursuit.sources import AtomFinding, errors_in_rows, find_sources

Array = NDArray[np.float64]

COLUMNS = ["group", "kind", "error", "sd", "since", "probability"]


class GroupedFit(NamedTuple):
    """A fit beside the errors of groups.

    Attributes:
        model: The surrogate, fitted to the values without them.
        errors: ``n`` errors of the values, by how much they are too high.
        table: A row a group, as `RobustGPRegressor.group_errors_`.
    """

    model: Any
    errors: Array
    table: pd.DataFrame


def labels_of(groups: ArrayLike, n: int) -> SourceLabels:
    """The labels of ``n`` rows in their order; rows of None or NaN are of no group.

    Raises:
        ValueError: If there are not as many.
    """
    names = [None if pd.isna(label) else str(label) for label in np.asarray(groups, dtype=object).ravel()]
    if len(names) != n:
        raise ValueError(f"groups must have a label for each of {n} rows, got {len(names)}")
    levels = tuple(sorted({name for name in names if name is not None}))
    codes = np.array([-1 if name is None else levels.index(name) for name in names], dtype=int)
    return SourceLabels(("group",), (levels,), codes[:, None], np.arange(float(n)))


def fit_beside_groups(model: Any, y: Array, labels: SourceLabels, build: Callable[[Array], Any]) -> GroupedFit:
    """A fit to values without the errors of groups that are believed, from a fit to the values as they are.

    Args:
        model: The latter, of relevance pursuit.
        y: ``n`` values.
        labels: Their groups.
        build: A model of other values, not fitted yet.
    """
    findings, n = find_sources(model, labels), len(y)
    rows = [row for finding in (*findings.believed, *findings.faults) for row in _rows(finding, labels)]
    table = pd.DataFrame(sorted(rows, key=lambda row: -row[-1]), columns=COLUMNS).astype({"since": "Int64"})
    if not findings.believed:
        return GroupedFit(model, np.zeros(n), table)
    errors, shared = errors_in_rows(findings.believed, [finding.atom.matrix(n) for finding in findings.believed])
    corrected = build(y - errors)
    corrected.shared_errors = shared
    return GroupedFit(contract.fit(corrected, findings.warm_start, torch.arange(n)), errors, table)


def check_method(model_class: type, name: str) -> None:
    """Check that a surrogate takes groups.

    Raises:
        ValueError: If it does not.
    """
    if not issubclass(model_class, RelevancePursuitGP):
        raise ValueError(f"groups work with the method 'relevance-pursuit' only, got {name!r}; leave groups out")


def _rows(finding: AtomFinding, labels: SourceLabels) -> list[list[Any]]:
    """The rows of an error: one, or of a difference between all groups one each."""
    atom, names = finding.atom, labels.levels[0]
    return [
        [names[level] if level >= 0 else None, atom.kind, size, sd, atom.since, finding.probability]
        for level, size, sd in finding.by_level(labels.codes[:, 0])
    ]
