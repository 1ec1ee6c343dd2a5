"""Search for sources that err: over sets of error atoms and of single wrong values together.

A value may be wrong by itself, or because its source is. So the two are chosen together: where an atom explains the
values that had variances of their own, these lose them, and nothing is paid for twice. The hyperparameters of a fit
that knows of no sources have adapted to their errors; so atoms are looked for also where every source may err, and a
promising one is climbed to. One joins after another, while it is more probable than not; what is climbed to without it
from where it led is its opponent, too, for it is not to be believed for a better climb.

Notation: as in `evidence`; a level is one of relevance pursuit.

References:
    docs/equations.md section 20.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.pursuit.support_fit import Level
from robustbo.numerics.sources.atoms import Atom
from robustbo.numerics.sources.evidence import Candidate, all_candidates
from robustbo.numerics.sources.place import Errors, Place, Problem, clear, place_at, settle

MANY = 256  # observations beyond which hyperparameters are held: they are known well enough
MOST = 4  # atoms at once
CLIMBS = 2  # candidates that are climbed to at a time
PROMISING = -6.0  # nats below no atom from which on one is climbed to
STEPS = 3  # of expanding about an atom's error
CONVERGED = 0.5  # twice the nats between two steps
ANY = 1.0  # prior standard deviation of the errors of all sources, where hyperparameters are looked for


class State(NamedTuple):
    """A set of atoms, and the level of the values that are wrong beside them.

    Attributes:
        atoms: The atoms, in the order in which they joined.
        errors: Of each.
        gains: Log posterior odds of each when it joined.
        level: The level.
    """

    atoms: tuple[Atom, ...]
    errors: tuple[Errors, ...]
    gains: tuple[float, ...]
    level: Level

    def all_errors(self, n: int, without: int | None = None) -> Errors:
        """The errors of all atoms but one."""
        total = Errors(np.zeros(n), np.zeros((n, 0)))
        for i, part in enumerate(self.errors):
            total = total if i == without else total.beside(part)
        return total


class Entry(NamedTuple):
    """An atom at a place.

    Attributes:
        place: Where it is looked at.
        candidate: The atom, and what speaks for it there.
    """

    place: Place
    candidate: Candidate

    @property
    def score(self) -> float:
        """Log posterior density of both together, but for a constant."""
        return self.place.score + self.candidate.score


def search_atoms(problem: Problem, level: Level) -> tuple[State, list[Candidate]]:
    """The likeliest set of atoms, and the best of each key that did not join, with the log odds it then had as factor.

    Args:
        problem: What is searched.
        level: The chosen level of a pursuit that knows of no sources.
    """
    state = State((), (), (), level)
    while True:
        places = _places(problem, state)
        reference = max(place.score for place in places if not place.about.any())
        entries = _best_by_key(problem, state, places)
        promising = [entry for entry in entries if entry.score > reference + PROMISING][:CLIMBS]
        climbed = [_climb(problem, state, entry) for entry in promising]
        best = max(filter(partial(_is_told_apart, problem), climbed), key=lambda e: e.score, default=None)
        if best is not None and best.score > reference:
            reference = max(reference, _without_it(problem, state, best.place).score)
        if best is None or best.score <= reference or len(state.atoms) == MOST:
            rest = sorted([*climbed, *entries[len(promising) :]], key=lambda entry: -entry.score)
            return state, [_with_odds(entry, reference) for entry in rest]
        state = _joined(state, best, best.score - reference)


def _is_told_apart(problem: Problem, entry: Entry) -> bool:
    return problem.is_told_apart(entry.place.level.fit, entry.candidate.atom.matrix(problem.n))


def _with_odds(entry: Entry, reference: float) -> Candidate:
    return entry.candidate._replace(log_factor=entry.score - reference - entry.candidate.atom.log_prior)


def _joined(state: State, entry: Entry, gain: float) -> State:
    """The state with another atom."""
    error = entry.place.error_of(entry.candidate.atom)
    atoms = (*state.atoms, entry.candidate.atom)
    return State(atoms, (*state.errors, error), (*state.gains, gain), entry.place.level)


def _without_it(problem: Problem, state: State, place: Place) -> Place:
    """The state as it is, climbed to from where another atom has led."""
    there, level = state.all_errors(problem.n), place.level
    level = settle(problem, there, level) if problem.n <= MANY else level
    return place_at(problem, there, state.atoms, level)


def _places(problem: Problem, state: State) -> list[Place]:
    """Places where atoms are looked for: as it is, without the added variances of one source, and where all may err."""
    level, there = state.level, state.all_errors(problem.n)
    places = [place_at(problem, there, state.atoms, level)]
    for line in problem.lines if len(level.support) > 1 else ():
        cleared = clear(problem, level, line.rows)
        if line.source >= 0 and len(level.support) - len(cleared.support) > 1:
            places.append(place_at(problem, there, state.atoms, cleared))
    if problem.n <= MANY:
        B = _any_error(problem)
        anything = settle(problem, there.beside(Errors(np.zeros(problem.n), B)), level)
        places.append(place_at(problem, there, state.atoms, anything))
        if problem.model.warp:
            places.append(place_at(problem, there, state.atoms, anything, _likely(places[-1], B)))
    return [place for place in places if math.isfinite(place.score)]


def _any_error(problem: Problem) -> Array:
    """Errors of every source, of either half of its rows, as ``n x k`` numbers."""
    columns = []
    for line in problem.lines:
        half = len(line.rows) // 2
        for rows in (line.rows[:half], line.rows[half:]) if line.source >= 0 else (line.rows[half:],):
            a = np.zeros(problem.n)
            a[rows] = ANY
            columns.append(a)
    return np.stack(columns, axis=-1)


def _likely(place: Place, B: Array) -> Array:
    """The posterior mean of the errors that the columns of ``n x k`` numbers sum up to, with sizes of variance one."""
    inner = np.eye(B.shape[1]) + B.T @ place.expansion.P @ B
    return B @ np.linalg.solve(inner, B.T @ place.expansion.g)


def _best_by_key(problem: Problem, state: State, places: Sequence[Place]) -> list[Entry]:
    """The best atom of each key, at its best place and time, the likeliest first."""
    best: dict[tuple[int, int, str], Entry] = {}
    for place in places:
        for candidate in all_candidates(place.expansion, problem.lines, problem.blocks):
            entry, key = Entry(place, candidate), candidate.atom.key
            if candidate.atom not in state.atoms and (key not in best or entry.score > best[key].score):
                best[key] = entry
    return sorted(best.values(), key=lambda entry: -entry.score)


def _climb(problem: Problem, state: State, entry: Entry) -> Entry:
    """An atom of a key at the hyperparameters that it leads to, its time chosen anew.

    Where its values are wrong by themselves, it is also climbed to without that: together they explain nothing more.
    """
    atom, level, there = entry.candidate.atom, entry.place.level, state.all_errors(problem.n)
    own = entry.place.error_of(atom)
    cleared, levels = clear(problem, level, atom.rows), [level]
    if problem.n <= MANY:
        levels += [
            settle(problem, there.beside(own), start) for start in (level, cleared)[: 1 + (cleared is not level)]
        ]
    return max((_at(problem, state, entry, level, own.e) for level in levels), key=lambda e: e.score)


def _at(problem: Problem, state: State, entry: Entry, level: Level, e: Array) -> Entry:
    """An atom of a key at a level: about its own error, and in the end, if it is of one vector, over all its sizes."""
    there, candidate = state.all_errors(problem.n), entry.candidate
    place = place_at(problem, there, state.atoms, level, e)
    for _ in range(STEPS if problem.model.warp else 0):
        candidate = _best_of(problem, state, place, candidate.atom)
        e, before = place.error_of(candidate.atom).e, e
        place = place_at(problem, there, state.atoms, level, e)
        if (e - before) @ place.expansion.P @ (e - before) < CONVERGED:
            break
    candidate = _best_of(problem, state, place, candidate.atom)
    if problem.model.warp and len(candidate.atom.columns) == 1:
        place = place_at(problem, there, state.atoms, level)
        candidate = candidate._replace(log_factor=place.sizes(candidate.atom).log_factor)
    return Entry(place, candidate)


def _best_of(problem: Problem, state: State, place: Place, atom: Atom) -> Candidate:
    """The likeliest of the atoms that differ from one in their beginning alone, and are not there."""
    lines = [line for line in problem.lines if (line.source, line.level) == (atom.source, atom.level)]
    blocks = [atom] if atom.kind == "block" else []
    alike = [
        c
        for c in all_candidates(place.expansion, lines, blocks)
        if c.atom.key == atom.key and c.atom not in state.atoms
    ]
    return max(alike, key=lambda c: c.score)
