"""Maximum a posteriori hyperparameters that a committee's experts share.

Notation: x is theta (log l, then log s2f where it is free, then log s2 where the noise is not known), then log nu where
it is learned, then m; F is the sum of the experts' evidences plus the log prior densities.

References:
    docs/equations.md section 9.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.committee import evidence as committee
from robustbo.numerics.committee.evidence import Shared, Total
from robustbo.numerics.committee.partition import MEMORY, Shards
from robustbo.numerics.gp.ascent import Ascent, Point, ascend_by_gradient
from robustbo.numerics.gp.covariance import FACTORS, LOG_L, LOG_S2F, LogNormal
from robustbo.numerics.gp.log_posterior import LOG_S2
from robustbo.numerics.student_t.map_fit import DOF_PRIOR, LOG_DOF

ROUGH, FINE = 3e-3, 1e-8  # relative rise of F at which the first climbs stop, and the last


class CommitteeModel(NamedTuple):
    """What stays fixed in a search.

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
    evidence: Callable[[Shared, Any], Total] | None = None

    @property
    def priors(self) -> list[LogNormal]:
        """Of all of x but m."""
        d = self.shards.X.shape[-1]
        return (
            [self.l_prior] * d
            + ([] if self.s2f_prior is None else [self.s2f_prior])
            + ([self.s2_prior] if self.shards.s2 is None else [])
            + ([DOF_PRIOR] if self.dof is None else [])
        )

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Of x."""
        d, y = self.shards.X.shape[-1], self.shards.y[self.shards.mask > 0]
        return (
            [LOG_L] * d
            + ([] if self.s2f_prior is None else [LOG_S2F])
            + ([LOG_S2] if self.shards.s2 is None else [])
            + ([LOG_DOF] if self.dof is None else [])
            + [(y.min().item(), y.max().item())]
        )

    @property
    def starts(self) -> list[Tensor]:
        """Where cold searches begin, the most plausible first."""
        d, y = self.shards.X.shape[-1], self.shards.y[self.shards.mask > 0]
        rest = (
            ([] if self.s2f_prior is None else [0.0])
            + ([self.s2_prior.log_mode] if self.shards.s2 is None else [])
            + ([math.log(4.0)] if self.dof is None else [])
            + [y.median().item()]
        )
        return [y.new_tensor([self.l_prior.log_mode + math.log(factor)] * d + rest) for factor in FACTORS]

    def shared(self, x: Tensor) -> Shared:
        """The hyperparameters at x."""
        d, one = self.shards.X.shape[-1], torch.ones_like(x[0])
        rest = list(x[d:].unbind())
        s2f = one if self.s2f_prior is None else rest.pop(0).exp()
        s2 = rest.pop(0).exp() if self.shards.s2 is None else one
        nu = rest.pop(0).exp() if self.dof is None else None if self.dof == math.inf else one * self.dof
        return Shared(self.kernel, x[:d].exp(), s2f, s2, nu, rest.pop(0))

    def slopes(self, x: Tensor, total: Total) -> Tensor:
        """The gradient of F in x."""
        parts = [total.log_l]
        parts += [] if self.s2f_prior is None else [total.log_s2f.reshape(1)]
        parts += [total.log_s2.reshape(1)] if self.shards.s2 is None else []
        parts += [total.log_nu.reshape(1)] if self.dof is None else []
        prior = [prior.slope(at) for prior, at in zip(self.priors, x[:-1].tolist(), strict=True)]
        return torch.cat([*parts, total.m.reshape(1)]) + x.new_tensor([*prior, 0.0])


class CommitteeFit(NamedTuple):
    """Where a search ended: the place, its log posterior density, evaluations made."""

    x: Tensor
    F: float
    num_evaluations: int
    converged: bool


def evaluate(model: CommitteeModel, x: Tensor, f: Any = None) -> tuple[float, Total]:
    """F at x, and the sums that its derivatives need, from the modes of an earlier evaluation."""
    if model.evidence is None:
        total = committee.evidence(model.shards, model.shared(x), f, model.memory)
    else:
        total = model.evidence(model.shared(x), f)
    prior = sum(prior.log_density(at) for prior, at in zip(model.priors, x[:-1].tolist(), strict=True))
    F = total.L.item() + prior
    return (F if math.isfinite(F) else -math.inf), total


def search(model: CommitteeModel) -> CommitteeFit:
    """The highest of the maxima that the model's starts lead to."""
    rough = [_climb(model, x, ROUGH) for x in model.starts]
    best = max(rough, key=lambda climb: climb.point.F)
    found = _climb(model, best.x, FINE)
    evaluations = sum(climb.num_evaluations for climb in (*rough, found))
    return CommitteeFit(found.x, found.point.F, evaluations, found.converged)


def _climb(model: CommitteeModel, x: Tensor, ftol: float) -> Ascent:
    latent: list[Any] = [None]

    def at(place: Tensor) -> Point:
        F, total = evaluate(model, place, latent[0])
        if math.isfinite(F):
            latent[0] = total.f  # the next evaluation begins there: the evidence jumps between modes

        def derivatives() -> tuple[Tensor, Tensor]:
            return model.slopes(place, total), place[:0]

        return Point(F, derivatives, total)

    return ascend_by_gradient(at, x, *x.new_tensor(model.bounds).T, ftol=ftol)
