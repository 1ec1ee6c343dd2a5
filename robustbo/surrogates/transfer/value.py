"""Value of one more row of a source, or of the target, by a fitted `TransferGP`."""

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.transfer.configuration import GroupFit
from robustbo.numerics.transfer.knowledge_gradient import knowledge_gradient, movements
from robustbo.surrogates.transfer.model import TransferGP


def values_of_rows(model: TransferGP, group: int, X: Tensor, targets: Tensor, u: float = 0.0) -> Array:
    """Expected rise of the best mean of the target by a value of a group at each of ``q`` points, in model units.

    Args:
        model: A fitted model with values of other sources.
        group: 0 of the target, or 1, 2, ... of a source.
        X: ``q x d`` points, as `train_X`.
        targets: ``m x d`` points among which the best is chosen.
        u: Distance of the value's level from the target's, where the group has levels.
    """
    X, targets, total = model.transform_inputs(X), model.transform_inputs(targets), np.zeros(len(X))
    for weight, fit in model.weighted_fits:
        if (fit.group == group).any():
            mu, sigma = _lines(fit, model.kernel, group, X, targets, u)
            total += weight * np.array([knowledge_gradient(mu, row) for row in sigma])
    return total


def gain_of_recommendation(model: TransferGP, x: Tensor, measured: Tensor) -> float:
    """Expected rise of the best mean among the target's measured points by its value at one more, in model units.

    Args:
        model: A fitted model with values of other sources.
        x: ``1 x d``, the point, as `train_X`; once it is measured, it is among those that may be recommended.
        measured: ``n x d`` points of the target.
    """
    x, measured, total = model.transform_inputs(x), model.transform_inputs(measured), 0.0
    for weight, fit in model.weighted_fits:
        mu, sigma = _lines(fit, model.kernel, 0, x, torch.cat([measured, x]), 0.0)
        now = float(mu[:-1].max())
        total += weight * (knowledge_gradient(mu, sigma[0]) + float(mu.max()) - now)  # eq. 22.16
    return total


def _lines(fit: GroupFit, kernel: str, group: int, X: Tensor, targets: Tensor, u: float) -> tuple[Array, Array]:
    """Means at the targets, and by how much each value moves them."""
    joint, theta, evidence = fit.joint, fit.level.fit.theta, fit.value.evidence
    (lengthscales, s2f), a, rows = joint.signal(theta), joint.scales(theta), joint.group == group

    def K(Z: Tensor, W: Tensor) -> Tensor:
        return KERNELS[kernel](squared_differences(Z, W), lengthscales, s2f).K

    rho, own = a[rows][0], torch.zeros(len(X), len(a), dtype=torch.float64)
    own[:, rows] = joint.errors_between(theta, group, X, u)
    c = rho * K(X, joint.X) * a + own
    noise = joint.noise(theta)[rows].mean()
    variance = (rho**2 * s2f + joint.error_variance(theta, group, u) + noise).expand(len(X))
    k = K(targets, joint.X) * a
    sigma = movements(k.numpy(), (rho * K(X, targets)).numpy(), evidence.root.numpy(), c.numpy(), variance.numpy())
    return (evidence.m + k @ evidence.al).numpy(), sigma
