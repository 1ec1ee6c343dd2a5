"""Maximum a posteriori hyperparameters of a Student-t process.

Given the weight of the observations (see `process`) gradient and information are those of the Gaussian
process whose al is larger by the weight's root; so the search is the Gaussian one with another height.

Notation (no batch dimensions: a search is one search), beside that of `gp.log_posterior`:
    x    theta, then log(nu - 2) where the degrees of freedom are learned
    F    log posterior density: L plus log prior densities

References:
    docs/equations.md section 4.
"""

import math
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp import log_posterior, objective, parameters
from robustbo.numerics.gp.ascent import Ascent
from robustbo.numerics.gp.evidence import Evidence
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.objective import Objective
from robustbo.numerics.gp.parameters import Block, LogNormal
from robustbo.numerics.student_t_process import process
from robustbo.numerics.student_t_process.process import Marginal, marginal, shah

EXCESS_PRIOR = LogNormal(2.0, 1.5)  # of nu - 2; weak: its median is 7, its mode 0.8
LOG_EXCESS = (math.log(0.01), math.log(1e4))
EXCESS = Block("nu - 2", (EXCESS_PRIOR.loc,), LOG_EXCESS, EXCESS_PRIOR)
ROUGH = 1e-4  # relative rise of F at which the first climbs stop


class ProcessModel(NamedTuple):
    """Observations, priors and degrees of freedom: what stays fixed in a search.

    Attributes:
        base: Observations, covariance, noise prior or known noise.
        dof: The prior's degrees of freedom; None where they are learned.
    """

    base: Model
    dof: float | None

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of x."""
        return self.base.bounds + parameters.bounds(self.blocks)

    @property
    def starts(self) -> list[Tensor]:
        """Values of x at which cold searches begin, the most plausible first."""
        return parameters.starts(self.blocks, self.base.starts)

    @property
    def blocks(self) -> list[Block]:
        """Blocks of x beside theta."""
        return [EXCESS] if self.dof is None else []

    def nu(self, x: Tensor) -> Tensor:
        """The prior's degrees of freedom at x."""
        return 2 + x[-1].exp() if self.dof is None else x.new_tensor(self.dof)


class ProcessLogPosterior(NamedTuple):
    """The log posterior density at some x, what its derivatives need, and the Gaussian evidence for predictions."""

    F: float
    x: Tensor
    weighted: log_posterior.LogPosterior | None
    evidence: Evidence
    marginal: Marginal

    def without_derivatives(self) -> "ProcessLogPosterior":
        """Drop what derivatives need: the rest serves predictions, and can be pickled, as functions cannot."""
        return self._replace(weighted=None)


def evaluate(model: ProcessModel, x: Tensor, m: Tensor | None = None) -> ProcessLogPosterior:
    """The log posterior density at x, the constant mean the best one by default; -inf where it cannot be had."""
    base, p = model.base, len(x) - len(model.blocks)
    gaussian = log_posterior.log_posterior(base, x[:p], torch.zeros_like(base.y), m)
    gaussian_evidence = gaussian.evidence
    integrated = marginal(gaussian_evidence, base.y, shah(model.nu(x)))
    F = (
        gaussian.F
        - gaussian_evidence.L.item()
        + integrated.L.item()
        + parameters.log_prior(model.blocks, x.tolist()[p:])
    )
    weighted = gaussian_evidence._replace(al=integrated.weight.sqrt() * gaussian_evidence.al)
    is_fine = math.isfinite(F) and math.isfinite(integrated.weight.item())
    return ProcessLogPosterior(
        F if is_fine else -math.inf, x, gaussian._replace(evidence=weighted), gaussian_evidence, integrated
    )


def slopes(model: ProcessModel, value: ProcessLogPosterior) -> Tensor:
    """The gradient of F in x."""
    assert value.weighted is not None
    on_theta, _ = log_posterior.gradient(model.base, value.weighted)
    if model.dof is not None:
        return on_theta
    nu, (on_a, on_b) = model.nu(value.x), process.slopes(value.marginal)
    on_excess = (nu - 2) / nu * on_a + on_b + EXCESS_PRIOR.slope(value.x[-1])
    return torch.cat([on_theta, on_excess.reshape(1)])


def information(model: ProcessModel, value: ProcessLogPosterior) -> Tensor:
    """Information of the Gaussian process which predicts the same; of the degrees of freedom, their prior's."""
    nobody = torch.zeros(0, dtype=torch.long), value.x[:0]
    assert value.weighted is not None
    A = log_posterior.information(model.base, value.weighted, *nobody)
    precision = model.base.prior_precision
    assert precision is not None
    A = A + torch.diag(precision)
    return A if model.dof is not None else torch.block_diag(A, A.new_tensor([[EXCESS_PRIOR.scale**-2]]))


def search(model: ProcessModel, *, ftol: float = 1e-9) -> Ascent:
    """The highest of the maxima that the model's starts lead to."""
    height = Objective(
        model.bounds,
        lambda x, _: evaluate(model, x),
        partial(slopes, model),
        partial(information, model) if model.base.is_informed else None,
    )
    ascent = objective.search(height, model.starts, rough=ROUGH, fine=ftol)
    return ascent._replace(value=ascent.value.without_derivatives())
