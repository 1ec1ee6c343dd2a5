"""Cholesky factors, and what one factor tells about every observation at once.

Notation (shapes after any leading batch dimensions):
    Sg   n x n   covariance of the observations, K + sigma^2 I + D(rho)
    K0   n x n   K + sigma^2 I
    L    n x n   lower Cholesky factor of Sg
    P    n x n   inverse of Sg
    r    n       residual y - m(X)
    al   n       P r
    rho  n       variances added to single observations, zero for inliers
"""

from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.errors import NumericalError

JITTERS = (0.0, 1e-10, 1e-8, 1e-6, 1e-4)  # of the mean diagonal; float64 factors succeed at the first in practice

GROSS = 1e7  # times the mean variance: an observation with so much more tells the others nothing


class Factor(NamedTuple):
    """A lower Cholesky factor, and the jitter that was added to the diagonal to get it."""

    L: Tensor
    jitter: Tensor


class LeaveOneOut(NamedTuple):
    """The prediction of each observation by all the others: mean and variance (noise included)."""

    mean: Tensor
    variance: Tensor


def factor(Sg: Tensor) -> Factor:
    """Cholesky factor of a covariance, with as much jitter as it takes.

    Args:
        Sg: ``... x n x n`` symmetric matrix.

    Returns:
        The ``... x n x n`` factor of Sg + jitter I, and the ``...`` jitter.

    Raises:
        NumericalError: If no jitter up to 1e-4 of the mean diagonal makes every matrix positive definite.
    """
    scale = Sg.diagonal(dim1=-2, dim2=-1).mean(-1)
    for relative in JITTERS:
        jitter = relative * scale
        L, info = torch.linalg.cholesky_ex(Sg + torch.diag_embed(jitter.unsqueeze(-1).expand(Sg.shape[:-1])))
        if not info.any():
            return Factor(L, jitter)
    raise NumericalError(f"Sg must be positive definite up to a jitter of {JITTERS[-1]:g} of its mean diagonal")


def leave_one_out(r: Tensor, K0: Tensor, rho: Tensor, P: Tensor | None = None) -> LeaveOneOut:
    """Leave-one-out residual means and variances, each observation's own added variance removed.

    The mean is that of the residual: add m(X) for the observation's. One factorization serves all n, O(n^3). Beside a
    gross rho_i both 1 / P_ii - rho_i and r_i - al_i / P_ii would cancel to nothing; so gross variances are capped and
    their residuals, on which no other prediction depends and their own neither, are set to zero.

    Args:
        r: ``... x n`` residual.
        K0: ``... x n x n`` covariance of the observations without added variances.
        rho: ``... x n`` added variances.
        P: ``... x n x n`` inverse of K0 + D(rho), if at hand; it serves where no variance is gross.

    Returns:
        ``... x n`` means r_i - al_i / P_ii and variances 1 / P_ii - rho_i.

    References:
        docs/equations.md section 6; relevance pursuit, appendix, with the added variance subtracted (correction 1).
    """
    r, capped, P = _cap_gross(r, K0, rho, P)
    P_diag = P.diagonal(dim1=-2, dim2=-1)
    return LeaveOneOut(r - (P @ r.unsqueeze(-1)).squeeze(-1) / P_diag, 1 / P_diag - capped)  # eq. 6.2


def leave_out(r: Tensor, K0: Tensor, rho: Tensor, group: Tensor, P: Tensor | None = None) -> LeaveOneOut:
    """Residual means and their covariance, of a group that is left out at once, its own added variances removed.

    Args:
        r: ``n`` residual.
        K0: ``n x n`` covariance of the observations without added variances.
        rho: ``n`` added variances.
        group: ``m`` indices.
        P: As for `leave_one_out`.

    Returns:
        ``m`` means and their ``m x m`` covariance.
    """
    r, capped, P = _cap_gross(r, K0, rho, P)
    C = torch.cholesky_inverse(factor(P[group][:, group]).L)
    return LeaveOneOut(r[group] - C @ (P[group] @ r), C - torch.diag(capped[group]))  # eq. 6.18


def _cap_gross(r: Tensor, K0: Tensor, rho: Tensor, P: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Cap gross variances and set their residuals to zero; with these, the inverse that goes along."""
    capped = rho.minimum(GROSS * K0.diagonal(dim1=-2, dim2=-1).mean(-1, keepdim=True))
    r = torch.where(rho > capped, torch.zeros_like(r), r)
    if P is None or not torch.equal(capped, rho):
        P = torch.cholesky_inverse(factor(K0 + torch.diag_embed(capped)).L)
    return r, capped, P
