"""The joint covariance of values of the target and of other sources, with its derivatives.

Notation (no batch dimensions: a search is one search):
    a      n      1 in the rows of the target, rho of a source in its rows
    K_f    n x n  covariance of the objective at all inputs
    B2            variance of a source's offset
    K_d    m x m  covariance of a source's bias at its m inputs: omega^2 times correlations with longer length-scales
    theta  p      log l, log s2f, log noise variances of the groups, then the coordinates of each source

References:
    Kennedy and O'Hagan (2000), Predicting the output from a complex computer code when fast approximations are
    available; docs/equations.md section 22.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp import kernels, kernels_paired, kernels_tiled, parameters
from robustbo.numerics.gp.covariance import MANY, UNIT_SIGNAL, Covariance, CovarianceFunction, stationary_blocks
from robustbo.numerics.gp.log_posterior import noise_block
from robustbo.numerics.gp.parameters import Block
from robustbo.numerics.linalg.lapack import Array, as_tensor, on_diagonal
from robustbo.numerics.transfer.relations import TARGET, JoinedSource, KernelPriors, SourceRows, places_of


class _Kernel(NamedTuple):
    """A stationary kernel of some inputs, by its pairs or by products of inputs."""

    form: Any
    inputs: Any

    @classmethod
    def of(cls, X: Tensor) -> "_Kernel":
        return cls(kernels_tiled, X) if len(X) > MANY else cls(kernels_paired, kernels_paired.point_pairs(X))


class _Parts(NamedTuple):
    """The parts of a covariance at some theta."""

    x: Array
    l: Tensor
    a: Array
    kernel: Any
    biases: dict[int, Any]


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
        group = rows.group.numpy()
        self._of_group = {g: np.flatnonzero(group == g) for g in (TARGET, *(source.group for source in sources))}
        self._known = np.nan_to_num(rows.s2_known.numpy()) if has_noise else np.zeros(len(group))
        is_open = rows.s2_known.isnan().numpy()
        self._noisy = [g for g, at in self._of_group.items() if has_noise and len(at) and is_open[at].all()]
        noise = [noise_block(priors.s2, priors.s2_least)._replace(name=f"noise{g}") for g in self._noisy]
        own = [block for source in sources for block in source.blocks]
        self.blocks: list[Block] = [*stationary_blocks(d, priors.l, priors.s2f), *noise, *own]
        self.at_name = places_of(self.blocks)
        self._kernel = _Kernel.of(rows.X)
        biased = [source.group for source in sources if source.relation == "biased"]
        self._bias_kernels = {g: _Kernel.of(rows.X[torch.from_numpy(self._of_group[g])]) for g in biased}

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
        K = parts.a[:, None] * parts.kernel.K.numpy() * parts.a  # eq. 22.2
        for source in self.sources:
            at = np.ix_(self._of_group[source.group], self._of_group[source.group])
            if source.relation != "same":
                K[at] += np.exp(parts.x[self.at_name[f"offset{source.group}"]])
            if source.group in parts.biases:
                K[at] += parts.biases[source.group].K.numpy()
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
        """The objective's ``d`` length-scales and its signal variance."""
        d = self.rows.X.shape[-1]
        return theta[:d].exp(), UNIT_SIGNAL if self.priors.s2f is None else theta[d].exp()

    def offset_variance(self, theta: Tensor, group: int) -> float:
        """Variance of a source's offset; 0 where it has none."""
        at = self.at_name.get(f"offset{group}")
        return 0.0 if at is None else float(theta[at].exp())

    def bias_between(self, theta: Tensor, group: int, X: Tensor, Z: Tensor) -> Tensor:
        """Prior covariance of a source's bias between points; zero where it has none."""
        if group not in self._bias_kernels:
            return X.new_zeros(len(X), len(Z))
        l, omega2 = self._bias_hyperparameters(theta.numpy(), group)
        return kernels.KERNELS[self.priors.kernel](kernels.squared_differences(X, Z), l, omega2).K

    def _bias_hyperparameters(self, x: Array, group: int) -> tuple[Tensor, Tensor]:
        d, ratio = self.rows.X.shape[-1], x[self.at_name[f"ratio{group}"]]
        return as_tensor(np.exp(x[:d] + ratio)), as_tensor(np.exp(x[self.at_name[f"bias{group}"]]))  # eq. 22.3

    def _noise(self, x: Array) -> Array:
        s2 = np.zeros(len(self._known))
        for g in self._noisy:
            s2[self._of_group[g]] = np.exp(x[self.at_name[f"noise{g}"]])
        return s2

    def _scales(self, x: Array) -> Array:
        a = np.ones(len(self._known))
        for source in self.sources:
            if source.is_scaled:
                a[self._of_group[source.group]] = x[self.at_name[f"scale{source.group}"]]
        return a

    def _parts(self, theta: Tensor) -> _Parts:
        x, (l, s2f) = theta.numpy(), self.signal(theta)
        name, (form, inputs) = self.priors.kernel, self._kernel
        biases = {
            g: kernel.form.kernel_matrix(name, kernel.inputs, *self._bias_hyperparameters(x, g))
            for g, kernel in self._bias_kernels.items()
        }
        return _Parts(x, l, self._scales(x), form.kernel_matrix(name, inputs, l, s2f), biases)

    def _pullback(self, G: Array, parts: _Parts) -> Array:
        x, a, d = parts.x, parts.a, len(parts.l)
        slopes = np.array(parameters.prior_slopes(self.blocks, x.tolist()))
        on_f = a[:, None] * G * a
        log_l, log_s2f = self._kernel.form.pullback(as_tensor(on_f), self._kernel.inputs, parts.l, parts.kernel)
        slopes[:d] += log_l.numpy()
        if self.priors.s2f is not None:
            slopes[d] += log_s2f.item()
        for g in self._noisy:
            at = self.at_name[f"noise{g}"]
            slopes[at] += np.exp(x[at]) * G.diagonal()[self._of_group[g]].sum()
        GK_a = None
        for source in self.sources:
            rows, g = self._of_group[source.group], source.group
            own = G[np.ix_(rows, rows)]
            if source.relation != "same":
                at = self.at_name[f"offset{g}"]
                slopes[at] += np.exp(x[at]) * own.sum()
            if source.is_scaled:
                GK_a = (G * parts.kernel.K.numpy()) @ a if GK_a is None else GK_a
                slopes[self.at_name[f"scale{g}"]] += 2 * GK_a[rows].sum()  # eq. 22.4
            if g in parts.biases:
                form, inputs = self._bias_kernels[g]
                l, _ = self._bias_hyperparameters(x, g)
                log_l, log_omega2 = form.pullback(as_tensor(np.ascontiguousarray(own)), inputs, l, parts.biases[g])
                slopes[:d] += log_l.numpy()
                slopes[self.at_name[f"ratio{g}"]] += log_l.sum().item()
                slopes[self.at_name[f"bias{g}"]] += log_omega2.item()
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
            along[at, rows] = np.exp(x[at]) * w[rows]
        for source in self.sources:
            rows, g = self._of_group[source.group], source.group
            if source.relation != "same":
                at = self.at_name[f"offset{g}"]
                along[at, rows] = np.exp(x[at]) * w[rows].sum()
            if source.is_scaled:
                at = self.at_name[f"scale{g}"]
                along[at] = a * (K[:, rows] @ w[rows])
                along[at, rows] += K_aw[rows]
            if g in parts.biases:
                kernel, (l, _) = self._bias_kernels[g], self._bias_hyperparameters(x, g)
                by_l = kernel.form.tangents(as_tensor(w[rows]), kernel.inputs, l, parts.biases[g]).numpy()
                along[:d, rows] += by_l
                along[self.at_name[f"ratio{g}"], rows] = by_l.sum(0)
                along[self.at_name[f"bias{g}"], rows] = parts.biases[g].K.numpy() @ w[rows]
        return along

    def matrices(self, theta: Tensor) -> Tensor:
        """``B x n x n`` covariances at ``B x p`` hyperparameters."""
        return torch.stack([self.at(x).K for x in theta])
