"""Places where error atoms are looked for: hyperparameters and values that are wrong beside the atoms that are there.

References:
    docs/equations.md section 20.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model
from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.pursuit import walk
from robustbo.numerics.pursuit.growth import MANY, level_at_hyperparameters
from robustbo.numerics.pursuit.penalty import Penalty
from robustbo.numerics.pursuit.support_fit import Level, level_at, refit
from robustbo.numerics.sources.atoms import Atom, Key, Timeline
from robustbo.numerics.sources.covariance import with_shared_errors
from robustbo.numerics.sources.evidence import Precision, project_mean, sizes_of

FTOL = 1e-4
ROUNDS = 2  # of settling a support beside an atom


class Problem(NamedTuple):
    """Observations, penalties and atoms that a search is over.

    Attributes:
        model: The observations and their covariance function; not warped, for a warp would make errors of one size
            another for each value, and reward that more values are where it is flat.
        penalty: Of a support.
        lines: Sources that may err, and everything.
        blocks: Block effects.
        is_told_apart: Whether an atom, as ``n x k`` numbers, is none that the inputs tell, at some hyperparameters.
        bent: ``n`` observations by the warp of the fit; None where that has none.
    """

    model: Model
    penalty: Penalty
    lines: Sequence[Timeline]
    blocks: Sequence[Atom]
    is_told_apart: Callable[[Fit, Array], bool]
    bent: Tensor | None = None

    @property
    def n(self) -> int:
        """Number of observations."""
        return len(self.model.y)

    def shift_priors(self, shifts: Mapping[Key, float]) -> "Problem":
        """The problem with shifts of log prior probabilities of atoms."""
        lines = [line._replace(shifts=shifts) for line in self.lines]
        return self._replace(lines=lines, blocks=[atom.shift_prior(shifts) for atom in self.blocks])

    def by_warp(self) -> "Problem":
        """The problem of the observations by the warp of the fit."""
        return self if self.bent is None else self._replace(model=self.model._replace(y=self.bent), bent=None)

    def beside(self, A: Array) -> Model:
        """The model with shared errors."""
        return with_shared_errors(self.model, torch.from_numpy(A))


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

    def columns(self, atom: Atom) -> Array:
        """``n x k`` numbers of an atom, times a likely standard deviation of its sizes."""
        A = atom.matrix(len(self.precision.al))
        return A * sizes_of(self.precision, A).spread


def place_at(problem: Problem, atoms: Sequence[Atom], A: Array, level: Level) -> Place:
    """The place of a level beside some atoms."""
    value = log_posterior(problem.beside(A), level.fit.theta, level.fit.rho)
    score = value.F - problem.penalty.total(level.support) + math.fsum(atom.log_prior for atom in atoms)  # eq. 20.8
    return Place(level, project_mean(value.evidence.P.numpy(), value.y.numpy()), score)


def settle(problem: Problem, A: Array, level: Level) -> Level:
    """The level beside some shared errors, climbed to from another, its support settled.

    Beyond `growth.MANY` observations hyperparameters are held: they are known well enough.
    """
    model = problem.beside(A)
    if problem.n > MANY:
        return level_at_hyperparameters(model, problem.penalty, level.fit)

    def climb(other: Level, support: tuple[int, ...]) -> Level:
        return refit(model, other, support, ftol=FTOL)

    begin = climb(level_at(model, level.support, level.fit), level.support)
    return walk.settle(begin, problem.penalty, climb, max_rounds=ROUNDS)


def clear(problem: Problem, level: Level, rows: Iterable[int]) -> Level:
    """A level in which some rows have no variance of their own."""
    groups, cleared = problem.model.groups, {int(row) for row in rows}
    support = tuple(i for i in level.support if not cleared.intersection(groups.members([i])))
    if support == level.support:
        return level
    rho, members = torch.zeros_like(level.fit.rho), list(groups.members(support))
    rho[members] = level.fit.rho[members]
    return level_at(problem.model, support, level.fit._replace(rho=rho))
