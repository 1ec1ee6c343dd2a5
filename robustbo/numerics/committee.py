"""The evidence of a committee: many small processes that share their hyperparameters, some of them at a time.

Notation (``E`` experts of up to ``n`` observations, those with fewer padded), beside that of `laplace_batch`:
    l     d   length-scales
    s2f       signal variance
    m         constant mean

References:
    Mair and Brefeld (2018), Distributed robust Gaussian process regression; equations.md section 9.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics import evidence as gaussian
from robustbo.numerics import laplace_batch
from robustbo.numerics.evidence import LOG_2PI
from robustbo.numerics.kernels import KERNELS, Kernel, pullback, squared_differences
from robustbo.numerics.laplace import Noise
from robustbo.numerics.laplace_batch import Modes

MEMORY = 2**29  # bytes that a chunk of experts may take, about


class Shards(NamedTuple):
    """The observations, by expert.

    Attributes:
        X: ``E x n x d`` inputs.
        y: ``E x n`` values.
        mask: ``E x n``, 1 where there is an observation, 0 where there is padding.
        s2: ``E x n`` known noise variances (squared scales), or None.
    """

    X: Tensor
    y: Tensor
    mask: Tensor
    s2: Tensor | None = None

    def part(self, rows: slice | Tensor) -> "Shards":
        """Some of the experts."""
        return Shards(self.X[rows], self.y[rows], self.mask[rows], None if self.s2 is None else self.s2[rows])

    def chunks(self, memory: float = MEMORY) -> Iterator[slice]:
        """The experts in chunks whose matrices take no more than so many bytes, one expert at least."""
        (E, n), d = self.y.shape, self.X.shape[-1]
        size = max(1, int(memory / (8 * n * n * (2 * d + 12))))
        return (slice(start, min(start + size, E)) for start in range(0, E, size))


class Shared(NamedTuple):
    """What the experts share.

    Attributes:
        kernel: A name of `KERNELS`.
        l: ``d`` length-scales.
        s2f: Signal variance.
        s2: Noise variance, or squared scale; of no account where it is known.
        nu: Degrees of freedom of the noise; None for a normal one.
        m: Constant mean.
    """

    kernel: str
    l: Tensor
    s2f: Tensor
    s2: Tensor
    nu: Tensor | None
    m: Tensor

    def prior(self, shards: Shards) -> tuple[Tensor, Kernel, Tensor]:
        """Squared differences, kernel, and ``E x n x n`` covariances of the latent values, zero where padded."""
        D = squared_differences(shards.X, shards.X)
        found = KERNELS[self.kernel](D, self.l, self.s2f)
        return D, found, found.K * shards.mask.unsqueeze(-1) * shards.mask.unsqueeze(-2)

    def residual(self, shards: Shards) -> Tensor:
        """``E x n`` values less the mean, zero where padded."""
        return (shards.y - self.m) * shards.mask

    def noise(self, shards: Shards) -> Noise:
        """The Student-t likelihood's parameters."""
        assert self.nu is not None
        return Noise(self.s2 if shards.s2 is None else shards.s2, self.nu)


class Total(NamedTuple):
    """Sums over the experts.

    Attributes:
        L: Evidence; -inf where an expert has none.
        log_l: ``d`` values of dL / d log l.
        log_s2f: dL / d log s2f.
        log_s2: dL / d log s2.
        log_nu: dL / d log nu; zero for a normal noise.
        m: dL / dm.
        f: ``E x n`` modes (zero for a normal noise), from which the next evaluation may begin.
    """

    L: Tensor
    log_l: Tensor
    log_s2f: Tensor
    log_s2: Tensor
    log_nu: Tensor
    m: Tensor
    f: Tensor


def evidence(shards: Shards, shared: Shared, f: Tensor | None = None, memory: float = MEMORY) -> Total:
    """The sum of the experts' evidences, approximate where the noise is Student-t, and its gradient. O(E n^3).

    Args:
        shards: The observations.
        shared: What the experts share.
        f: ``E x n`` latent values less the mean, near the modes; from nothing unless given.
        memory: Bytes that a chunk of experts may take, about.
    """
    parts = [_evidence(shards.part(rows), shared, None if f is None else f[rows]) for rows in shards.chunks(memory)]
    *sums, modes = zip(*parts, strict=True)
    return Total(*[*(torch.stack(column).sum(0) for column in sums), torch.cat(modes)])


def _evidence(shards: Shards, shared: Shared, f: Tensor | None) -> Total:
    D, kernel, K = shared.prior(shards)
    r, zero = shared.residual(shards), torch.zeros_like(shared.m)
    if shared.nu is None:
        s2 = shared.s2 if shards.s2 is None else shards.s2
        Sg = K + torch.diag_embed(s2 * shards.mask + (1 - shards.mask))
        one = gaussian.evidence(Sg, r, r.new_zeros(len(r)))
        L = (one.L + 0.5 * LOG_2PI * (1 - shards.mask).sum(-1)).sum()
        L = L if one.converged else torch.full_like(L, -torch.inf)
        G, by_m, f_new = one.G, (one.al * shards.mask).sum(), torch.zeros_like(r)
        by_s2, by_nu = (G.diagonal(dim1=-2, dim2=-1) * s2 * shards.mask).sum(), zero
    else:
        noise = shared.noise(shards)
        many = laplace_batch.evidences(K, r, noise, shards.mask, modes_of(K, r, noise, shards.mask, f))
        L, G, by_s2, by_nu, by_m, f_new = (
            many.L.sum(),
            many.K,
            many.log_s2.sum(),
            many.log_nu.sum(),
            many.m.sum(),
            many.f,
        )
    G = G * shards.mask.unsqueeze(-1) * shards.mask.unsqueeze(-2)
    by_l, by_s2f = pullback(G, D, shared.l, kernel)
    return Total(L, by_l.sum(0), by_s2f.sum(), by_s2, by_nu, by_m, f_new)


def modes_of(K: Tensor, r: Tensor, noise: Noise, mask: Tensor, f: Tensor | None) -> Modes:
    """The experts' modes: from latent values near them, or from nothing."""
    if f is None:
        return laplace_batch.cold_modes(K, r, noise, mask)
    return laplace_batch.find_modes(K, r, noise, mask, f, laplace_batch.WARM_STEPS)


class Experts(NamedTuple):
    """What predictions need of the experts.

    Attributes:
        a: ``E x n`` representer weights: the latent mean at x is m + k'a.
        R: ``E x n x n``: its variance is k** - k'R k.
    """

    a: Tensor
    R: Tensor


def experts(shards: Shards, shared: Shared, f: Tensor | None = None, memory: float = MEMORY) -> Experts:
    """The experts, curvatures with their signs."""
    parts = [_experts(shards.part(rows), shared, None if f is None else f[rows]) for rows in shards.chunks(memory)]
    return Experts(*(torch.cat(column) for column in zip(*parts, strict=True)))


def _experts(shards: Shards, shared: Shared, f: Tensor | None) -> Experts:
    _, _, K = shared.prior(shards)
    r, mask = shared.residual(shards), shards.mask
    if shared.nu is None:
        s2 = shared.s2 if shards.s2 is None else shards.s2
        C = torch.linalg.cholesky(K + torch.diag_embed(s2 * mask + (1 - mask)))
        P = torch.cholesky_inverse(C) * mask.unsqueeze(-1) * mask.unsqueeze(-2)
        return Experts((P @ r.unsqueeze(-1)).squeeze(-1), P)
    noise = shared.noise(shards)
    modes = modes_of(K, r, noise, mask, f)
    return Experts(modes.a, laplace_batch.weights(K, r, noise, mask, modes))


def random_parts(n: int, num_experts: int, generator: torch.Generator) -> list[Tensor]:
    """Rows by expert: drawn, the sizes differing by one at most."""
    return list(torch.randperm(n, generator=generator).tensor_split(num_experts))


def clustered_parts(X: Tensor, num_experts: int) -> list[Tensor]:
    """Rows by expert: neighbours together, halves again and again across the widest input; sizes as near as may be."""

    def split(rows: Tensor, count: int) -> list[Tensor]:
        if count == 1:
            return [rows]
        inputs = X[rows]
        widest = int((inputs.amax(0) - inputs.amin(0)).argmax())
        ordered, few = rows[inputs[:, widest].argsort(stable=True)], count // 2
        at = len(rows) * few // count
        return [*split(ordered[:at], few), *split(ordered[at:], count - few)]

    return split(torch.arange(len(X)), num_experts)


def shard(X: Tensor, y: Tensor, parts: list[Tensor], s2: Tensor | None = None) -> Shards:
    """The observations by expert, padded to the largest."""
    n = max(len(rows) for rows in parts)
    index = torch.stack([torch.cat([rows, rows.new_zeros(n - len(rows))]) for rows in parts])
    mask = torch.stack([torch.arange(n) < len(rows) for rows in parts]).to(y.dtype)
    return Shards(X[index], y[index] * mask, mask, None if s2 is None else s2[index])
