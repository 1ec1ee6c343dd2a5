"""Sample paths of the posterior under Student-t noise, whose curvatures may have either sign.

Notation (no batch dimensions but of samples), beside that of `laplace`:
    u    s x n   samples of the prior of the latent values, less the mean
    D    n       variances of normal noise, 1 / W where W is positive: never less than the curvatures say
    B    n x n   (K + D(D))^-1, so that B - R has no negative eigenvalue
    w    s x n   weights: u(x) + k(x, X) w is a sample of the posterior, less the mean

References:
    docs/equations.md section 2.2; Wilson and others (2021), Pathwise conditioning of Gaussian processes.
"""

import torch
from torch import Tensor

from robustbo.numerics.student_t.laplace import Laplace

FLAT = 1e-6  # of the largest curvature: one that is less, or negative, counts as that in D, and the rest is added


def draw_weights(at: Laplace, u: Tensor) -> Tensor:
    """Random weights for samples of the prior.

    Matheron's rule with noise D would remove B from the covariance; what that is more than R is added again.

    Args:
        at: The approximation at the mode.
        u: ``s x n`` samples.
    """
    K, W = torch.from_numpy(at.posterior.K), at.clamped
    D = 1 / W.maximum(FLAT * W.max())
    B = torch.linalg.inv(K + torch.diag(D))
    size, axes = torch.linalg.eigh(0.5 * (B + B.mT) - at.R)
    more = (torch.randn_like(u) * size.clamp_min(0.0).sqrt()) @ axes.mT
    return at.a - (u + D.sqrt() * torch.randn_like(u)) @ B + more
