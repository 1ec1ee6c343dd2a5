"""The base GP that our surrogates share: kernel, priors, noise; as GPyTorch modules and as the search sees them."""

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from gpytorch.constraints import GreaterThan
from gpytorch.kernels import Kernel, MaternKernel, RBFKernel, ScaleKernel
from gpytorch.priors import LogNormalPrior
from torch import Tensor

from robustbo.numerics.gp.covariance import CovarianceFunction, stationary
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.gp.replicates import agreement_mask, are_distinct
from robustbo.surrogates.common.float32 import in_float32
from robustbo.surrogates.common.likelihood import OutlierGaussianLikelihood
from robustbo.surrogates.transforms.warp import WarpedStandardize
from robustbo.validation import one_of

NOISE_PRIOR = LogNormal(-4.0, 1.0)  # BoTorch's, on standardized outcomes
SIGNAL_PRIOR = LogNormal(2.0, 2.0)  # weak: the neighbourhood of an optimum lies many robust sd from the median
NOISE_START = math.exp(NOISE_PRIOR.log_mode)
MIN_L, MIN_S2, MIN_S2F = 2.5e-2, 1e-4, 1e-3  # the first two are BoTorch's
AGREE = 0.1  # of the outcomes' scale: values at one point that are no farther apart clear each other
SAME = 1e-9  # relative: the same value, except for rounding, however far out
NOISE_SDS = 4.0  # standard deviations of the noise, likewise: three of a difference
KERNELS = {"matern52": partial(MaternKernel, nu=2.5), "rbf": RBFKernel}


def length_scale_prior(d: int) -> LogNormal:
    """BoTorch's dimension-scaled prior, on the length-scale itself (Hvarfner et al., 2024)."""
    return LogNormal(math.sqrt(2) + math.log(d) / 2, math.sqrt(3))


def check_kernel(name: str) -> None:
    """Raise a ValueError if there is no kernel of that name."""
    one_of("kernel", name, sorted(KERNELS))


class ScaledKernel(ScaleKernel):
    """A `ScaleKernel` that says without a call of torch.broadcast_shapes that it has no batch: that imports SymPy."""

    @property
    def batch_shape(self) -> torch.Size:
        """The batch shape of its parts."""
        shapes = {self._batch_shape, *(kernel.batch_shape for kernel in self.sub_kernels())}
        return shapes.pop() if len(shapes) == 1 else super().batch_shape

    @batch_shape.setter
    def batch_shape(self, shape: torch.Size) -> None:
        self._batch_shape = shape


def kernel_module(name: str, d: int, is_signal_free: bool) -> Kernel:
    """The named kernel with ARD and its priors, `in_float32`.

    Raises:
        ValueError: If there is no kernel of that name.
    """
    check_kernel(name)
    prior = length_scale_prior(d)
    kernel = KERNELS[name](
        ard_num_dims=d,
        lengthscale_prior=LogNormalPrior(*prior),
        lengthscale_constraint=GreaterThan(MIN_L, transform=None, initial_value=math.exp(prior.log_mode)),
    )
    if is_signal_free:
        kernel = ScaledKernel(
            kernel,
            outputscale_prior=LogNormalPrior(*SIGNAL_PRIOR),
            outputscale_constraint=GreaterThan(MIN_S2F, transform=None, initial_value=1.0),
        )
    return in_float32(kernel)


def likelihood_module() -> OutlierGaussianLikelihood:
    """Gaussian noise to be learned, `in_float32`."""
    return in_float32(OutlierGaussianLikelihood(**noise_arguments()))


def noise_arguments() -> dict[str, Any]:
    """Prior, bound and initial value of a noise to be learned."""
    return {
        "noise_prior": LogNormalPrior(*NOISE_PRIOR),
        "noise_constraint": GreaterThan(MIN_S2, transform=None, initial_value=NOISE_START),
    }


def covariance_function(X: Tensor, kernel: str, is_signal_free: bool) -> CovarianceFunction:
    """The named kernel with its priors on ``n x d`` inputs in double precision, with explicit gradients."""
    return _covariance_function(X.detach().numpy().tobytes(), X.shape[-1], kernel, is_signal_free)


@lru_cache(maxsize=2)  # a model asks a dozen times an ask; of a few hundred points the pairs take megabytes
def _covariance_function(inputs: bytes, d: int, kernel: str, is_signal_free: bool) -> CovarianceFunction:
    X = torch.from_numpy(np.frombuffer(inputs).reshape(-1, d).copy())
    return stationary(X, kernel, length_scale_prior(d), SIGNAL_PRIOR if is_signal_free else None)


def agrees_with_replicates(X: Tensor, y: Tensor, s2: Tensor | None, transform: Any = None) -> Tensor:
    """Return which of ``n`` observations agree with most of those at their point; see `numerics.gp.replicates`.

    Args:
        X: ``n x d`` inputs.
        y: ``n`` outcomes, transformed.
        s2: ``n`` noise variances, or None where nothing is known of them.
        transform: Of the outcomes. Where it warps, values come to lie nearer; they are compared as they were before.
    """
    if are_distinct(X):
        return torch.zeros_like(y, dtype=torch.bool)
    noise = torch.zeros_like(y) if s2 is None else s2
    z, stretch = (transform.unwarp(y), transform.stretch(y)) if isinstance(transform, WarpedStandardize) else (y, 1.0)
    same = (SAME * z.abs()).clamp_min(AGREE)
    return agreement_mask(X, z, same.maximum(NOISE_SDS * noise.sqrt() * stretch))


def set_kernel(module: Kernel, theta: Tensor, is_signal_free: bool) -> None:
    """Write the logarithms of a search into the kernel module."""
    d = len(theta) - is_signal_free
    inner = module.base_kernel if is_signal_free else module
    inner.lengthscale = theta[:d].exp().clamp_min(MIN_L).unsqueeze(0)
    if is_signal_free:
        module.outputscale = theta[d].exp()


def get_kernel(module: Kernel, is_signal_free: bool) -> Tensor:
    """Read the logarithms of a search from the kernel module."""
    inner = module.base_kernel if is_signal_free else module
    log_l = inner.lengthscale.detach().squeeze(0).log()
    return torch.cat([log_l, module.outputscale.detach().log().reshape(1)]) if is_signal_free else log_l
