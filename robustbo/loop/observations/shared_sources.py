"""Evidence on the sources in one outcome, for the others: by the names of sources and the numbers of trials."""

from collections.abc import Mapping, Sequence

from robustbo.numerics.sources.atoms import Key
from robustbo.numerics.sources.errors import Kind
from robustbo.numerics.sources.labels import SourceLabels

NamedKey = tuple[str, str | None, Kind, int | None]  # kind of source, its label, kind of error, trial since which
OutcomeEvidence = tuple[tuple[NamedKey, float], ...]  # log Bayes factors of all errors of sources


def evidence_of(log_factors: Mapping[Key, float], labels: SourceLabels, numbers: Sequence[int]) -> OutcomeEvidence:
    """Log Bayes factors of one outcome for all others.

    Args:
        log_factors: Of atoms of its rows.
        labels: Of these.
        numbers: Their trials.
    """
    return tuple((_name(key, labels, numbers), log_factor) for key, log_factor in log_factors.items())


def log_factors_at(evidence: OutcomeEvidence, labels: SourceLabels, numbers: Sequence[int]) -> dict[Key, float]:
    """Log Bayes factors of another outcome as those of atoms of this one's rows; what this one lacks is left out.

    Args:
        evidence: The other outcome's.
        labels: Of this one's rows.
        numbers: Their trials.
    """
    rows = {number: row for row, number in enumerate(numbers)}
    result: dict[Key, float] = {}
    for (name, label, kind, since), log_factor in evidence:
        source = labels.names.index(name) if name in labels.names else -1
        levels = labels.levels[source] if source >= 0 else ()
        is_known = (source >= 0 or not name) and (label is None or label in levels) and (since is None or since in rows)
        if is_known:
            level = -1 if label is None else levels.index(label)
            result[source, level, kind, None if since is None else rows[since]] = log_factor
    return result


def _name(key: Key, labels: SourceLabels, numbers: Sequence[int]) -> NamedKey:
    source, level, kind, since = key
    name = labels.names[source] if source >= 0 else ""
    return name, labels.levels[source][level] if level >= 0 else None, kind, None if since is None else numbers[since]
