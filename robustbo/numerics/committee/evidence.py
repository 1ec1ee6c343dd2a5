"""The evidence of a committee: many small processes that share their hyperparameters, some of them at a time.

Notation (``E`` experts of up to ``n`` observations, those with fewer padded), beside that of `heavy_tailed`:
    l     d   length-scales
    s2f       signal variance
    m         constant mean

References:
    Mair and Brefeld (2018), Distributed robust Gaussian process regression; docs/equations.md section 9.
"""

from functools import reduce
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.committee import errors, heavy_tailed
from robustbo.numerics.committee.aggregation import Experts, Rule, Sums, latent
from robustbo.numerics.committee.partition import MEMORY, Shards
from robustbo.numerics.gp import evidence as gaussian
from robustbo.numerics.gp import kernels_tiled
from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.gp.kernels import Kernel
from robustbo.numerics.student_t import likelihood, predictive
from robustbo.numerics.student_t.laplace import Noise

BLOCK = 2**22  # numbers of covariances with points that are at work at once: 32 MiB


class SharedHyperparameters(NamedTuple):
    """Hyperparameters that the experts share.

    Attributes:
        kernel: A name of `kernels.KERNELS`.
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

    def prior(self, shards: Shards) -> tuple[Kernel, Tensor]:
        """Kernel, and ``E x n x n`` covariances of the latent values, zero where padded."""
        matrix = kernels_tiled.kernel_matrix(self.kernel, shards.X, self.l, self.s2f)
        return matrix, matrix.K if shards.is_full else matrix.K * shards.mask.unsqueeze(-1) * shards.mask.unsqueeze(-2)

    def covariance(self, X: Tensor, Z: Tensor) -> Tensor:
        """``a x b`` covariances of the latent values at ``a x d`` and ``b x d`` inputs; without derivatives."""
        center = Z.mean(0)
        return self.s2f * kernels_tiled.correlation(self.kernel, (X - center) / self.l, (Z - center) / self.l)

    def residual(self, shards: Shards) -> Tensor:
        """``E x n`` values less the mean, zero where padded."""
        return (shards.y - self.m) * shards.mask

    def noise(self, shards: Shards) -> Noise:
        """The Student-t likelihood's parameters."""
        assert self.nu is not None
        return Noise(self.variances(shards), self.nu)

    def variances(self, shards: Shards) -> Tensor:
        """Noise variances, or squared scales: ``E x n`` where they are known, one where not."""
        return self.s2 if shards.s2 is None else shards.s2


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


def evidence(shards: Shards, shared: SharedHyperparameters, f: Tensor | None = None, memory: float = MEMORY) -> Total:
    """The sum of the experts' evidences, approximate where the noise is Student-t, and its gradient. O(E n^3).

    Args:
        shards: The observations.
        shared: What the experts share.
        f: ``E x n`` latent values less the mean, near the modes; from nothing by default.
        memory: Bytes that a chunk of experts may take, about.
    """
    parts = [_evidence(shards.part(rows), shared, None if f is None else f[rows]) for rows in shards.chunks(memory)]
    *sums, modes = zip(*parts, strict=True)
    return Total(*[*(torch.stack(column).sum(0) for column in sums), torch.cat(modes)])


def _evidence(shards: Shards, shared: SharedHyperparameters, f: Tensor | None) -> Total:
    kernel, K = shared.prior(shards)
    r, zero = shared.residual(shards), torch.zeros_like(shared.m)
    if shared.nu is None:
        s2 = shared.variances(shards)
        Sg = K + torch.diag_embed(s2 * shards.mask + (1 - shards.mask))
        evidences = gaussian.evidence(Sg, r, r.new_zeros(len(r)))
        L = (evidences.L + 0.5 * LOG_2PI * (1 - shards.mask).sum(-1)).sum()
        L = L if evidences.converged else torch.full_like(L, -torch.inf)
        G, by_m, f_new = evidences.G, (evidences.al * shards.mask).sum(), torch.zeros_like(r)
        by_s2, by_nu = (G.diagonal(dim1=-2, dim2=-1) * s2 * shards.mask).sum(), zero
    else:
        many = heavy_tailed.evidences(K, r, shared.noise(shards), shards.mask, f)
        L, by_s2, by_nu, by_m = (sums.sum() for sums in (many.L, many.log_s2, many.log_nu, many.m))
        G, f_new = many.K, many.f
    if not shards.is_full:
        G = G * shards.mask.unsqueeze(-1) * shards.mask.unsqueeze(-2)
    by_l, by_s2f = kernels_tiled.pullback(G, shards.X, shared.l, kernel)
    return Total(L, by_l.sum(0), by_s2f.sum(), by_s2, by_nu, by_m, f_new)  # eq. 9.4


def build_experts(
    shards: Shards, shared: SharedHyperparameters, f: Tensor | None = None, memory: float = MEMORY
) -> Experts:
    """The experts, curvatures with their signs."""
    parts = [
        _build_experts(shards.part(rows), shared, None if f is None else f[rows]) for rows in shards.chunks(memory)
    ]
    return Experts(*(torch.cat(column) for column in zip(*parts, strict=True)))


def _build_experts(shards: Shards, shared: SharedHyperparameters, f: Tensor | None) -> Experts:
    _, K = shared.prior(shards)
    r, mask = shared.residual(shards), shards.mask
    if shared.nu is None:
        a, W = None, mask / shared.variances(shards)
    else:
        a, W = heavy_tailed.weights(K, r, shared.noise(shards), mask, f)
    LU, pivots, _ = torch.linalg.lu_factor_ex(_identity_plus(W.unsqueeze(-1) * K))
    if a is None:
        a = torch.linalg.lu_solve(LU, pivots, (W * r).unsqueeze(-1)).squeeze(-1)
    return Experts(a, W, LU, pivots)


def sum_predictions(shards: Shards, experts: Experts, shared: SharedHyperparameters, X: Tensor, rule: Rule) -> Sums:
    """Sum what all experts predict of the latent values (less the mean) at ``q x d`` inputs; sums may be added up."""
    v0 = shared.s2f.expand(len(X))
    size = max(1, BLOCK // (len(X) * shards.y.shape[-1]))
    sums = []
    for start in range(0, len(shards.y), size):
        part, of = shards.part(slice(start, start + size)), experts.part(slice(start, start + size))
        k = shared.covariance(X, part.X.flatten(0, 1)).unflatten(1, part.y.shape).movedim(1, 0)
        sums.append(rule.sums(*latent(k * part.mask.unsqueeze(-2), of, v0), v0))
    return reduce(Sums.plus, sums)


def error_correlation(shards: Shards, experts: Experts, shared: SharedHyperparameters, X: Tensor) -> Tensor:
    """``q`` correlations of the experts' errors at ``q x d`` inputs, by the first of them; without derivatives."""
    pairs, v0 = errors.first_pairs(shards, shared.covariance), shared.s2f.expand(len(X))
    return errors.correlation(X, shards, experts, shared.l, v0, shared.covariance, pairs)


class Judgement(NamedTuple):
    """Leave-one-out predictions within each expert.

    Attributes:
        e: ``E x n`` errors.
        variance: ``E x n`` variances of the prediction, noise included.
        log_chance: ``E x n`` log chances of an error beyond, on its side.
        weight: ``E x n`` weights: how much an observation counts, 1 being all.
    """

    e: Tensor
    variance: Tensor
    log_chance: Tensor
    weight: Tensor


def judge(shards: Shards, shared: SharedHyperparameters, experts: Experts, memory: float = MEMORY) -> Judgement:
    """Leave-one-out predictions within each expert, the weights of the others kept.

    Where the noise is Student-t each counts as one with normal noise of the variance that pulls as much: at the mode
    this is the same process, and unlike with curvatures, some of which are negative, no cavity explodes.
    """
    parts = [_judge(shards.part(rows), shared, experts.part(rows)) for rows in shards.chunks(memory)]
    return Judgement(*(torch.cat(column) for column in zip(*parts, strict=True)))


def _judge(shards: Shards, shared: SharedHyperparameters, experts: Experts) -> Judgement:
    _, K = shared.prior(shards)
    r, s2 = shared.residual(shards), shared.variances(shards)
    f = experts.mean(K)
    V = s2.expand_as(r) if shared.nu is None else likelihood.em_variance(r - f, *shared.noise(shards))
    W = shards.mask / V
    mean, v = predictive.cavity_of(f, _variances(K, W), W, experts.a)
    e = r - mean
    if shared.nu is None:
        return Judgement(e, v + s2, predictive.normal_log_tail(e, (v + s2).sqrt()), torch.ones_like(r))
    noise = shared.noise(shards)
    log_chance = predictive.log_cdf(-e.abs(), torch.zeros_like(e), v, noise)
    return Judgement(e, v + predictive.variance(noise), log_chance, s2 / V)


def _variances(K: Tensor, W: Tensor) -> Tensor:
    """``E x n`` posterior variances of the latent values, by weights that are not negative."""
    root = W.sqrt()
    C, _ = torch.linalg.cholesky_ex(_identity_plus(root.unsqueeze(-1) * K * root.unsqueeze(-2)))
    T = torch.linalg.solve_triangular(C, root.unsqueeze(-1) * K, upper=False)
    return K.diagonal(dim1=-2, dim2=-1) - T.square().sum(-2)


def _identity_plus(M: Tensor) -> Tensor:
    """I + M, in place of M."""
    M.diagonal(dim1=-2, dim2=-1).add_(1.0)
    return M
