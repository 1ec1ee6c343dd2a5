"""The joint covariance of values of the target and of other sources, with its derivatives.

Notation (no batch dimensions: a search is one search):
    a      n      1 in the rows of the target, rho of a source in its rows
    K_f    n x n  covariance of the objective at all inputs
    E      m x m  covariance of a source's own errors at its m inputs, see `source_errors`
    theta  p      log l, log s2f, log noise variances of the groups, then the coordinates of each source

References:
    Kennedy and O'Hagan (2000), Predicting the output from a complex computer code when fast approximations are
    available; docs/equations.md section 22.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.covariance import UNIT_SIGNAL, Covariance, CovarianceFunction, stationary_blocks
from robustbo.numerics.gp.model import noise_block
from robustbo.numerics.gp.parameters import Block
from robustbo.numerics.linalg.lapack import Array, as_tensor, on_diagonal
from robustbo.numerics.transfer.levels import Levels
from robustbo.numerics.transfer.relations import TARGET, JoinedSource, KernelPriors, SourceRows, places_of
from robustbo.numerics.transfer.source_errors import ErrorParts, Kernel, SourceErrors


class _Parts(NamedTuple):
    """The parts of a covariance at some theta."""

    x: Array
    l: Tensor
    a: Array
    kernel: Any
    errors: dict[int, ErrorParts]


class JointCovariance:
    """The covariance of rows of the target and of sources, as a function of theta.

    Args:
        rows: The rows; each group of them must be the target or one of the sources.
        sources: The sources.
        priors: Of the kernel and the noise.
        has_noise: Whether the noise of the groups is part of the covariance, and its logarithms of theta.

    Attributes:
        blocks: The coordinates of theta.
        at_name: Place of each block's first coordinate in theta.
        rows, sources, priors: As they were given.
    """

    def __init__(
        self, rows: SourceRows, sources: tuple[JoinedSource, ...], priors: KernelPriors, *, has_noise: bool = True
    ) -> None:
        self.rows, self.sources, self.priors, d = rows, sources, priors, rows.X.shape[-1]
        group, groups = rows.group.numpy(), (TARGET, *(source.group for source in sources))
        self._of_group = {g: _place(np.flatnonzero(group == g)) for g in groups}
        is_open = rows.s2_known.isnan().numpy()
        self._known = np.nan_to_num(rows.s2_known.numpy()) if has_noise else np.zeros(len(group))
        self._shared = None if rows.shared is None else (rows.shared @ rows.shared.mT).numpy()
        self._share = is_open * (1.0 if rows.share is None else rows.share.numpy())
        self._noisy = [g for g, at in self._of_group.items() if has_noise and is_open[at].any()]
        noise = [noise_block(priors.s2, priors.s2_least)._replace(name=f"noise{g}") for g in self._noisy]
        own = [block for source in sources for block in source.blocks]
        self.blocks: list[Block] = [*stationary_blocks(d, priors.l, priors.s2f), *noise, *own]
        self.at_name = places_of(self.blocks)
        self._kernel = Kernel.of(rows.X)
        self._errors = {s.group: self._errors_of(s) for s in sources if s.relation != "same"}

    def _errors_of(self, source: JoinedSource) -> SourceErrors:
        rows = self._of_group[source.group]
        levels = None
        if source.is_ordered and self.rows.depth is not None:
            levels = Levels(self.rows.depth.numpy()[rows], source.farthest)
        return SourceErrors(source, self.rows.X[rows], self.priors.kernel, self.at_name, levels)

    @property
    def X(self) -> Tensor:
        """``n x d`` inputs."""
        return self.rows.X

    @property
    def group(self) -> Tensor:
        """The group of each row."""
        return self.rows.group

    def function(self, starts: tuple[Tensor, ...] = ()) -> CovarianceFunction:
        """The covariance as searches take it, with values of theta to begin at."""
        flat = tuple(prior for prior in parameters.priors(self.blocks) if prior is not None)
        bounds = parameters.bounds(self.blocks)
        precision = torch.tensor(parameters.prior_precisions(self.blocks), dtype=torch.float64)
        return CovarianceFunction(self.at, starts, bounds, precision, flat, self.matrices)

    def at(self, theta: Tensor) -> Covariance:
        """The covariance at ``p`` hyperparameters."""
        parts = self._parts(theta)
        K = parts.kernel.K.numpy()
        K = parts.a[:, None] * K * parts.a if self._is_scaled else K.copy()  # eq. 22.2
        for g, errors in parts.errors.items():
            K[_block(self._of_group[g])] += errors.E
        if self._shared is not None:
            K += self._shared
        on_diagonal(K, self._known + self._noise(parts.x))
        log_prior = parameters.log_prior(self.blocks, parts.x.tolist())

        def pullback(G: Tensor) -> Tensor:
            return as_tensor(self._pullback(G.numpy(), parts))

        def tangents(w: Tensor) -> Tensor:
            return as_tensor(self._tangents(w.numpy(), parts))

        return Covariance(torch.from_numpy(K), log_prior, pullback, tangents)

    def scales(self, theta: Tensor) -> Tensor:
        """``n`` factors a, by which the objective enters the rows."""
        return torch.from_numpy(self._scales(theta.numpy()))

    def noise(self, theta: Tensor) -> Tensor:
        """``n`` noise variances of the rows."""
        return torch.from_numpy(self._known + self._noise(theta.numpy()))

    def signal(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """The objective's ``... x d`` length-scales and ``...`` signal variances, at ``... x p`` hyperparameters."""
        d = self.rows.X.shape[-1]
        s2f = UNIT_SIGNAL.expand(theta.shape[:-1]) if self.priors.s2f is None else theta[..., d].exp()
        return theta[..., :d].exp(), s2f

    def errors_between(self, theta: Tensor, group: int, X: Tensor, u: float = 0.0) -> Tensor:
        """``q x m`` prior covariances of a source's errors at new points with those of its rows.

        Args:
            theta: ``p`` hyperparameters.
            group: Of the source; the target, or one that is the same, has no errors.
            X: ``q x d`` points.
            u: Distance of their level from the target's, where the source has levels.
        """
        if group not in self._errors:
            return X.new_zeros(len(X), int((self.rows.group == group).sum()))
        return self._errors[group].between(theta.numpy(), X, u)

    def errors_of_rows(self, theta: Tensor, group: int) -> Tensor:
        """``m x m`` prior covariances of a source's errors in its rows; likewise."""
        m = int((self.rows.group == group).sum())
        has_errors = group in self._errors
        return as_tensor(self._errors[group].parts(theta.numpy()).E) if has_errors else theta.new_zeros(m, m)

    def error_variance(self, theta: Tensor, group: int, u: float = 0.0) -> float:
        """Prior variance of a source's error at a point; likewise."""
        return self._errors[group].variance(theta.numpy(), u) if group in self._errors else 0.0

    def error_height(self, theta: Tensor, group: int, u: float) -> float:
        """Variance of a source's errors at a level, in that of the farthest; 1 where it has no levels."""
        return self._errors[group].height(theta.numpy(), u) if group in self._errors else 1.0

    @property
    def _is_scaled(self) -> bool:
        return any(source.is_scaled for source in self.sources)

    def _noise(self, x: Array) -> Array:
        s2 = np.zeros((*x.shape[:-1], len(self._known)))
        for g in self._noisy:
            at, of_noise = self._of_group[g], self.at_name[f"noise{g}"]
            s2[..., at] = np.exp(x[..., of_noise, None]) * self._share[at]
        return s2

    def _scales(self, x: Array) -> Array:
        a = np.ones((*x.shape[:-1], len(self._known)))
        for source in self.sources:
            if source.is_scaled:
                a[..., self._of_group[source.group]] = x[..., self.at_name[f"scale{source.group}"], None]
        return a

    def _parts(self, theta: Tensor) -> _Parts:
        x, (l, s2f) = theta.numpy(), self.signal(theta)
        name, (form, inputs) = self.priors.kernel, self._kernel
        errors = {g: of.parts(x) for g, of in self._errors.items()}
        return _Parts(x, l, self._scales(x), form.kernel_matrix(name, inputs, l, s2f), errors)

    def _pullback(self, G: Array, parts: _Parts) -> Array:
        x, a, d = parts.x, parts.a, len(parts.l)
        slopes = np.array(parameters.prior_slopes(self.blocks, x.tolist()))
        on_f = a[:, None] * G * a if self._is_scaled else G
        log_l, log_s2f = self._kernel.form.pullback(as_tensor(on_f), self._kernel.inputs, parts.l, parts.kernel)
        slopes[:d] += log_l.numpy()
        if self.priors.s2f is not None:
            slopes[d] += log_s2f.item()
        for g in self._noisy:
            at = self.at_name[f"noise{g}"]
            rows = self._of_group[g]
            slopes[at] += np.exp(x[at]) * (G.diagonal()[rows] * self._share[rows]).sum()
        GK_a = None
        for source in self.sources:
            rows, g = self._of_group[source.group], source.group
            if source.is_scaled:
                GK_a = (G * parts.kernel.K.numpy()) @ a if GK_a is None else GK_a
                slopes[self.at_name[f"scale{g}"]] += 2 * GK_a[rows].sum()  # eq. 22.4
            if g in parts.errors:
                self._errors[g].add_slopes(G[_block(rows)], x, parts.errors[g], slopes)
        return slopes

    def _tangents(self, w: Array, parts: _Parts) -> Array:
        x, a, d, K = parts.x, parts.a, len(parts.l), parts.kernel.K.numpy()
        along = np.zeros((len(x), len(w)))
        form, inputs = self._kernel
        along[:d] = a * form.tangents(as_tensor(a * w), inputs, parts.l, parts.kernel).numpy()
        K_aw = K @ (a * w)
        if self.priors.s2f is not None:
            along[d] = a * K_aw
        for g in self._noisy:
            rows, at = self._of_group[g], self.at_name[f"noise{g}"]
            along[at, rows] = np.exp(x[at]) * w[rows] * self._share[rows]
        for source in self.sources:
            rows, g = self._of_group[source.group], source.group
            if source.is_scaled:
                at = self.at_name[f"scale{g}"]
                along[at] = a * (K[:, rows] @ w[rows])
                along[at, rows] += K_aw[rows]
            if g in parts.errors:
                self._errors[g].add_tangents(w[rows], parts.errors[g], along, rows)
        return along

    def matrices(self, theta: Tensor) -> Tensor:
        """``B x n x n`` covariances at ``B x p`` hyperparameters."""
        x, name, (form, inputs) = theta.numpy(), self.priors.kernel, self._kernel
        K = form.kernel_matrices(name, inputs, *self.signal(theta)).numpy()
        if self._is_scaled:
            a = self._scales(x)
            K *= a[:, :, None] * a[:, None, :]
        for g, errors in self._errors.items():
            K[:, *_block(self._of_group[g])] += errors.matrices(x)
        if self._shared is not None:
            K += self._shared
        diagonal = np.arange(len(self._known))
        K[:, diagonal, diagonal] += self._known + self._noise(x)
        return torch.from_numpy(K)


def _place(rows: NDArray[np.intp]) -> Any:
    """Rows as a slice, where they follow each other: a part of a matrix is no copy then."""
    is_run = len(rows) > 0 and rows[-1] - rows[0] == len(rows) - 1
    return slice(int(rows[0]), int(rows[-1]) + 1) if is_run else rows


def _block(place: Any) -> Any:
    return (place, place) if isinstance(place, slice) else np.ix_(place, place)
