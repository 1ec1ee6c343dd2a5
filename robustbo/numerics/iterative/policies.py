"""Policies for `solver.iterate`: the actions by which a computation-aware process looks at its data.

Notation as in `solver`; and
    Z   m x d  pseudo-inputs
    L   n x k  pivoted partial Cholesky factor of the kernel's matrix

References:
    Wenger and others (2022), Table 1; docs/equations.md section 8.
"""

from collections.abc import Callable

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from torch import Tensor

from robustbo.numerics.gp.kernels_tiled import TiledCovariance
from robustbo.numerics.iterative.solver import Policy

NAMES = ("residual", "preconditioned", "unit", "weight", "eigenvectors", "pseudo-inputs")
TOGETHER = 32  # actions that are known beforehand and share one pass over the kernel's matrix
EXHAUSTED = 1e-10  # of the targets: a residual that is rounding
RANK = 50  # of the preconditioner
DENSE = 500  # up to so many observations eigenvectors come from the whole matrix


def unit(A: TiledCovariance, order: Tensor) -> Policy:
    """One observation after the other, in an order: after i of them, the exact process of these i."""

    def policy(num_taken: int, r: Tensor) -> tuple[Tensor, Tensor] | None:
        rows = order[num_taken : num_taken + TOGETHER]
        if not len(rows):
            return None
        S = r.new_zeros(len(r), len(rows))
        S[rows, torch.arange(len(rows))] = 1.0
        return S, A.columns(rows)  # eq. 8.6

    return policy


def residual(A: TiledCovariance, z: Tensor, precondition: Callable[[Tensor], Tensor] | None = None) -> Policy:
    """The residual, or what a preconditioner makes of it: the iterates are those of conjugate gradients.

    Where nothing is left of the targets z in units of the noise, or the residual brings nothing new, the mean is known;
    the rest of the actions, one observation after the other, is for the variance.
    """
    nothing, rest = EXHAUSTED * (z / A.N.sqrt()).norm(), unit(A, torch.arange(len(z)))
    last, offered = None, 0

    def policy(_: int, r: Tensor) -> tuple[Tensor, Tensor] | None:
        nonlocal last, offered
        if offered == 0 and r is not last and (r / A.N.sqrt()).norm() > nothing:
            last = r
            s = (r if precondition is None else precondition(r)).unsqueeze(-1)
            s = s / s.abs().max()
            return s, A.times(s)  # eq. 8.6
        offered += TOGETHER
        return rest(offered - TOGETHER, r)

    return policy


def fixed_actions(A: TiledCovariance, S: Tensor) -> Policy:
    """The columns of ``n x m`` S, one after the other: eigenvectors, or kernel columns at pseudo-inputs."""

    def policy(num_taken: int, _: Tensor) -> tuple[Tensor, Tensor] | None:
        actions = S[:, num_taken : num_taken + TOGETHER]
        return (actions, A.times(actions)) if actions.shape[-1] else None

    return policy


def eigenvectors(A: TiledCovariance, count: int) -> Tensor:
    """``n x count`` directions in which A tells most beside its noise; by Lanczos where n is large.

    They are D(N)^(-1/2) times the eigenvectors of D(N)^(-1/2) A D(N)^(-1/2), the largest eigenvalues first: those of A
    where the noise is the same for all. Where it is not, those of A would look at the noisiest observations first.
    """
    n, root = len(A.X), A.N.rsqrt().unsqueeze(-1)
    if n <= max(DENSE, 2 * count):
        return root * torch.linalg.eigh(root * A.dense() * root.mT).eigenvectors.flip(-1)[:, :count]

    def product(w: np.ndarray) -> np.ndarray:
        return (root * A.times(root * torch.from_numpy(w).to(root).reshape(n, -1))).cpu().numpy()

    _, vectors = eigsh(LinearOperator((n, n), product, dtype=float), k=count, which="LA", v0=np.ones(n))
    return root * torch.from_numpy(vectors[:, ::-1].copy()).to(root)


def pivoted_cholesky(A: TiledCovariance, rank: int) -> tuple[Tensor, Tensor]:
    """The kernel's matrix, greedily: ``n x k`` factor L and the ``k`` rows, each the one least known from those before.

    Ends early where nothing is left.

    References:
        Harbrecht, Peters and Schneider (2012), On the low-rank approximation by the pivoted Cholesky decomposition.
    """
    left, factor, pivots = A.s2f.expand(len(A.X)).clone(), A.X.new_zeros(rank, len(A.X)), list[int]()
    for k in range(min(rank, len(A.X))):
        pivot = int(left.argmax())
        if not left[pivot] > torch.finfo(left.dtype).eps * A.s2f:
            break
        column = A.latent(torch.tensor([pivot])).squeeze(-1) - factor[:k, pivot] @ factor[:k]
        factor[k] = column / left[pivot].sqrt()
        left = (left - factor[k].square()).clamp_min(0.0)
        left[pivot] = 0.0
        pivots.append(pivot)
    return factor[: len(pivots)].mT, torch.tensor(pivots, dtype=torch.long)


def preconditioner(A: TiledCovariance, rank: int) -> Callable[[Tensor], Tensor]:
    """The inverse of L L' + D(N), applied to a vector."""
    L, _ = pivoted_cholesky(A, rank)
    scaled = L / A.N.unsqueeze(-1)
    inner = torch.linalg.cholesky(torch.eye(L.shape[-1]).to(L) + L.mT @ scaled)

    def apply(r: Tensor) -> Tensor:
        return r / A.N - scaled @ torch.cholesky_solve((scaled.mT @ r).unsqueeze(-1), inner).squeeze(-1)

    return apply


def by_name(name: str, A: TiledCovariance, z: Tensor, share: Tensor, count: int) -> Policy:
    """The policy of a name of `NAMES`, for some covariance, targets, squared weights and number of actions."""
    match name:
        case "residual":
            return residual(A, z)
        case "preconditioned":
            return residual(A, z, preconditioner(A, RANK))
        case "eigenvectors":
            return fixed_actions(A, eigenvectors(A, count))
        case "pseudo-inputs":
            columns = A.latent(pivoted_cholesky(A, count)[1])
            return fixed_actions(A, torch.linalg.qr(columns).Q)  # the same spans, better conditioned
        case "weight":
            return unit(A, share.argsort(descending=True, stable=True))
        case "unit":
            return unit(A, torch.arange(len(A.X)))
    raise ValueError(f"policy must be one of {list(NAMES)}, got {name!r}")
