"""The covariance of a source's own errors (its offset and its bias) with its derivatives.

Notation (no batch dimensions):
    B2            variance of the offset
    K_d    m x m  covariance of the bias: omega^2 times correlations with longer length-scales than the objective's
    H      m x m  how the errors of levels go together, see `levels`; all 1 where there are none
    E      m x m  H o (B2 11' + K_d)
    x      p      all hyperparameters

References:
    docs/equations.md section 22.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp import kernels, kernels_paired, kernels_tiled
from robustbo.numerics.gp.covariance import MANY
from robustbo.numerics.linalg.lapack import Array, as_tensor
from robustbo.numerics.transfer.levels import Levels
from robustbo.numerics.transfer.relations import JoinedSource


class Kernel(NamedTuple):
    """A stationary kernel of some inputs, by its pairs or by products of inputs."""

    form: Any
    inputs: Any

    @classmethod
    def of(cls, X: Tensor) -> "Kernel":
        """The kernel of ``n x d`` inputs."""
        return cls(kernels_tiled, X) if len(X) > MANY else cls(kernels_paired, kernels_paired.point_pairs(X))


class ErrorParts(NamedTuple):
    """The parts of the covariance of errors at some hyperparameters.

    Attributes:
        E: The covariance.
        B2: Variance of the offset.
        l: Length-scales of the bias.
        bias: Its kernel matrix; None where there is no bias.
        h: Variances of the errors at each distance of levels, and their derivatives; None where there are no levels.
    """

    E: Array
    B2: float
    l: Tensor | None
    bias: Any
    h: tuple[Array, Array] | None


class SourceErrors:
    """The errors of a source, as a function of the hyperparameters.

    Args:
        source: The source, which has an offset at least.
        X: ``m x d`` inputs of its rows.
        kernel: The kernel's name.
        at_name: Place of each block's first coordinate in the hyperparameters.
        levels: Those of its rows, where it has any.
    """

    def __init__(
        self, source: JoinedSource, X: Tensor, kernel: str, at_name: Mapping[str, int], levels: Levels | None
    ) -> None:
        self._X, self._name, self._levels, (_, self._d) = X, kernel, levels, X.shape
        self._offset = at_name[f"offset{source.group}"]
        self._bias, self._ratio = at_name.get(f"bias{source.group}"), at_name.get(f"ratio{source.group}")
        self._steepness = at_name.get(f"steepness{source.group}")
        self._kernel = None if self._bias is None else Kernel.of(X)

    def _heights(self, x: Array, u: Array) -> tuple[Array, Array] | None:
        if self._levels is None:
            return None
        gamma = np.ones(x.shape[:-1]) if self._steepness is None else np.exp(x[..., self._steepness])
        return self._levels.heights(gamma[..., None], u)

    def _bias_hyperparameters(self, x: Array) -> tuple[Tensor, Tensor]:
        l = np.exp(x[..., : self._d] + x[..., self._ratio, None])
        return as_tensor(l), as_tensor(np.exp(x[..., self._bias]))  # eq. 22.3

    def parts(self, x: Array) -> ErrorParts:
        """The covariance with its parts."""
        B2, l, bias = float(np.exp(x[self._offset])), None, None
        if self._kernel is None:
            E = np.full((len(self._X), len(self._X)), B2)
        else:
            l, omega2 = self._bias_hyperparameters(x)
            bias = self._kernel.form.kernel_matrix(self._name, self._kernel.inputs, l, omega2)
            E = bias.K.numpy() + B2
        h = None if self._levels is None else self._heights(x, self._levels.distances)
        if h is not None and self._levels is not None:
            E *= self._levels.matrix(h[0])  # eq. 22.14
        return ErrorParts(E, B2, l, bias, h)

    def matrices(self, x: Array) -> Array:
        """``B x m x m`` covariances at ``B x p`` hyperparameters; they may be one number for all pairs."""
        E = np.exp(x[:, self._offset])[:, None, None]
        if self._kernel is not None:
            form, inputs = self._kernel
            E = E + form.kernel_matrices(self._name, inputs, *self._bias_hyperparameters(x)).numpy()
        h = None if self._levels is None else self._heights(x, self._levels.distances)
        return E if h is None or self._levels is None else E * self._levels.matrix(h[0])  # eq. 22.14

    def add_slopes(self, G: Array, x: Array, of: ErrorParts, slopes: Array) -> None:
        """Add to the ``p`` slopes what derivatives in E give."""
        if of.h is not None and self._levels is not None:
            if self._steepness is not None:
                free = of.B2 if of.bias is None else of.bias.K.numpy() + of.B2
                slopes[self._steepness] += (G * self._levels.matrix(of.h[1]) * free).sum()
            G = G * self._levels.matrix(of.h[0])
        slopes[self._offset] += of.B2 * G.sum()
        if self._kernel is not None:
            on_l, on_omega2 = self._kernel.form.pullback(
                as_tensor(np.ascontiguousarray(G)), self._kernel.inputs, of.l, of.bias
            )
            slopes[: self._d] += on_l.numpy()
            slopes[self._ratio] += on_l.sum().item()
            slopes[self._bias] += on_omega2.item()

    def add_tangents(self, w: Array, of: ErrorParts, along: Array, rows: Any) -> None:
        """Add to the ``p x n`` derivatives of the covariance times a vector those of E times its ``m`` numbers."""
        if of.h is None or self._levels is None:
            self._add_step(w, np.ones_like(w), 1.0, of, along, rows)
            return
        for (step, is_in), (slope, _) in zip(self._levels.steps(of.h[0]), self._levels.steps(of.h[1]), strict=True):
            self._add_step(w * is_in, is_in, step, of, along, rows)
            if self._steepness is not None:
                product = of.B2 * (w * is_in).sum()
                product = product if of.bias is None else product + of.bias.K.numpy() @ (w * is_in)
                along[self._steepness, rows] += slope * is_in * product

    def _add_step(self, w: Array, is_in: Array, step: float, of: ErrorParts, along: Array, rows: Any) -> None:
        along[self._offset, rows] += step * is_in * (of.B2 * w.sum())
        if self._kernel is not None:
            by_l = self._kernel.form.tangents(as_tensor(w), self._kernel.inputs, of.l, of.bias).numpy()
            by_l = by_l * (step * is_in)
            along[: self._d, rows] += by_l
            along[self._ratio, rows] += by_l.sum(0)
            along[self._bias, rows] += step * is_in * (of.bias.K.numpy() @ w)

    def between(self, x: Array, X: Tensor, u: float) -> Tensor:
        """``q x m`` covariances of errors at new points, of a level at some distance, with those of the rows."""
        free = self._free(x, X, self._X)
        h = None if self._levels is None else self._heights(x, np.minimum(self._levels.u, u))
        return free if h is None else free * torch.from_numpy(h[0])

    def variance(self, x: Array, u: float) -> float:
        """Variance of the error at a point, of a level at some distance."""
        omega2 = 0.0 if self._bias is None else float(np.exp(x[self._bias]))
        return self.height(x, u) * (float(np.exp(x[self._offset])) + omega2)

    def height(self, x: Array, u: float) -> float:
        """Variance of the errors of a level, in that of the farthest."""
        h = self._heights(x, np.array([u]))
        return 1.0 if h is None else float(h[0][0])

    def _free(self, x: Array, X: Tensor, Z: Tensor) -> Tensor:
        B2 = torch.full((len(X), len(Z)), float(np.exp(x[self._offset])), dtype=torch.float64)
        if self._kernel is None:
            return B2
        l, omega2 = self._bias_hyperparameters(x)
        return B2 + kernels.KERNELS[self._name](kernels.squared_differences(X, Z), l, omega2).K
