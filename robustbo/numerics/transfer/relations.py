"""Relations that a source of values may have to the objective, and the hyperparameters that each of them has.

References:
    docs/equations.md section 22.
"""

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from robustbo.numerics.gp.parameters import Block, LogNormal, Normal

Relation = Literal["same", "offset", "scaled", "biased", "unrelated"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)
JOINED: tuple[Relation, ...] = RELATIONS[:-1]  # those by which a source's values say something of the objective
SCALED: tuple[Relation, ...] = ("scaled", "biased")
TARGET = 0  # the target's number among the groups of rows

LEAST_RATIO = 0.2  # of the bias's length-scales to the objective's: a shorter bias imitates noise
LOG_RATIO = (math.log(LEAST_RATIO), math.log(20.0))
OFFSET_PRIOR = Normal(0.0, 2.5)  # of the log of the offset's variance, in squared units of the outcomes
SCALE_PRIOR = Normal(1.0, 1.0)  # of rho
BIAS_PRIOR = Normal(-1.5, 1.5)  # of the log of the bias's variance
RATIO_PRIOR = Normal(math.log(1.5), 0.7)  # of the log of the ratio of its length-scales to the objective's
STEEPNESS_PRIOR = Normal(math.log(2.0), 0.7)  # of log gamma: an error that falls as one by the level has gamma = 2
LOG_STEEPNESS = (math.log(0.05), math.log(20.0))
LOG_VARIANCE = (math.log(1e-6), math.log(1e8))


class SourceRows(NamedTuple):
    """Values of the target and of other sources, in common units.

    Attributes:
        X: ``n x d`` inputs.
        y: ``n`` values.
        group: ``n`` integers: `TARGET`, or 1, 2, ... of each source.
        s2_known: ``n`` known noise variances; NaN where the noise is that of the group, which is inferred.
        cleared: ``n`` booleans: values that are right by the user's word.
        share: ``n`` shares of the inferred noise, 1/k for a mean of k; all 1 where it is None.
        depth: ``n`` distances of levels from the target's, |log(level / target's)|, where sources have levels.
        shared: ``n x k`` parts of errors that rows of the target share, each times its standard deviation.
    """

    X: Tensor
    y: Tensor
    group: Tensor
    s2_known: Tensor
    cleared: Tensor
    share: Tensor | None = None
    depth: Tensor | None = None
    shared: Tensor | None = None

    def of(self, rows: Tensor) -> "SourceRows":
        """Some of the rows."""
        return SourceRows(*(None if part is None else part[rows] for part in self))  # type: ignore[arg-type]

    def numbers(self, groups: tuple[int, ...]) -> Tensor:
        """The rows of some groups, rising."""
        return torch.isin(self.group, torch.tensor(groups)).nonzero().flatten()


class JoinedSource(NamedTuple):
    """A source whose values say something of the objective.

    Attributes:
        group: The number of its rows.
        relation: Its relation to the objective: one of `JOINED`.
        farthest: The largest distance of its levels from the target's, where its rows have levels; 0 where not.
        num_levels: How many levels its rows have.
    """

    group: int
    relation: Relation
    farthest: float = 0.0
    num_levels: int = 1

    @property
    def is_ordered(self) -> bool:
        """Return whether its rows have levels, whose errors shrink towards the target's."""
        return self.farthest > 0

    @property
    def is_scaled(self) -> bool:
        """Return whether rho is free; near the target's level a source is the target, so not where there are levels."""
        return self.relation in SCALED and not self.is_ordered

    @property
    def blocks(self) -> list[Block]:
        """The hyperparameters of the relation, each named by its kind and the source's number."""
        blocks = []  # eq. 22.1
        if self.relation != "same":
            blocks.append(Block(f"offset{self.group}", (OFFSET_PRIOR.loc,), LOG_VARIANCE, OFFSET_PRIOR))
        if self.is_scaled:
            blocks.append(Block(f"scale{self.group}", (1.0,), (-20.0, 20.0), SCALE_PRIOR))
        if self.relation == "biased":
            blocks.append(Block(f"bias{self.group}", (BIAS_PRIOR.loc,), LOG_VARIANCE, BIAS_PRIOR))
            blocks.append(Block(f"ratio{self.group}", (RATIO_PRIOR.loc,), LOG_RATIO, RATIO_PRIOR))
        if self.relation != "same" and self.is_ordered and self.num_levels > 1:
            blocks.append(Block(f"steepness{self.group}", (STEEPNESS_PRIOR.loc,), LOG_STEEPNESS, STEEPNESS_PRIOR))
        return blocks


class KernelPriors(NamedTuple):
    """Kernel of the objective and priors of its hyperparameters.

    Attributes:
        kernel: A name of `gp.kernels.KERNELS`.
        l: Prior of each length-scale.
        s2f: Prior of the signal variance; None where it is 1.
        s2: Prior of each noise variance.
        s2_least: Least noise variance of a group.
    """

    kernel: str
    l: LogNormal
    s2f: LogNormal | None
    s2: LogNormal
    s2_least: float = 0.0


def places_of(blocks: list[Block]) -> Mapping[str, int]:
    """Place of each block's first coordinate."""
    places, at = dict[str, int](), 0
    for block in blocks:
        places[block.name] = at
        at += block.size
    return places
