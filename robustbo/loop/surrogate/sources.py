"""The errors of sources among measured values, and the correction of the values by those that are believed.

They are looked for in a fit to all values as they were told; what is believed of them is the same for all that count,
also for those that the fit leaves out.
"""

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robustbo.errors import NumericsWarning, warn
from robustbo.loop.observations.correction import SourceBelief, SourceCorrection
from robustbo.loop.observations.source_labels import source_labels
from robustbo.loop.observations.table import Data, Observations
from robustbo.loop.observations.units import typical_distance
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.loop.surrogate.warm_start import WarmStart
from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.sources.atoms import Atom, matrix_among
from robustbo.numerics.sources.errors import SourceError
from robustbo.numerics.sources.labels import SourceLabels
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.pursuit.sources import AtomFinding, SourceFindings, errors_in_rows, find_sources
from robustbo.trials.sources import COMPUTER

NO_SOURCES = "takes no sources: their errors are not looked for; relevance-pursuit, the default, does"
LARGEST = 700.0  # log odds of which a probability is computed

Flags = NDArray[np.bool_]


def judge_sources(
    data: Data,
    among: Observations,
    fit: Callable[[Observations], FittedSurrogate],
    fits: FitCache,
    *,
    surrogate: str,
    blocks: Sequence[str],
    key: Hashable,
) -> SourceBelief | None:
    """The belief in the sources of all values that count; None where none was told, or the surrogate takes none.

    Args:
        data: All trials.
        among: The observations that the surrogate is fitted to.
        fit: Fits it.
        fits: The last results.
        surrogate: Its name.
        blocks: The kinds of source whose levels may differ.
        key: What the result depends on besides.
    """
    numbers = tuple(trial.number for trial in data.told)
    labels = source_labels(data.trials, numbers, data.auxiliary.kinds)
    if labels is None:
        return None
    labels = _without(labels, numbers, among.vouched | among.bound_numbers)
    fitted = fit(among)
    if not (isinstance(fitted.model, RelevancePursuitGP) and fitted.model.is_named):
        if labels.names != (COMPUTER,):  # which nobody told
            fits.get_small(("no sources", key), lambda: warn(f"{surrogate} {NO_SOURCES}", NumericsWarning))
        return None
    of_labels = labels.names, labels.levels, labels.codes.tobytes(), labels.order.tobytes()

    def make() -> SourceBelief:
        place = {number: row for row, number in enumerate(numbers)}
        rows = np.array([place[number] for number in fitted.observations.numbers])
        of_fit = labels.among(rows)
        findings = find_sources(fitted.model, of_fit, frozenset(blocks))
        return _belief(fitted, findings, of_fit, labels, numbers)

    return fits.get_small(("sources", key, fitted.observations, numbers, of_labels), make)


def _without(labels: SourceLabels, numbers: Sequence[int], cleared: Collection[int]) -> SourceLabels:
    """The labels without those of trials whose values are right by the user's word, or bounds."""
    is_cleared = np.array([number in cleared for number in numbers], dtype=bool)
    return replace(labels, codes=np.where(is_cleared[:, None], -1, labels.codes)) if is_cleared.any() else labels


def _belief(
    fitted: FittedSurrogate,
    findings: SourceFindings,
    of_fit: SourceLabels,
    labels: SourceLabels,
    numbers: tuple[int, ...],
) -> SourceBelief:
    """The belief in the user's units, of all values that count."""
    unit, errors = fitted.units.slope, list[SourceError]()
    doubtful = [finding for finding in findings.doubtful if finding.atom.kind != "block"]  # which is nobody's fault
    matrices = [matrix_among(finding.atom, of_fit, labels) for finding in findings.believed]
    for finding, matrix in zip(findings.believed, matrices, strict=True):
        errors += _source_errors(finding, matrix, unit, of_fit, labels, findings.regional)
    num_believed = len(errors)
    for finding in doubtful:
        matrix = matrix_among(finding.atom, of_fit, labels)
        errors += _source_errors(finding, matrix, unit, of_fit, labels, findings.regional)
    if not findings.believed:
        return SourceBelief(numbers, tuple(errors), None)
    too_high, shared = errors_in_rows(findings.believed, matrices)
    rows = np.flatnonzero((shared != 0).any(-1).numpy()).tolist()
    values, start = fitted.observations, findings.warm_start
    correction = SourceCorrection(
        tuple(numbers[row] for row in rows),
        tuple((unit * too_high[rows]).tolist()),
        tuple(map(tuple, fitted.units.sd_to_user(shared[rows]).tolist())),
        WarmStart(values.numbers, fitted.units, typical_distance(values.values), start),
    )
    return SourceBelief(numbers, tuple(errors), correction, num_believed)


def _source_errors(
    finding: AtomFinding,
    matrix: Array,
    unit: float,
    of_fit: SourceLabels,
    labels: SourceLabels,
    regional: frozenset[tuple[int, int]],
) -> list[SourceError]:
    """The errors that an atom is: one, or of a block effect one a level."""
    atom, sizes, sds = finding.atom, (unit * finding.sizes).tolist(), (abs(unit) * finding.sds).tolist()
    name = labels.names[atom.source] if atom.source >= 0 else ""

    def error(level: int, size: float, sd: float, is_concerned: Flags) -> SourceError:
        return SourceError(
            source=name,
            level=labels.levels[atom.source][level] if level >= 0 else None,
            kind=atom.kind,
            since=_first_row(atom, of_fit, labels),
            error=size,
            sd=sd,
            evidence=finding.log_factor,
            probability=1 / (1 + math.exp(-max(finding.log_odds, -LARGEST))),
            rows=tuple(np.flatnonzero(is_concerned).tolist()),
            distinguishable=finding.is_distinguishable,
            is_regional=(atom.source, level) in regional,
        )

    if atom.kind == "block":
        levels = [int(of_fit.codes[rows[0], atom.source]) for rows in atom.columns]
        concerned = [labels.codes[:, atom.source] == level for level in levels]
        return [error(*of_level) for of_level in zip(levels, sizes, sds, concerned, strict=True)]
    if atom.kind == "broken":
        spread = abs(unit) * finding.spread
        return [error(atom.level, spread, spread / math.sqrt(2 * len(atom.columns)), (matrix != 0).any(-1))]
    return [error(atom.level, sizes[0], sds[0], matrix[:, 0] != 0)]


def _first_row(atom: Atom, of_fit: SourceLabels, labels: SourceLabels) -> int | None:
    """The row, among all labels, at which an atom begins."""
    if atom.since is None:
        return None
    return int(np.argmin(np.abs(labels.order - of_fit.order[atom.since])))
