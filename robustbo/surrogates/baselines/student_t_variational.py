"""The variational GP with a Student-t likelihood; a baseline of the relevance pursuit paper."""

from dataclasses import dataclass
from typing import Any

from gpytorch.likelihoods import StudentTLikelihood
from torch import Tensor

from robustbo.numerics.student_t.laplace import Noise
from robustbo.surrogates.baselines.variational import VariationalGP, VariationalOptions
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.float32 import in_float32
from robustbo.surrogates.student_t.likelihood import DOF
from robustbo.surrogates.student_t.predictive import StudentTPredictive

WEIGHTLESS = 0.5  # of an observation's weight: one with less counts as an outlier


@dataclass(frozen=True, kw_only=True)
class StudentTVariationalOptions(VariationalOptions):
    """The options of `StudentTVariationalGP`; see there."""

    dof: float = DOF

    def check(self) -> None:
        """Raise a ValueError for an invalid option."""
        super().check()
        if not self.dof > 2:
            raise ValueError(f"dof must exceed 2 for a finite variance, got {self.dof!r}")


class StudentTVariationalGP(VariationalGP):
    """GPyTorch's variational GP with Student-t noise. An observation is an outlier where its weight is below 1/2.

    Args:
        train_X: ``n x d`` inputs; other arguments as in `VariationalGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known squared scales, of which the mean is taken for all.
        dof: Degrees of freedom to begin with; they are learned.

    References:
        Ament et al. (2024), Robust Gaussian processes via relevance pursuit, section 6.
    """

    options_class = StudentTVariationalOptions

    @classmethod
    def new_likelihood(cls, options: Any, X: Tensor) -> StudentTLikelihood:
        """Student-t noise of all observations."""
        own = in_float32(StudentTLikelihood())
        own.initialize(deg_free=options.dof)
        return own

    def predictive(self, X: Tensor) -> StudentTPredictive:
        """The heavy-tailed distribution of a measurement at each of ``... x d`` points."""
        latent = self.latent(X)
        noise = Noise(self.likelihood.noise.detach().squeeze(), self.likelihood.deg_free.detach().squeeze())
        return StudentTPredictive(*latent, noise, outcome_transform(self))

    def noise_variance(self) -> Tensor:
        """The variance of the noise, in the model's own units."""
        s2, nu = self.likelihood.noise.squeeze(), self.likelihood.deg_free.squeeze()
        return s2 * nu / (nu - 2)

    def are_outliers(self, e: Tensor, v: Tensor) -> Tensor:
        """Return which observations have a weight below `WEIGHTLESS`, by their expected squared errors."""
        s2, nu = self.likelihood.noise.squeeze(), self.likelihood.deg_free.squeeze()
        return (nu + 1) / (nu + (e.square() + v) / s2) < WEIGHTLESS
