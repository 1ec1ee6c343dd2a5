"""The convex parameterization of relevance pursuit: gradient and Hessian of -2 L in s, in closed form.

With k_i = [K + sigma^2 I]_ii and rho_i = k_i (1 / (1 - s_i) - 1), s in [0, 1): where correlations are small, -2 L is
convex in s though it is not in rho, and L-BFGS then needs fewer steps.

Notation (shapes after any leading batch dimensions):
    K0   n x n   K + sigma^2 I
    Kh   n x n   D(Sg)^(-1/2) Sg D(Sg)^(-1/2), the correlation matrix of Sg = K0 + D(rho)
    Q    n x n   its inverse
    ah   n       Q D(Sg)^(-1/2) r
    s    n       the convex variables
    r    n       residual y - m

References:
    Relevance pursuit, Lemma on the reparameterized Hessian; docs/equations.md section 6 and correction 6.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Convexity(NamedTuple):
    """Gradient (``... x n``) and Hessian (``... x n x n``) of -2 L with respect to s."""

    gradient: Tensor
    hessian: Tensor


def convexity(K0: Tensor, r: Tensor, s: Tensor) -> Convexity:
    """Gradient and Hessian of minus twice the log marginal likelihood, K0 held fixed.

    Args:
        K0: ``... x n x n`` covariance without added variances.
        r: ``... x n`` residual.
        s: ``... x n`` in [0, 1).

    Returns:
        (Q_ii - ah_i^2) / (1 - s_i), and D(1/(1-s)) [2 ah ah' o (Q - I) + 2 D(diag Q) - Q o Q] D(1/(1-s)).
    """
    k = K0.diagonal(dim1=-2, dim2=-1)
    scale = (k / (1 - s)).sqrt()
    eye = torch.eye(K0.shape[-1], dtype=K0.dtype, device=K0.device)
    Kh = (K0 + torch.diag_embed(k * s / (1 - s))) / (scale.unsqueeze(-1) * scale.unsqueeze(-2))  # eq. 6.7
    Q = torch.cholesky_inverse(torch.linalg.cholesky(Kh))
    ah = (Q @ (r / scale).unsqueeze(-1)).squeeze(-1)  # eq. 6.7
    Q_diag = Q.diagonal(dim1=-2, dim2=-1)
    middle = 2 * ah.unsqueeze(-1) * ah.unsqueeze(-2) * (Q - eye) + 2 * torch.diag_embed(Q_diag) - Q.square()  # eq. 6.9
    gradient = (Q_diag - ah.square()) / (1 - s)  # eq. 6.8
    return Convexity(gradient, middle / ((1 - s).unsqueeze(-1) * (1 - s).unsqueeze(-2)))
