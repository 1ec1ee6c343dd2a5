"""Computation-aware Gaussian processes: what so many looks at the data tell, and how sure one may be after them.

Each iteration looks at the observations through one action s. The representer weights v = A^-1 z that it has not seen
stay uncertain, and this adds to the predictive variance: the combined variance k_xx - |D'k_x|^2 never rises with the
iterations, and never falls below that of the exact process.

Notation (no batch dimensions: an iteration is one iteration):
    A     n x n  covariance of the observations, noise included (for IterRCGP: K + s2 J)
    z     n      targets less the prior mean (for IterRCGP: the moved ones)
    v     n      representer weights so far; the mean at x is m + k_x'v
    r     n      residual z - A v
    s     n      action, by the policy
    d     n      the action, A-orthogonal to those before
    eta          d'A d
    D     n x i  d / sqrt(eta), so that D'A D = I; C = D D' stands for A^-1, and v = C z
    AD    n x i  A D

References:
    Wenger and others (2022), Posterior and computational uncertainty in Gaussian processes (IterGP); Computation-aware
    robust Gaussian processes (IterRCGP), equations 5 to 10; docs/equations.md section 8.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

SINGULAR = 1e-9  # eigenvalue of a two by two Gram matrix that was the identity before a row was left out
NEGLIGIBLE = 1e-12  # of s'A s: an action that brings no more than this is in the span of those before
SMALL = 1e-2  # likewise: the product of what is left of such an action is made anew, or rounding would pass on and grow

# From the number of actions so far and the residual to the next actions S and A S, ``n x b`` each; None at the end.
Policy = Callable[[int, Tensor], tuple[Tensor, Tensor] | None]


class WeightBelief(NamedTuple):
    """Belief on the representer weights after the iterations.

    Attributes:
        z: ``n`` targets.
        v: ``n`` representer weights.
        r: ``n`` residuals.
        D: ``n x i`` A-orthonormal actions; the first j columns are those of j iterations.
        AD: ``n x i`` their products with A.
        converged: Whether the residual fell below the tolerance.
    """

    z: Tensor
    v: Tensor
    r: Tensor
    D: Tensor
    AD: Tensor
    converged: bool

    def first(self, i: int) -> "WeightBelief":
        """Belief after the first i actions that brought something."""
        D, AD = self.D[:, :i], self.AD[:, :i]
        on = D.mT @ self.z
        return WeightBelief(self.z, D @ on, self.z - AD @ on, D, AD, False)

    def explain(self, k: Tensor) -> tuple[Tensor, Tensor]:
        """See `gp.posterior.Posterior`."""
        root = k @ self.D
        return k @ self.v, root @ root.mT  # eq. 8.4

    def variance_reduction(self, k: Tensor) -> Tensor:
        """``... x m`` parts |D'k_x|^2 of the prior variance that are gone, for ``... x m x n`` covariances k."""
        return (k @ self.D).square().sum(-1)  # eq. 8.4


def iterate(
    z: Tensor,
    policy: Policy,
    product: Callable[[Tensor], Tensor],
    *,
    max_iter: int,
    tol: float = 0.0,
    N: Tensor | None = None,
) -> WeightBelief:
    """Update the belief action by action, each made A-orthogonal to all before, twice, so that rounding cannot tell.

    Args:
        z: ``n`` targets less the prior mean.
        policy: Gives actions and their products with A.
        product: A times ``n x b`` numbers.
        max_iter: Actions at most; those that bring nothing do not count.
        tol: Residual, relative to the targets, at which to stop; 0 to go on, for the sake of the variance.
        N: ``n`` noise variances, in whose units both are measured, or a gross value is all there is to them; all alike
            by default.
    """
    sd = torch.ones_like(z) if N is None else N.sqrt()
    v, r, enough = torch.zeros_like(z), z.clone(), tol * (z / sd).norm()
    D, AD = z.new_zeros(2, max_iter, len(z))  # rows are the actions: they lie together in memory
    num_taken, count = 0, 0
    while count < max_iter and (tol == 0 or (r / sd).norm() > enough) and (actions := policy(num_taken, r)) is not None:
        for s, As in zip(*(M.mT for M in actions), strict=True):
            if count == max_iter:
                break
            num_taken, before, all_of_it = num_taken + 1, (D[:count], AD[:count]), s @ As
            d, Ad = _apart(*_apart(s, As, *before), *before)
            eta = d @ Ad  # eq. 8.2
            if not eta > NEGLIGIBLE * all_of_it:
                continue
            if eta < SMALL * all_of_it:
                d, Ad = _apart(d, product(d.unsqueeze(-1)).squeeze(-1), *before)
                eta = d @ Ad
            step = (d @ r) / eta
            v, r = v + step * d, r - step * Ad  # eq. 8.3
            D[count], AD[count] = d / eta.sqrt(), Ad / eta.sqrt()  # eq. 8.3
            count += 1
    return WeightBelief(z, v, r, D[:count].mT, AD[:count].mT, bool((r / sd).norm() <= enough))


def _apart(d: Tensor, Ad: Tensor, D: Tensor, AD: Tensor) -> tuple[Tensor, Tensor]:
    """An action and its product with A, made A-orthogonal to others, which are rows here."""
    on = D @ Ad
    return d - on @ D, Ad - on @ AD


class LatentPrediction(NamedTuple):
    """The latent value of each observation as the others tell it: mean (less the prior's) and variance."""

    mean: Tensor
    variance: Tensor


def leave_one_out(belief: WeightBelief, A_ii: Tensor, K_ii: Tensor) -> LatentPrediction:
    """Predict each observation's latent value by the same iterations, its own row left out of every action.

    With d and a the i-th rows of D and A D, the actions without row i have the Gram matrix
    M = I - d u' - u d' - A_ii d d' and the covariance u = a - A_ii d with the latent value: what matters lies in the
    plane of d and u, so that two by two matrices will do. Where M is singular, that combination of the actions was the
    observation itself, and is gone.

    Args:
        belief: After the iterations.
        A_ii: ``n`` diagonal of A.
        K_ii: ``n`` prior variances of the latent values, or one.

    Returns:
        O(n i) in all; after n actions the exact process's.
    """
    d, a = (torch.nn.functional.pad(M, (0, max(0, 2 - M.shape[-1]))) for M in (belief.D, belief.AD))
    targets = d.mT @ belief.z
    u = a - A_ii.unsqueeze(-1) * d
    b = targets - d * belief.z.unsqueeze(-1)  # the actions' targets without the observation's
    plane = torch.stack([d, u], dim=-1)  # n x i x 2
    size = plane.square().sum(-2, keepdim=True).sqrt().clamp_min(torch.finfo(d.dtype).tiny)
    Q, R = torch.linalg.qr(plane / size)
    d2, u2 = (R * size).unbind(-1)
    cross = d2.unsqueeze(-1) * u2.unsqueeze(-2)
    M = torch.eye(2).to(d) - cross - cross.mT - A_ii[:, None, None] * d2.unsqueeze(-1) * d2.unsqueeze(-2)
    values, vectors = torch.linalg.eigh(M)
    is_there = values > SINGULAR
    inverse = torch.where(is_there, 1 / values.masked_fill(~is_there, 1.0), torch.zeros_like(values))
    on_u, on_b = ((vectors.mT @ x.unsqueeze(-1)).squeeze(-1) for x in (u2, (Q.mT @ b.unsqueeze(-1)).squeeze(-1)))
    return LatentPrediction((on_u * inverse * on_b).sum(-1), K_ii - (on_u.square() * inverse).sum(-1))
