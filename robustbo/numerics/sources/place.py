"""Places where error atoms are looked for: hyperparameters, wrong values, and the errors about which one expands.

The log likelihood is expanded in the errors of the observations. Where a warp bends outcomes it is no quadratic of
them: what is true near no error says little of an error of half the spread. So it is expanded about errors that are
likely there, and an atom's evidence is that about its own.

References:
    docs/equations.md section 20.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from robustbo.numerics.gp.log_posterior import LogPosterior, Model, log_posterior
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.pursuit import walk
from robustbo.numerics.pursuit.penalty import Penalty
from robustbo.numerics.pursuit.support_fit import Level, level_at, refit
from robustbo.numerics.sources.atoms import Atom, Timeline
from robustbo.numerics.sources.covariance import with_shared_errors
from robustbo.numerics.sources.evidence import Expansion, Sizes, mean_free, project_mean, sizes_of
from robustbo.numerics.sources.quadrature import sizes_by_quadrature

FTOL = 1e-4
ROUNDS = 2  # of settling a support beside an atom


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

    def beside(self, errors: "Errors", fit: Fit) -> Model:
        """The model of the observations without likely errors, beside what is not known of these, at a fit's warp."""
        model = self.model._replace(y=self.model.y - torch.from_numpy(errors.e))
        bend = model.warp_at(fit.theta)
        slope = 1.0 if bend is None else np.exp(bend.log_slope)[:, None]
        return with_shared_errors(model, torch.from_numpy(errors.A * slope))


class Errors(NamedTuple):
    """Errors of the observations.

    Attributes:
        e: ``n`` likely errors.
        A: ``n x k`` atoms, each times the standard deviation of what is not known of its size.
    """

    e: Array
    A: Array

    def beside(self, other: "Errors") -> "Errors":
        """Both together."""
        return Errors(self.e + other.e, np.concatenate([self.A, other.A], axis=1))


class Place(NamedTuple):
    """Hyperparameters and added variances at which atoms are looked for, beside those that are there.

    Attributes:
        level: The level.
        expansion: Of the log posterior density in errors beside those that are there.
        about: ``n`` errors that it is expanded about; where they are zero its F is the density itself.
        value: The density there.
        y: ``n`` observations without all these errors, before the warp.
    """

    level: Level
    expansion: Expansion
    about: Array
    value: LogPosterior
    y: Array

    @property
    def score(self) -> float:
        """Log posterior density without another atom."""
        return self.expansion.F

    def sizes(self, atom: Atom) -> Sizes:
        """The sizes of an atom: about no error, and under a warp, those of one vector are integrated over."""
        A, bend = atom.matrix(len(self.y)), self.value.warp
        if bend is None or A.shape[1] > 1 or self.about.any():
            return sizes_of(self.expansion, A)
        P = mean_free(self.value.evidence.P.numpy())
        return sizes_by_quadrature(P, self.y, bend.t, self.value.members, A[:, 0])

    def unknown(self, atom: Atom, sizes: Sizes) -> Array:
        """``k`` standard deviations of what is not known of sizes beside their means, as a fit beside them has them.

        Under a warp they are those of the posterior, not of the prior: a term of the covariance is an error of warped
        outcomes, and a large one would change these without the change of density that an error of outcomes has.
        """
        k = len(sizes.means)
        is_prior = self.value.warp is None or atom.kind == "broken"
        return np.full(k, sizes.spread) if is_prior else sizes.sds

    def error_of(self, atom: Atom) -> Errors:
        """The error of an atom: that of a broken source has an unknown sign."""
        A, sizes = atom.matrix(len(self.y)), self.sizes(atom)
        e = np.zeros(len(A)) if atom.kind == "broken" else A @ sizes.means
        return Errors(e, A * self.unknown(atom, sizes))


def place_at(problem: Problem, there: Errors, atoms: Sequence[Atom], level: Level, about: Array | None = None) -> Place:
    """The place of a level.

    Args:
        problem: What is searched.
        there: The errors that are there.
        atoms: Their atoms.
        level: Hyperparameters and added variances.
        about: ``n`` errors beside these, about which it is expanded; none unless given.
    """
    about = np.zeros(problem.n) if about is None else about
    model = problem.beside(there._replace(e=there.e + about), level.fit)
    value, y = log_posterior(model, level.fit.theta, level.fit.rho), model.y.numpy()
    score = value.F - problem.penalty.total(level.support) + math.fsum(atom.log_prior for atom in atoms)  # eq. 20.8
    if not math.isfinite(score):
        nothing = Expansion(-math.inf, np.zeros(problem.n), np.zeros((problem.n, problem.n)))
        return Place(level, nothing, about, value, y)
    slope, jacobian = np.ones(problem.n), np.zeros(problem.n)
    if value.warp is not None:
        slope, jacobian = np.exp(value.warp.log_slope), value.warp.log_jacobian_z(y, value.members)
    expansion = project_mean(value.evidence.P.numpy(), value.y.numpy(), slope, jacobian)._replace(F=score)
    return Place(level, expansion.at_origin(about), about, value, y)


def settle(problem: Problem, errors: Errors, level: Level) -> Level:
    """The level beside some errors, climbed to from another, its support settled."""
    model = problem.beside(errors, level.fit)

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
