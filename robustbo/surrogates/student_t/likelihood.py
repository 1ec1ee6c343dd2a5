"""Student-t noise as GPyTorch's exact models take it: by its variance, and by the EM variances of the observations."""

import math
from typing import Any

import torch
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood
from torch import Tensor

from robustbo.numerics.student_t.laplace import Noise
from robustbo.numerics.student_t.predictive import variance
from robustbo.surrogates.common import priors
from robustbo.surrogates.common.float32 import in_float32
from robustbo.surrogates.common.likelihood import OutlierVariances

DOF = 4.0


def check_dof(dof: Any) -> None:
    """Raise a ValueError for degrees of freedom that cannot be."""
    if dof is not None and not (isinstance(dof, int | float) and 1 <= dof < math.inf):
        raise ValueError(f"dof must be at least 1, or None to learn it, got {dof!r}")


class StudentTScale(OutlierVariances):
    """A likelihood whose ``noise`` is a Student-t distribution's squared scale; a new measurement has its variance.

    The degrees of freedom are part of the state. A finite stand-in takes the place of a variance that is not, see
    `predictive.variance`.
    """

    dof: Tensor

    def set_dof(self, dof: float) -> None:
        """Set the degrees of freedom."""
        self.register_buffer("dof", torch.tensor(dof, dtype=torch.float64))

    def _shaped_noise_covar(self, base_shape: torch.Size, *params: Any, **kwargs: Any) -> Any:
        scale = super()._shaped_noise_covar(base_shape, *params, **kwargs)
        return scale if "noise" in kwargs else scale * self.stretch  # which is a variance

    @property
    def new_noise(self) -> Tensor:
        """The variance of a new measurement."""
        return super().new_noise * self.stretch

    @property
    def stretch(self) -> Tensor:
        """Variance over squared scale."""
        return variance(Noise(torch.ones_like(self.dof), self.dof))


class HeavyTailedLikelihood(StudentTScale, GaussianLikelihood):
    """A squared scale to be learned."""


class HeavyTailedFixedLikelihood(StudentTScale, FixedNoiseGaussianLikelihood):
    """Known squared scales."""


def heavy_tailed_likelihood(noise: Tensor | None, dof: float | None) -> Any:
    """The likelihood of a scale to be learned, or of ``n`` known squared scales; ``dof`` None begins with `DOF`."""
    new: Any
    if noise is None:
        new = in_float32(HeavyTailedLikelihood(**priors.noise_arguments()))
    else:
        new = HeavyTailedFixedLikelihood(noise=noise)
    new.set_dof(DOF if dof is None else dof)
    return new
