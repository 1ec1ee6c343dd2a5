"""Errors that several outcomes of one source share: what the other outcomes say of an atom, as a change of its prior.

A reactor that reads too hot spoils yield and purity alike; a burette spoils the one that it measures. So outcomes err
together with probability `TOGETHER`: then a source has at most one atom for all of them, of which each outcome has its
part with probability `PART`, of a size of its own; else each has its own.

Notation (no batch dimensions):
    p  m       prior probabilities of the atoms of one source, or of everything
    B  o x m   Bayes factors of these in the other outcomes
    M  m       likelihood of them in the other outcomes, where they are the source's

References:
    docs/equations.md section 20.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.sources.atoms import Atom, Key, Timeline
from robustbo.numerics.sources.candidates import Candidate, all_candidates, candidates_like
from robustbo.numerics.sources.place import Problem
from robustbo.numerics.sources.search import Rest, State, place_without

TOGETHER = 0.5  # probability that outcomes err together: as likely as not
PART = 0.5  # probability that an error of a source is in an outcome, where they do
LARGEST = 300.0  # nats of a Bayes factor: more is certainty, and the product of several is finite


def log_shifts(log_prior: Array, log_factors: Sequence[Array]) -> Array:
    """The logarithm of the factors by which other outcomes change the prior probabilities of a source's atoms.

    Args:
        log_prior: ``m`` log prior probabilities, of a sum of at most `PART`.
        log_factors: For each other outcome ``m`` log Bayes factors; 0 where it says nothing of an atom.
    """
    p, B = np.exp(log_prior), np.exp(np.minimum(np.asarray(log_factors), LARGEST / max(len(log_factors), 1)))
    M = (1 - PART + PART * B).prod(0)
    together = 1 + (p / PART) @ (M - 1)  # eq. 20.11
    apart = (1 + (B - 1) @ p).prod()
    share = TOGETHER * M + (1 - TOGETHER) * apart
    return np.log(share) - np.log(TOGETHER * together + (1 - TOGETHER) * apart)  # eq. 20.12


def shifts_of(
    lines: Sequence[Timeline], blocks: Sequence[Atom], evidence: Sequence[Mapping[Key, float]]
) -> dict[Key, float]:
    """The changes of the log prior probability of all atoms by the log Bayes factors that other outcomes have."""
    shifts: dict[Key, float] = {}
    for atoms in (*(line.atoms() for line in lines), *([block] for block in blocks)):
        keys = [atom.full_key for atom in atoms]
        log_prior = np.array([atom.log_prior for atom in atoms])
        log_factors = [np.array([other.get(key, 0.0) for key in keys]) for other in evidence]
        shifts |= dict(zip(keys, log_shifts(log_prior, log_factors).tolist(), strict=True))
    return shifts


def log_factors_of(problem: Problem, state: State, rest: Rest) -> dict[Key, float]:
    """The log Bayes factors of all atoms that inputs do not tell, for the other outcomes; see `search_atoms`.

    Of a source that is believed to be in error they are those beside the other atoms of the state alone.
    """
    log_factors: dict[Key, float] = {}
    for (atom, log_factor), place in zip(rest.candidates, rest.places, strict=True):
        if problem.is_told_apart(place.level.fit, atom.matrix(problem.n)):
            log_factors |= _at(log_factor, atom, candidates_like(place.precision, problem.lines, atom))
    for index, (atom, gain) in enumerate(zip(state.atoms, state.gains, strict=True)):
        place = place_without(problem, state, index)
        lines = [line for line in problem.lines if (line.source, line.level) == atom.key[:2]]
        alike = all_candidates(place.precision, lines, [atom] if atom.kind == "block" else [])
        log_factors |= _at(gain - atom.log_prior, atom, alike)
    return log_factors


def _at(log_factor: float, atom: Atom, candidates: Sequence[Candidate]) -> dict[Key, float]:
    """Log Bayes factors of atoms, of which one is known, at a place."""
    more = log_factor - next(c.log_factor for c in candidates if c.atom.full_key == atom.full_key)
    return {c.atom.full_key: c.log_factor + more for c in candidates}
