"""Maximum a posteriori hyperparameters that a committee's experts share.

Notation: x is theta (log l, then log s2f where it is free, then log s2 where the noise is not known), then log nu where
it is learned, then m; F is the sum of the experts' evidences plus the log prior densities.

References:
    docs/equations.md section 9.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.committee import evidence as committee
from robustbo.numerics.committee.evidence import SharedHyperparameters, Total
from robustbo.numerics.committee.partition import MEMORY, Shards
from robustbo.numerics.gp import objective, parameters
from robustbo.numerics.gp.ascent import Ascent
from robustbo.numerics.gp.covariance import stationary_blocks
from robustbo.numerics.gp.model import noise_block
from robustbo.numerics.gp.objective import Objective
from robustbo.numerics.gp.parameters import Block, LogNormal
from robustbo.numerics.student_t.map_fit import DOF

ROUGH, FINE = 3e-3, 1e-8  # relative rise of F at which the first climbs stop, and the last


class CommitteeModel(NamedTuple):
    """Observations and priors: what stays fixed in a search.

    Attributes:
        shards: The observations.
        kernel: A name of `kernels.KERNELS`.
        l_prior: Prior of each length-scale.
        s2f_prior: Prior of the signal variance; None where it is 1.
        s2_prior: Prior of the noise variance.
        dof: Degrees of freedom; None where they are learned, infinite for a normal noise.
        memory: Bytes that a chunk of experts may take, about.
        evidence: From what the experts share and earlier modes to the sums, where that is done elsewhere.
    """

    shards: Shards
    kernel: str
    l_prior: LogNormal
    s2f_prior: LogNormal | None
    s2_prior: LogNormal
    dof: float | None
    memory: float = MEMORY
    evidence: Callable[[SharedHyperparameters, Any], Total] | None = None

    @property
    def blocks(self) -> list[Block]:
        """All of x but m."""
        kernel = stationary_blocks(self.shards.X.shape[-1], self.l_prior, self.s2f_prior)
        noise = [noise_block(self.s2_prior)] if self.shards.s2 is None else []
        return [*kernel, *noise, *([DOF] if self.dof is None else [])]

    @property
    def _mean(self) -> Block:
        return parameters.constant_mean(self.shards.y[self.shards.mask > 0])

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of x."""
        return parameters.bounds([*self.blocks, self._mean])

    @property
    def starts(self) -> list[Tensor]:
        """Values of x at which cold searches begin, the most plausible first."""
        return parameters.starts([*self.blocks, self._mean], [self.shards.y.new_empty(0)])

    def hyperparameters(self, x: Tensor) -> SharedHyperparameters:
        """The hyperparameters at x."""
        unit = torch.ones_like(x[:1])
        at = {"s2f": unit, "s2": unit, "nu": unit * (self.dof or 1.0)} | parameters.by_name(self.blocks, x[:-1].exp())
        nu = None if self.dof == math.inf else at["nu"][0]
        return SharedHyperparameters(self.kernel, at["l"], at["s2f"][0], at["s2"][0], nu, x[-1])


class CommitteeLogPosterior(NamedTuple):
    """The log posterior density at some x, and the sums that its derivatives need."""

    F: float
    x: Tensor
    total: Total


def evaluate(model: CommitteeModel, x: Tensor, last: CommitteeLogPosterior | None = None) -> CommitteeLogPosterior:
    """The log posterior density at x, from the modes of an evaluation nearby: it jumps between modes."""
    shared, f = model.hyperparameters(x), None if last is None else last.total.f
    if model.evidence is None:
        total = committee.evidence(model.shards, shared, f, model.memory)
    else:
        total = model.evidence(shared, f)
    F = total.L.item() + parameters.log_prior(model.blocks, x.tolist()[:-1])
    return CommitteeLogPosterior(F if math.isfinite(F) else -math.inf, x, total)


def slopes(model: CommitteeModel, value: CommitteeLogPosterior) -> Tensor:
    """The gradient of F in x."""
    total = value.total
    by = {"l": total.log_l, "s2f": total.log_s2f, "s2": total.log_s2, "nu": total.log_nu}
    parts = [by[block.name].reshape(-1) for block in model.blocks]
    prior = parameters.prior_slopes(model.blocks, value.x.tolist()[:-1])
    return torch.cat([*parts, total.m.reshape(1)]) + value.x.new_tensor([*prior, 0.0])


def search(model: CommitteeModel) -> Ascent:
    """The highest of the maxima that the model's starts lead to."""
    height = Objective(model.bounds, partial(evaluate, model), partial(slopes, model))
    return objective.search(height, model.starts, rough=ROUGH, fine=FINE)._replace(value=None)
