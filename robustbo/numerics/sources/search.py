"""Search for sources that err: over sets of error atoms and of single wrong values together.

A value may be wrong by itself, or because its source is. So the two are chosen together: where an atom explains the
values that had variances of their own, these lose them, and nothing is paid for twice. The hyperparameters of a fit
that knows of no sources have adapted to their errors; so atoms are looked for also where every source may err, and a
promising one is climbed to. One joins after another, while it is more probable than not.

Notation: as in `evidence`; a level is one of relevance pursuit.

References:
    docs/equations.md section 20.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from robustbo.numerics.gp.log_posterior import Model, log_posterior
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.pursuit import walk
from robustbo.numerics.pursuit.penalty import Penalty
from robustbo.numerics.pursuit.support_fit import Level, level_at, refit
from robustbo.numerics.sources.atoms import Atom, Timeline
from robustbo.numerics.sources.covariance import with_shared_errors
from robustbo.numerics.sources.evidence import Candidate, Precision, all_candidates, project_mean, sizes_of

MANY = 256  # observations beyond which hyperparameters are held: they are known well enough
MOST = 4  # atoms at once
CLIMBS = 2  # candidates that are climbed to at a time
PROMISING = -6.0  # nats below no atom from which on one is climbed to
FTOL = 1e-4
ROUNDS = 2  # of settling a support beside an atom
ANY = 1.0  # prior standard deviation of the errors of all sources, where hyperparameters are looked for


class Problem(NamedTuple):
    """Observations, penalties and atoms that a search is over.

    Attributes:
        model: The observations and their covariance function.
        penalty: Of a support.
        lines: Sources that may err, and everything.
        blocks: Block effects.
        is_told_apart: Whether an atom, as ``n x k`` numbers, is none that the inputs tell, at some hyperparameters.
    """

    model: Model
    penalty: Penalty
    lines: Sequence[Timeline]
    blocks: Sequence[Atom]
    is_told_apart: Callable[[Fit, Array], bool]

    @property
    def n(self) -> int:
        """Number of observations."""
        return len(self.model.y)

    def slope(self, fit: Fit) -> Array:
        """``n`` factors by which a warp makes errors longer."""
        bend = self.model.warp_at(fit.theta)
        return np.ones(self.n) if bend is None else np.exp(bend.log_slope)

    def beside(self, A: Array, fit: Fit) -> Model:
        """The model with shared errors, at a fit's warp."""
        return with_shared_errors(self.model, torch.from_numpy(A * self.slope(fit)[:, None]))


class State(NamedTuple):
    """A set of atoms, and the level of the values that are wrong beside them.

    Attributes:
        atoms: The atoms, in the order in which they joined.
        parts: Of each ``n x k`` numbers, times its prior standard deviation.
        gains: Log posterior odds of each when it joined.
        level: The level.
        score: Log posterior density of all together, but for a constant.
    """

    atoms: tuple[Atom, ...]
    parts: tuple[Array, ...]
    gains: tuple[float, ...]
    level: Level
    score: float

    def A(self, n: int, without: int | None = None) -> Array:
        """All atoms but one as ``n x k`` numbers."""
        parts = [part for i, part in enumerate(self.parts) if i != without]
        return np.concatenate([np.zeros((n, 0)), *parts], axis=1)


class Place(NamedTuple):
    """Hyperparameters and added variances at which atoms are looked for, beside those that are there.

    Attributes:
        level: The level.
        precision: Of the observations.
        score: Log posterior density without another atom.
    """

    level: Level
    precision: Precision
    score: float


def search_atoms(problem: Problem, level: Level) -> tuple[State, list[Candidate]]:
    """The likeliest set of atoms, and the best of each key that did not join, with the log odds it then had as factor.

    Args:
        problem: What is searched.
        level: The chosen level of a pursuit that knows of no sources.
    """
    state = State((), (), (), level, level.fit.F - problem.penalty.total(level.support))
    while True:
        entries = _best_by_key(problem, state, _places(problem, state))
        better = _with_another(problem, state, entries) if len(state.atoms) < MOST else None
        if better is None:
            return state, [c._replace(log_factor=score - state.score - c.atom.log_prior) for score, _, c in entries]
        state = better


Entry = tuple[float, Place, Candidate]  # with the score of both together


def _with_another(problem: Problem, state: State, entries: list[Entry]) -> State | None:
    """The state with another atom that is more probable than not; None where there is none."""
    promising = [entry for entry in entries if entry[0] > state.score + PROMISING][:CLIMBS]
    states = [_climb(problem, state, place, candidate.atom) for _, place, candidate in promising]
    states = [s for s in states if problem.is_told_apart(s.level.fit, s.atoms[-1].matrix(problem.n))]
    best = max(states, key=lambda other: other.score, default=state)
    return best if best.score > state.score else None


def _places(problem: Problem, state: State) -> list[Place]:
    """Places where atoms are looked for: as it is, without the added variances of one source, and where all may err."""
    level, groups, A = state.level, problem.model.groups, state.A(problem.n)
    places = [place_at(problem, state.atoms, A, level)]
    for line in problem.lines if len(level.support) > 1 else ():
        of_line = set(line.rows.tolist())
        support = tuple(i for i in level.support if not of_line.intersection(groups.members([i])))
        if line.source >= 0 and len(level.support) - len(support) > 1:
            rho, members = torch.zeros_like(level.fit.rho), list(groups.members(support))
            rho[members] = level.fit.rho[members]
            cleared = level._replace(support=support, fit=level.fit._replace(rho=rho))
            places.append(place_at(problem, state.atoms, A, cleared))
    if problem.n <= MANY:
        anything = _settle(problem, np.concatenate([A, _any_error(problem)], axis=1), level)
        places.append(place_at(problem, state.atoms, A, anything))
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


def _settle(problem: Problem, A: Array, level: Level) -> Level:
    """The level beside some shared errors, climbed to from another, its support settled."""
    model = problem.beside(A, level.fit)

    def climb(other: Level, support: tuple[int, ...]) -> Level:
        return refit(model, other, support, ftol=FTOL)

    begin = climb(level_at(model, level.support, level.fit), level.support)
    return walk.settle(begin, problem.penalty, climb, max_rounds=ROUNDS)


def place_at(problem: Problem, atoms: Sequence[Atom], A: Array, level: Level) -> Place:
    """The place of a level beside some atoms."""
    value = log_posterior(problem.beside(A, level.fit), level.fit.theta, level.fit.rho)
    score = value.F - problem.penalty.total(level.support) + math.fsum(atom.log_prior for atom in atoms)  # eq. 20.8
    precision = project_mean(value.evidence.P.numpy(), value.y.numpy(), problem.slope(level.fit))
    return Place(level, precision, score)


def _best_by_key(problem: Problem, state: State, places: Sequence[Place]) -> list[Entry]:
    """The best atom of each key, at its best place and time, the likeliest first."""
    best: dict[tuple[int, int, str], Entry] = {}
    for place in places:
        for candidate in all_candidates(place.precision, problem.lines, problem.blocks):
            score, key = place.score + candidate.score, candidate.atom.key
            if candidate.atom not in state.atoms and (key not in best or score > best[key][0]):
                best[key] = score, place, candidate
    return sorted(best.values(), key=lambda entry: -entry[0])


def _climb(problem: Problem, state: State, place: Place, atom: Atom) -> State:
    """The state with an atom of a key, its time chosen anew at the hyperparameters that it leads to."""
    A = state.A(problem.n)
    if problem.n <= MANY:
        level = _settle(problem, np.concatenate([A, _columns(problem, place, atom)], axis=1), place.level)
        climbed = place_at(problem, state.atoms, A, level)
        place = max(place, climbed, key=lambda p: p.score + _best_of(problem, p, atom).score)
    best = _best_of(problem, place, atom)
    score = place.score + best.score
    parts = (*state.parts, _columns(problem, place, best.atom))
    return State((*state.atoms, best.atom), parts, (*state.gains, score - state.score), place.level, score)


def _best_of(problem: Problem, place: Place, atom: Atom) -> Candidate:
    """The likeliest of the atoms that differ from one in their beginning alone."""
    lines = [line for line in problem.lines if (line.source, line.level) == (atom.source, atom.level)]
    blocks = [atom] if atom.kind == "block" else []
    alike = [c for c in all_candidates(place.precision, lines, blocks) if c.atom.key == atom.key]
    return max(alike, key=lambda c: c.score)


def _columns(problem: Problem, place: Place, atom: Atom) -> Array:
    """``n x k`` numbers of an atom, times a likely standard deviation of its sizes."""
    A = atom.matrix(problem.n)
    return A * sizes_of(place.precision, A).spread
