"""The errors of sources among measured values, and the correction of the values by those that are believed.

They are looked for in a fit to all values as they were told; what is believed of them is the same for all that count,
also for those that the fit leaves out.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustbo.errors import NumericsWarning, warn
from robustbo.loop.observations.correction import SourceBelief, SourceCorrection
from robustbo.loop.observations.shared_sources import OutcomeEvidence, evidence_of, log_factors_at
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
from robustbo.surrogates.pursuit.shared_sources import weigh_others
from robustbo.surrogates.pursuit.sources import AtomFinding, SourceFindings, errors_in_rows, find_sources
from robustbo.trials.sources import COMPUTER

NO_SOURCES = "takes no sources: their errors are not looked for; relevance-pursuit, the default, does"

Flags = NDArray[np.bool_]


class SourceQuestion(NamedTuple):
    """The question which source errs, and all that the answer depends on.

    Attributes:
        data: All trials.
        among: The observations that the surrogate is fitted to.
        fit: Fits it.
        fits: The last results.
        surrogate: Its name.
        blocks: The kinds of source whose levels may differ.
        key: What the answer depends on besides.
    """

    data: Data
    among: Observations
    fit: Callable[[Observations], FittedSurrogate]
    fits: FitCache
    surrogate: str
    blocks: frozenset[str]
    key: Hashable


class _Search(NamedTuple):
    """A search for errors of sources among the values of a fit.

    Attributes:
        fitted: The fit.
        labels: Of all values that count.
        of_fit: Of those of the fit.
        numbers: The trials of all values that count.
        find: What it finds by these values alone.
    """

    fitted: FittedSurrogate
    labels: SourceLabels
    of_fit: SourceLabels
    numbers: tuple[int, ...]
    find: Callable[[], SourceFindings]

    @property
    def key(self) -> Hashable:
        """The values and labels that the search depends on."""
        of_labels = self.labels.names, self.labels.levels, self.labels.codes.tobytes(), self.labels.order.tobytes()
        return self.fitted.observations, self.numbers, of_labels


def judge_sources(question: SourceQuestion) -> SourceBelief | None:
    """The belief in the sources of all values that count; None where none was told, or the surrogate takes none."""
    evidence = question.data.other_outcomes
    search = _search(question, is_one_of_several=bool(evidence))
    if search is None:
        return None

    def make() -> SourceBelief:
        findings, model = search.find(), search.fitted.model
        assert isinstance(model, RelevancePursuitGP)
        if evidence:
            beside = [log_factors_at(of, search.of_fit, search.fitted.observations.numbers) for of in evidence]
            findings = weigh_others(model, search.of_fit, question.blocks, findings, beside)
        return _belief(search.fitted, findings, search.of_fit, search.labels, search.numbers)

    return question.fits.get_small(("sources", question.key, search.key, evidence), make)


def evidence_for_others(question: SourceQuestion) -> OutcomeEvidence:
    """The evidence on sources by the values of one outcome; none where no source was told."""
    search = _search(question, is_one_of_several=True)
    if search is None:
        return ()
    return evidence_of(search.find().log_factors, search.of_fit, search.fitted.observations.numbers)


def _search(question: SourceQuestion, *, is_one_of_several: bool) -> _Search | None:
    """The search for errors by the values of one outcome; None where there is nothing to be searched."""
    data, fits = question.data, question.fits
    numbers = tuple(trial.number for trial in data.told)
    labels = source_labels(data.trials, numbers, data.auxiliary.kinds)
    if labels is None:
        return None
    labels = _without(labels, numbers, question.among.vouched | question.among.bound_numbers)
    fitted = question.fit(question.among)
    model = fitted.model
    if not (isinstance(model, RelevancePursuitGP) and model.is_named):
        if labels.names != (COMPUTER,):  # which nobody told
            text = f"{question.surrogate} {NO_SOURCES}"
            fits.get_small(("no sources", question.key), lambda: warn(text, NumericsWarning))
        return None
    place = {number: row for row, number in enumerate(numbers)}
    of_fit = labels.among(np.array([place[number] for number in fitted.observations.numbers]))
    find = partial(find_sources, model, of_fit, question.blocks, is_one_of_several=is_one_of_several)
    search = _Search(fitted, labels, of_fit, numbers, find)
    if not is_one_of_several:
        return search
    return search._replace(find=lambda: fits.get_small(("findings", question.key, search.key), find))


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
    matrices = [matrix_among(finding.atom, of_fit, labels) for finding in findings.believed]
    for finding, matrix in zip(findings.believed, matrices, strict=True):
        errors += _source_errors(finding, matrix, unit, of_fit, labels, findings.regional)
    num_believed = len(errors)
    for finding in findings.faults:
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
    atom = finding.atom
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
            probability=finding.probability,
            rows=tuple(np.flatnonzero(is_concerned).tolist()),
            distinguishable=finding.is_distinguishable,
            is_regional=(atom.source, level) in regional,
        )

    errors = []
    for level, size, sd in finding.by_level(of_fit.codes[:, atom.source], unit):
        is_of_level = labels.codes[:, atom.source] == level if atom.kind == "block" else (matrix != 0).any(-1)
        errors.append(error(level, size, sd, is_of_level))
    return errors


def _first_row(atom: Atom, of_fit: SourceLabels, labels: SourceLabels) -> int | None:
    """The row, among all labels, at which an atom begins."""
    if atom.since is None:
        return None
    return int(np.argmin(np.abs(labels.order - of_fit.order[atom.since])))
