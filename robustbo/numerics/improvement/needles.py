"""Points whose values agree, and which the fit leaves out: is the objective another one there, or are they wrong?

Values that agree on the scale of the noise clear each other, as surprising as they may be. But errors of one kind agree
too, and of three values the third may be the right one. So all values of such a point are judged together, by what a
fit to all others predicts there.

References:
    docs/equations.md section 16.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from robustbo.numerics.gp.leave_one_out import leave_out
from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.outlier_gain import residual_system
from robustbo.numerics.improvement.wrong import judge_point


def judge_points(
    model: Model, fit: Fit, groups: Iterable[Tensor], rate: float, noise_dof: float
) -> list[tuple[Tensor, Tensor]]:
    """The observations of each point, and the probabilities that they are wrong.

    Args:
        model: The model of ``n`` observations.
        fit: Hyperparameters and added variances.
        groups: The observations of each point.
        rate: The prior probability that a value is wrong.
        noise_dof: Degrees of freedom with which the noise is known.
    """
    value = log_posterior(model, fit.theta, fit.rho)
    r, K0, P = residual_system(value)
    beliefs = []
    for group in groups:
        prediction, s2 = leave_out(r, K0, fit.rho, group, P), value.s2[group]
        tau2 = (prediction.variance.diagonal() - s2).mean().clamp_min(0.0)
        belief = judge_point(
            r[group].tolist(),
            prediction.mean.mean().item(),
            tau2.sqrt().item(),
            s2.sqrt().tolist(),
            center=-value.evidence.m.item(),
            scale=1.0,
            rate=rate,
            noise_dof=noise_dof,
        )
        beliefs.append((group, torch.tensor(belief.wrong, dtype=torch.float64)))
    return beliefs
