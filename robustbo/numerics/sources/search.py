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
from robustbo.numerics.sources.candidates import Candidate, all_candidates, candidates_like
from robustbo.numerics.sources.place import Place, Problem, clear, place_at, settle
from robustbo.numerics.sources.wander import wander_factor

MOST = 4  # atoms at once
CLIMBS = 2  # candidates that are climbed to at a time
PROMISING = -6.0  # nats below no atom from which on one is climbed to
LOG_WANDER = math.log(0.01)  # log of the prior probability that errors wander
ANY = 1.0  # prior standard deviation of the errors of all sources, where hyperparameters are looked for


class State(NamedTuple):
    """A set of atoms, and the level of the values that are wrong beside them.

    Attributes:
        atoms: The atoms, in the order in which they joined.
        parts: Of each ``n x k`` numbers, times its prior standard deviation.
        gains: Log posterior odds of each when it joined.
        level: The level.
    """

    atoms: tuple[Atom, ...]
    parts: tuple[Array, ...]
    gains: tuple[float, ...]
    level: Level

    def A(self, n: int, without: int | None = None) -> Array:
        """All atoms but one as ``n x k`` numbers."""
        parts = [part for i, part in enumerate(self.parts) if i != without]
        return np.concatenate([np.zeros((n, 0)), *parts], axis=1)


def place_without(problem: Problem, state: State, index: int | None) -> Place:
    """The place of a state, without one of its atoms if there is an index of it."""
    beside = [atom for i, atom in enumerate(state.atoms) if i != index]
    return place_at(problem, beside, state.A(problem.n, index), state.level)


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


class Rest(NamedTuple):
    """The best atoms of all keys that did not join a state, the likeliest first.

    Attributes:
        candidates: The atoms, with the log Bayes factors that they had beside the state.
        places: Where each was looked at.
    """

    candidates: list[Candidate]
    places: list[Place]


class Opponents(NamedTuple):
    """Log posterior densities, but for a constant, of what an atom has to beat.

    Attributes:
        plain: The state without it.
        wandering: That with errors that wander, which are the opponent of errors of everything alone.
    """

    plain: float
    wandering: float = -math.inf

    def of(self, entry: Entry) -> float:
        """The highest that an entry has to beat."""
        return self.plain if entry.candidate.atom.source >= 0 else max(self)


def search_atoms(problem: Problem, level: Level) -> tuple[State, Rest]:
    """The likeliest set of atoms, and those that did not join.

    Args:
        problem: What is searched.
        level: The chosen level of a pursuit that knows of no sources.
    """
    state = State((), (), (), level)
    while True:
        places = _places(problem, state)
        plain = max(place.score for place in places)
        entries = _best_by_key(problem, state, places)
        promising = [entry for entry in entries if entry.score > plain + PROMISING][:CLIMBS]
        climbed = [_limit_by_warp(problem, state, _climb(problem, state, entry), plain) for entry in promising]
        opponents = Opponents(plain, _density_of_wander(problem, places, [e for e in climbed if e.score > plain]))
        told_apart = filter(partial(_is_told_apart, problem), climbed)
        best = max(told_apart, key=lambda e: e.score - opponents.of(e), default=None)
        if best is not None and best.score > opponents.of(best):
            plain = max(plain, _without_it(problem, state, best.place).score)
            opponents = opponents._replace(plain=plain)
        if best is None or best.score <= opponents.of(best) or len(state.atoms) == MOST:
            rest = sorted([*climbed, *entries[len(promising) :]], key=lambda entry: -entry.score)
            of_rest = [_with_odds(entry, opponents.of(entry)) for entry in rest]
            return state, Rest(of_rest, [entry.place for entry in rest])
        state = _with_atom(state, best, best.score - opponents.of(best))


def _density_of_wander(problem: Problem, places: Sequence[Place], entries: Sequence[Entry]) -> float:
    """The density of errors that wander, at the best of places, where any entry is an error of everything."""
    lines = [line for line in problem.lines if line.source < 0]
    rivals = [entry.place for entry in entries if entry.candidate.atom.source < 0]
    if not rivals or not lines:
        return -math.inf
    rows = lines[0].rows
    return max(place.score + wander_factor(place.precision, rows) for place in (*places, *rivals)) + LOG_WANDER


def _is_told_apart(problem: Problem, entry: Entry) -> bool:
    return problem.is_told_apart(entry.place.level.fit, entry.candidate.atom.matrix(problem.n))


def _with_odds(entry: Entry, reference: float) -> Candidate:
    return entry.candidate._replace(log_factor=entry.score - reference - entry.candidate.atom.log_prior)


def _with_atom(state: State, entry: Entry, gain: float) -> State:
    """The state with another atom."""
    atom, place = entry.candidate.atom, entry.place
    return State((*state.atoms, atom), (*state.parts, place.columns(atom)), (*state.gains, gain), place.level)


def _without_it(problem: Problem, state: State, place: Place) -> Place:
    """The state as it is, climbed to from where another atom has led."""
    A, level = state.A(problem.n), place.level
    return place_at(problem, state.atoms, A, settle(problem, A, level))


def _places(problem: Problem, state: State) -> list[Place]:
    """Places where atoms are looked for: as it is, without the added variances of one source, and where all may err."""
    level, A = state.level, state.A(problem.n)
    levels = [level]
    for line in problem.lines if len(level.support) > 1 else ():
        cleared = clear(problem, level, line.rows)
        if line.source >= 0 and len(level.support) - len(cleared.support) > 1:
            levels.append(cleared)
    levels.append(settle(problem, np.concatenate([A, _any_error(problem)], axis=1), level))
    places = [place_at(problem, state.atoms, A, level) for level in levels]
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


def _best_by_key(problem: Problem, state: State, places: Sequence[Place]) -> list[Entry]:
    """The best atom of each key, at its best place and time, the likeliest first."""
    best: dict[tuple[int, int, str], Entry] = {}
    for place in places:
        for candidate in all_candidates(place.precision, problem.lines, problem.blocks):
            entry, key = Entry(place, candidate), candidate.atom.key
            if candidate.atom not in state.atoms and (key not in best or entry.score > best[key].score):
                best[key] = entry
    return sorted(best.values(), key=lambda entry: -entry.score)


def _climb(problem: Problem, state: State, entry: Entry) -> Entry:
    """An atom of a key at the hyperparameters that it leads to, its time chosen anew.

    It is also climbed to without the variances of its own values: what an atom explains need not be wrong by itself.
    """
    A, (place, candidate), entries = state.A(problem.n), entry, [entry]
    cleared, columns = clear(problem, place.level, candidate.atom.rows), place.columns(candidate.atom)
    for start in [place.level] if cleared is place.level else [place.level, cleared]:
        level = settle(problem, np.concatenate([A, columns], axis=1), start)
        climbed = place_at(problem, state.atoms, A, level)
        entries.append(Entry(climbed, _best_of(problem, state, climbed, candidate.atom)))
    return max(entries, key=lambda e: e.score)


def _limit_by_warp(problem: Problem, state: State, entry: Entry, plain: float) -> Entry:
    """An entry whose atom is no likelier than by the warp of the fit.

    Without a warp, a source that happened to measure the highest values of a skewed objective looks broken.
    """
    candidate = entry.candidate
    if problem.bent is None or entry.score <= plain:
        return entry
    bent, A = problem.by_warp(), state.A(problem.n)
    without = place_at(bent, state.atoms, A, settle(bent, A, state.level))
    best = _climb(bent, state, Entry(without, _best_of(bent, state, without, candidate.atom)))
    odds = best.score - max(without.score, _without_it(bent, state, best.place).score)
    excess = max(entry.score - plain - odds, 0.0)  # eq. 20.13
    return entry._replace(candidate=candidate._replace(log_factor=candidate.log_factor - excess))


def _best_of(problem: Problem, state: State, place: Place, atom: Atom) -> Candidate:
    """The likeliest of the atoms that differ from one in their beginning alone, and are not there."""
    alike = candidates_like(place.precision, problem.lines, atom)
    return max((c for c in alike if c.atom not in state.atoms), key=lambda c: c.score)
