"""Candidates: all atoms there are, and what speaks for each at held hyperparameters.

References:
    docs/equations.md section 20.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robustbo.numerics.sources.atoms import Atom, Timeline
from robustbo.numerics.sources.evidence import (
    Precision,
    log_bayes_factors,
    sizes_of,
    statistics,
    step_statistics,
)


class Candidate(NamedTuple):
    """An atom and what speaks for it.

    Attributes:
        atom: The atom.
        log_factor: Log Bayes factor.
    """

    atom: Atom
    log_factor: float

    @property
    def score(self) -> float:
        """Log posterior odds against nothing, the rest being as it is."""
        return self.log_factor + self.atom.log_prior


def candidates(precision: Precision, line: Timeline) -> list[Candidate]:
    """All atoms of one timeline, but those of everything that are the error of one source as well."""
    n, drifts = len(precision.al), line.drifts()
    t, s = step_statistics(precision, line.rows)
    log_factors = log_bayes_factors(t, s).tolist()
    pairs = [(step, log_factors[place]) for place, step in line.steps().items()]
    for atom in line.constant():
        is_off = atom.kind == "offset"
        pairs.append((atom, log_factors[0] if is_off else sizes_of(precision, atom.matrix(n)).log_factor))
    if drifts:
        A = np.concatenate([drift.matrix(n) for drift in drifts], axis=1)
        pairs += zip(drifts, log_bayes_factors(*statistics(precision, A)).tolist(), strict=True)
    return [Candidate(*pair) for pair in pairs]


def all_candidates(precision: Precision, lines: Sequence[Timeline], blocks: Sequence[Atom]) -> list[Candidate]:
    """All atoms there are."""
    n = len(precision.al)
    of_blocks = [Candidate(atom, sizes_of(precision, atom.matrix(n)).log_factor) for atom in blocks]
    return [candidate for line in lines for candidate in candidates(precision, line)] + of_blocks


def candidates_like(precision: Precision, lines: Sequence[Timeline], atom: Atom) -> list[Candidate]:
    """The atoms that differ from one in their beginning alone, itself among them."""
    own = [line for line in lines if (line.source, line.level) == atom.key[:2]]
    blocks = [atom] if atom.kind == "block" else []
    return [c for c in all_candidates(precision, own, blocks) if c.atom.key == atom.key]
