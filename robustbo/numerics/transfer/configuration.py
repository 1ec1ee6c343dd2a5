"""Fits of the values of a target and of other sources, each source with a relation to the objective of its own.

A configuration says the relation of every source. Those that are unrelated have a process of their own, whose evidence
is added; all others are fitted with the target at once, single wrong values being pursued in all of them.

Notation: as in `covariance`.

References:
    docs/equations.md section 22.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.lazy import cached_property
from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.log_posterior import LogPosterior, log_posterior
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.prediction_cache import PredictionCache, prediction_cache
from robustbo.numerics.pursuit.penalty import Penalty
from robustbo.numerics.pursuit.support_fit import Level
from robustbo.numerics.pursuit.walk import score
from robustbo.numerics.transfer.covariance import JointCovariance
from robustbo.numerics.transfer.laplace import draw_hyperparameters, log_evidence
from robustbo.numerics.transfer.relations import JoinedSource, KernelPriors, Relation, SourceRows

FEWEST = 6  # values of a group by itself below which none of them is called wrong
MOST_WRONG = 0.5  # share of the values of a group beyond which an explanation of them is none

Relations = tuple[Relation, ...]
Values = Mapping[str, Tensor]  # coordinates of theta, by their block's name


class Problem(NamedTuple):
    """All values, and what is known of them before a fit.

    Attributes:
        rows: The values of the target and of the sources 1, 2, ..., S.
        num_sources: S.
        priors: Of the kernel and the noise.
        allowed: For each source the relations that it may have.
        log_price: By how much the prior log odds of a wrong value are less than usual.
    """

    rows: SourceRows
    num_sources: int
    priors: KernelPriors
    allowed: tuple[Relations, ...]
    log_price: float = 0.0

    def source(self, group: int, relation: Relation) -> JoinedSource:
        """A source with a relation, with what there is of levels among its rows."""
        if self.rows.depth is None or not (depths := self.rows.depth[self.rows.group == group]).any():
            return JoinedSource(group, relation)
        return JoinedSource(group, relation, depths.max().item(), len(depths.unique()))


@dataclass(frozen=True, eq=False)
class GroupFit:
    """A fit of some groups at once.

    Attributes:
        numbers: Which rows of the problem it is of.
        joint: Their covariance.
        model: What stays fixed.
        level: Hyperparameters and single wrong values.
        penalty: Of these.
    """

    numbers: Tensor
    joint: JointCovariance
    model: Model
    level: Level
    penalty: Penalty

    def with_level(self, level: Level) -> "GroupFit":
        """The fit of the same values with other hyperparameters and wrong values."""
        return replace(self, level=level)

    def draws(self, count: int) -> "list[tuple[float, GroupFit]]":
        """Fits with draws of the hyperparameters, the wrong values being the same, and weights that add up to one."""
        fit = self.level.fit
        pairs = draw_hyperparameters(self.model, self.value, fit.rho, count)
        return [(w, self.with_level(self.level._replace(fit=fit._replace(theta=at), cache=None))) for w, at in pairs]

    @property
    def score(self) -> float:
        """Log posterior density at the maximum, less the penalty of the wrong values."""
        return score(self.level, self.penalty)

    @cached_property
    def value(self) -> LogPosterior:
        """The log posterior density with its parts."""
        members = torch.tensor(self.level.support, dtype=torch.long)
        return log_posterior(self.model, self.level.fit.theta, self.level.fit.rho, support=members)

    @cached_property
    def log_evidence(self) -> float:
        """Log marginal likelihood, less the penalty of the wrong values; -inf where too many of a group are wrong."""
        group, support = self.group.numpy(), list(self.level.support)
        wrong, count = np.bincount(group[support], minlength=group.max() + 1), np.bincount(group)
        if (wrong > MOST_WRONG * count).any():
            return -np.inf
        return log_evidence(self.model, self.value) - self.penalty.total(self.level.support)

    @cached_property
    def cache(self) -> PredictionCache:
        """The prediction cache of all its rows."""
        fit = self.level.fit
        return self.level.cache or prediction_cache(self.model, fit.theta, fit.rho)

    @property
    def without_noise(self) -> tuple[Model, Tensor]:
        """The model whose covariance is without noise, which is known as the fit has it; and theta for it."""
        theta = self.level.fit.theta
        joint = JointCovariance(self.joint.rows, self.joint.sources, self.joint.priors, has_noise=False)
        model = self.model._replace(covariance=joint.function(), s2_known=self.joint.noise(theta))
        return model, torch.cat([self.values[block.name] for block in joint.blocks])

    @property
    def group(self) -> Tensor:
        """The group of each row."""
        return self.joint.group

    @property
    def values(self) -> Values:
        """The coordinates of theta by name."""
        return parameters.by_name(self.joint.blocks, self.level.fit.theta)

    @property
    def wrong(self) -> frozenset[int]:
        """The rows of the problem that are wrong."""
        return frozenset(self.numbers[list(self.level.support)].tolist())


def with_relation(relations: Relations, s: int, relation: Relation) -> Relations:
    """Relations of which one source has another."""
    return tuple(relation if i == s else r for i, r in enumerate(relations))
