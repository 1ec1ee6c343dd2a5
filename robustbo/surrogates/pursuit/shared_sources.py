"""Errors of sources that several outcomes share: what is found in one, once the others have said what they know."""

import math
from collections.abc import Mapping, Sequence

from robustbo.numerics.sources.atoms import Key, block_effects, timelines
from robustbo.numerics.sources.labels import SourceLabels
from robustbo.numerics.sources.search import PROMISING
from robustbo.numerics.sources.shared import shifts_of
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.pursuit.sources import AtomFinding, SourceFindings, find_sources

RAISED = math.log(2)  # of a prior probability, from which on an atom that did not join is looked at again


def weigh_others(
    model: RelevancePursuitGP,
    labels: SourceLabels,
    blocks: frozenset[str],
    findings: SourceFindings,
    evidence: Sequence[Mapping[Key, float]],
) -> SourceFindings:
    """The findings in an outcome by the evidence of others, too.

    It is looked for again only where what they say may change which atoms join; else their odds alone change.

    Args:
        model, labels, blocks: As in `find_sources`.
        findings: What is found in it alone.
        evidence: Log Bayes factors of atoms in each of the other outcomes.
    """
    lines, effects = list(timelines(labels)), block_effects(labels, blocks)
    shifts = shifts_of(lines, effects, evidence)
    priors = {atom.full_key: atom.log_prior for line in lines for atom in line.atoms()}
    priors |= {atom.full_key: atom.log_prior for atom in effects}
    if _may_change(findings, shifts, priors):
        return find_sources(model, labels, blocks, shifts=shifts)
    believed, doubtful = (
        tuple(_shift_odds(f, shifts) for f in part) for part in (findings.believed, findings.doubtful)
    )
    return findings._replace(believed=believed, doubtful=doubtful)


def _may_change(findings: SourceFindings, shifts: Mapping[Key, float], priors: Mapping[Key, float]) -> bool:
    """Return whether other atoms may join: one that did no longer does, or another of its source, or another one."""
    scores = {key: log_factor + priors[key] + shifts[key] for key, log_factor in findings.log_factors.items()}
    believed = {finding.atom.key[:2]: scores[finding.atom.full_key] for finding in findings.believed}
    if any(score <= 0 for score in believed.values()):
        return True
    return any(
        score > believed[key[:2]] if key[:2] in believed else score > PROMISING and shifts[key] > RAISED
        for key, score in scores.items()
    )


def _shift_odds(finding: AtomFinding, shifts: Mapping[Key, float]) -> AtomFinding:
    """A finding with its odds by the changed prior probability; an atom that inputs tell keeps those that it has."""
    shift = shifts[finding.atom.full_key] if finding.is_distinguishable else 0.0
    return finding._replace(atom=finding.atom.shift_prior(shifts), log_odds=finding.log_odds + shift)
