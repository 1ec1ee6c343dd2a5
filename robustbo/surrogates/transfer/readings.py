"""Readings of a source without noise, and its error: these less the objective."""

from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.transfer.configuration import GroupFit
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.transfer.model import TransferGP


class SourceReadings(NamedTuple):
    """Readings of a source at ``q`` points, in outcome units.

    Attributes:
        mean, sd: Of what it reads, without noise.
        error, error_sd: Of that less the objective.
        spread: Prior standard deviation of the objective: by how much it varies.
    """

    mean: Tensor
    sd: Tensor
    error: Tensor
    error_sd: Tensor
    spread: float


def source_readings(model: TransferGP, group: int, X: Tensor, depth: float = 0.0) -> SourceReadings | None:
    """Readings of a source, averaged over the relations in which it says something; None where there is none.

    Args:
        model: A fitted model with values of other sources.
        group: 1, 2, ... of the source.
        X: ``q x d`` points, as `train_X`.
        depth: Distance of its level from the target's, where it has levels.
    """
    X, unit = model.transform_inputs(X), model.maps[group - 1]
    fits = [(weight, fit) for weight, fit in model.mixture_fits if (fit.group == group).any()]
    if not fits:
        return None
    parts = [_moments(fit, model.kernel, group, X, unit, depth) for _, fit in fits]
    weights = torch.tensor([weight for weight, _ in fits], dtype=torch.float64)
    weights = (weights / weights.sum()).unsqueeze(-1)
    means, variances, spreads = (torch.stack([part[i] for part in parts]) for i in range(3))
    mean = (weights.unsqueeze(-1) * means).sum(0)
    variance = (weights.unsqueeze(-1) * (variances + means.square())).sum(0) - mean.square()
    transform = outcome_transform(model)
    center, scale = transform.means.item(), transform.stdvs.item()
    sd = scale * variance.clamp_min(0.0).sqrt()
    spread = scale * float((weights.squeeze(-1) * spreads).sum())
    return SourceReadings(center + scale * mean[0], sd[0], scale * mean[1], sd[1], spread)


def _moments(
    fit: GroupFit, kernel: str, group: int, X: Tensor, unit: tuple[float, float], depth: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Means and variances (``2 x q``) of the readings and of the error by one fit; by how much the objective varies.

    Args:
        fit: The fit.
        kernel: Of the objective.
        group: The source.
        X: The points.
        unit: Center and scale of the source's values, where these are in units of their own.
        depth: Distance of its level.
    """
    joint, theta, evidence, (center, u) = fit.joint, fit.level.fit.theta, fit.value.evidence, unit
    (lengthscales, s2f), a, rows = joint.signal(theta), joint.scales(theta), joint.group == group
    rho, own = a[rows][0], torch.zeros(len(X), len(a), dtype=torch.float64)
    own[:, rows] = joint.errors_between(theta, group, X, depth)
    of_objective = KERNELS[kernel](squared_differences(X, joint.X), lengthscales, s2f).K * a
    itself = torch.tensor(joint.error_variance(theta, group, depth), dtype=torch.float64)
    reads = u * (rho * of_objective + own)
    c = torch.stack([reads, reads - of_objective])  # eq. 22.12
    level = torch.tensor([u, u - 1.0], dtype=torch.float64)  # of the constant mean in each
    prior = torch.stack([u**2 * (rho**2 * s2f + itself), (u * rho - 1.0) ** 2 * s2f + u**2 * itself])
    mean = center + level.unsqueeze(-1) * evidence.m + c @ evidence.al
    P1 = evidence.P1
    free = (level.unsqueeze(-1) - c @ P1).square() / P1.sum()
    variance = prior.unsqueeze(-1) - (c @ evidence.root.mT).square().sum(-1) + free  # eq. 22.10
    return mean, variance, torch.as_tensor(s2f).sqrt()
