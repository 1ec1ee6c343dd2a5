"""A multivariate Student-t posterior, as BoTorch takes it."""

import numpy as np
import torch
from botorch.posteriors import GPyTorchPosterior
from gpytorch.distributions import MultivariateNormal
from scipy.special import stdtrit
from torch import Tensor

from robustbo.numerics.student_t.distribution import log_pdf
from robustbo.numerics.student_t_process.process import radius


class StudentTPosterior(GPyTorchPosterior):
    """The joint Student-t distribution of latent values or measurements at ``... x q`` points, one outcome.

    Mean, variance, samples and quantiles are its own. What takes it for a `GPyTorchPosterior` (Ax's cross-validation,
    model lists, BoTorch's Gaussian acquisition functions) sees ``distribution``: the normal one of the same mean and
    covariance, whose tails are lighter.

    Any sampler of standard normal numbers serves, also the one that BoTorch's `get_sampler` gives: of the ``q + 1``
    numbers that a sample takes, the first stands for the chi-square number that all points share.

    Args:
        distribution: The normal distribution of the same mean and covariance.
        df: Degrees of freedom: one number, more than 2.

    References:
        docs/equations.md section 4, joint samples.

    Example:
        >>> normal = MultivariateNormal(torch.zeros(2).double(), torch.eye(2).double())
        >>> posterior = StudentTPosterior(normal, torch.tensor(4.0).double())
        >>> round(posterior.scale[0].item(), 4)  # its square is the variance times (df - 2) / df
        0.7071
    """

    def __init__(self, distribution: MultivariateNormal, df: Tensor) -> None:
        if df.dim() or not df > 2:
            raise ValueError(f"df must be one number that exceeds 2 for a finite covariance, got {df.tolist()}")
        super().__init__(distribution)
        self.df = df

    @property
    def scale(self) -> Tensor:
        """``... x q x 1`` scales of the marginal distributions."""
        return (self.variance * (self.df - 2) / self.df).sqrt()

    def quantile(self, value: Tensor) -> Tensor:
        """The marginal distributions' quantiles at a probability, or at ``k`` of them (``k x ... x q x 1``)."""
        at = torch.from_numpy(np.asarray(stdtrit(self.df.item(), value.detach().cpu().numpy()))).to(self.mean)
        return self.mean + self.scale * at.view(*value.shape, *[1] * self.mean.dim())

    def density(self, value: Tensor) -> Tensor:
        """The marginal distributions' densities at a value, or at ``k`` of them (``k x ... x q x 1``)."""
        z = (value.view(*value.shape, *[1] * self.mean.dim()) - self.mean) / self.scale
        return log_pdf(z, self.df).exp() / self.scale

    @property
    def base_sample_shape(self) -> torch.Size:
        """The shape of the standard normal numbers that a sample takes: ``... x (q + 1)``."""
        *batch, q = super().base_sample_shape
        return torch.Size([*batch, q + 1])

    def rsample_from_base_samples(self, sample_shape: torch.Size, base_samples: Tensor) -> Tensor:
        """Samples made of standard normal numbers.

        Args:
            sample_shape: Shape of the set of samples.
            base_samples: ``sample_shape x ... x (q + 1)`` standard normal numbers.
        """
        normal = super().rsample_from_base_samples(sample_shape, base_samples[..., 1:])
        stretch = radius(base_samples[..., :1], self.df) * ((self.df - 2) / self.df).sqrt()
        return self.mean + stretch.unsqueeze(-1) * (normal - self.mean)  # eq. 4.11

    def rsample(self, sample_shape: torch.Size | None = None) -> Tensor:
        """``sample_shape x ... x q x 1`` samples (by default one)."""
        shape = torch.Size([1]) if sample_shape is None else sample_shape
        normal = torch.randn(*shape, *self.base_sample_shape, dtype=self.dtype, device=self.device)
        return self.rsample_from_base_samples(shape, normal)
