"""A Student-t process: a GP that does not know its own scale, and widens it where the values surprise."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from botorch.models.transforms.input import InputTransform
from botorch.posteriors import GPyTorchPosterior, TransformedPosterior
from gpytorch.distributions import MultivariateNormal
from torch import Tensor

from robustbo.numerics.gp.ascent import Ascent
from robustbo.numerics.gp.model import Model
from robustbo.numerics.student_t.distribution import log_cdf
from robustbo.numerics.student_t_process import map_fit
from robustbo.numerics.student_t_process import process as student_t_process
from robustbo.numerics.student_t_process.map_fit import ProcessLogPosterior, ProcessModel
from robustbo.surrogates.common.cached_posterior import CachedPosterior
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.diagnostics import Diagnostics
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.common.options import GPOptions
from robustbo.surrogates.common.units import expectations_in_outcome_units
from robustbo.surrogates.student_t.model import TAIL
from robustbo.surrogates.student_t_process.mll import StudentTProcessMarginalLogLikelihood
from robustbo.surrogates.student_t_process.posterior import StudentTPosterior

DOF = 5.0


@dataclass(frozen=True, kw_only=True)
class StudentTProcessOptions(GPOptions):
    """The options of `StudentTProcess`; see there."""

    dof: float | None = DOF

    def check(self) -> None:
        """Raise a ValueError for degrees of freedom that cannot be."""
        super().check()
        if self.dof is not None and not (isinstance(self.dof, int | float) and 2 < self.dof < math.inf):
            raise ValueError(f"dof must exceed 2 for a finite covariance, or be None to be learned, got {self.dof!r}")

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of a model whose posterior is Student-t."""
        return Capabilities(is_cubic=True, is_normal=False)


class StudentTProcess(CachedPosterior, MapGP):
    """A GP with an unknown overall scale, so that its predictions are Student-t.

    What it does: values that fit badly together widen the scale of all predictions, of the noise too, and with few
    observations the tails are heavy. What it does not: for given hyperparameters its mean is the GP's, to the last bit,
    so that a wild value pulls it as far. It is a GP that is honest about its scale, not one that is robust against
    single values: nothing is left out, and the flags of `diagnose` say what looks wrong, not what was ignored.

    Args:
        train_X: ``n x d`` inputs; other arguments as in `MapGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` noise variances, known up to the scale.
        dof: Degrees of freedom of the prior, more than 2, or None to learn them. Predictions have n more.

    References:
        Shah, Wilson and Ghahramani (2014), Student-t processes as alternatives to Gaussian processes; docs/equations.md
        section 4.

    Example:
        >>> import torch
        >>> from robustbo.surrogates.common.contract import fit
        >>> X = torch.linspace(0, 1, 9, dtype=torch.float64).unsqueeze(-1)
        >>> fit(StudentTProcess(X, torch.sin(6 * X))).posterior(X).df.item()
        14.0
    """

    options_class = StudentTProcessOptions
    _value: ProcessLogPosterior | None = None
    _supports_cache_root = False  # of BoTorch's: a root would sample the normal distribution

    def begin(self, X: Tensor, Y: Tensor, Yvar: Tensor | None, input_transform: InputTransform | None) -> None:
        """Make the degrees of freedom part of the state."""
        self.register_buffer("dof", Y.new_tensor(DOF if self.options.dof is None else self.options.dof))

    def marginal_log_likelihood(self) -> StudentTProcessMarginalLogLikelihood:
        """The objective that a fit maximizes, except for the prior of degrees of freedom that are learned."""
        return StudentTProcessMarginalLogLikelihood(self.likelihood, self)

    @property
    def has_posterior(self) -> bool:
        """Return whether the scale's posterior has been computed."""
        return self._value is not None

    @property
    def value(self) -> ProcessLogPosterior:
        """The process given the observations, in the model's own (transformed) units."""
        if self._value is None:
            self._renew()
        assert self._value is not None
        return self._value

    def search(self, model: Model) -> Ascent:
        """The highest of the maxima that the model's starts lead to."""
        return map_fit.search(ProcessModel(model, self.options.dof))

    def _adopt(self, ascent: Ascent) -> None:
        model = self.search_model()
        self._set_theta(model, ascent.x)
        self.mean_module.constant = ascent.value.evidence.m
        self.dof = ProcessModel(model, self.options.dof).nu(ascent.x)
        self._set_value(ascent.value)

    def _follow(self, model: Model) -> None:
        """Find the scale's posterior for this model's own rows."""
        m, fixed = self.mean_module.constant.detach(), ProcessModel(model, self.dof.item())
        self._set_value(map_fit.evaluate(fixed, self._theta(model), m))

    def _set_value(self, value: ProcessLogPosterior) -> None:
        self._value = value.without_derivatives()
        self._mark()
        self._set_outlier_variances(torch.zeros_like(self.train_targets))

    def posterior(self, X: Tensor, *args: Any, posterior_transform: Any = None, **kwargs: Any) -> Any:
        """The joint Student-t distribution at ``... x q x d`` points; arguments as in BoTorch.

        Returns:
            A `StudentTPosterior`, or a `TransformedPosterior` of one where the outcome transform has no inverse of
            normal distributions.
        """
        posterior = super().posterior(X, *args, **kwargs)
        if isinstance(posterior, TransformedPosterior):
            posterior._posterior = self._heavier(posterior._posterior)
        if posterior_transform is not None:
            posterior = posterior_transform(posterior=posterior, X=X)
        return self._heavier(posterior) if isinstance(posterior, GPyTorchPosterior) else posterior

    def _apply_noise(self, X: Tensor, mvn: Any, observation_noise: bool | Tensor = False) -> Any:
        """Add noise as BoTorch does: a tensor as it is, the model's own noise times the posterior of the scale."""
        is_said = isinstance(observation_noise, Tensor)
        return super()._apply_noise(
            X, mvn, observation_noise / self.value.marginal.stretch if is_said else observation_noise
        )

    def _heavier(self, normal: GPyTorchPosterior) -> StudentTPosterior:
        """The Student-t distribution in place of the normal one of scale 1."""
        distribution, process = normal.distribution, self.value.marginal
        covariance = distribution.lazy_covariance_matrix * process.stretch
        return StudentTPosterior(MultivariateNormal(distribution.mean, covariance), process.df)

    def diagnose(self) -> Diagnostics:
        """The Student-t prediction of each observation by the others, and the evidence that it has a scale of its own.

        An observation is flagged where its tail is below `TAIL`, unless most of those at its point agree with it. It
        counts all the same.
        """
        self.eval()
        model, value = self.search_model(), self.value
        prior = value.marginal.prior
        e, scale2, df = student_t_process.leave_one_out(value.evidence, model.y, prior)
        is_outlier = (log_cdf(-e.abs() / scale2.sqrt(), df) < math.log(TAIL)) & ~self.is_cleared()
        variance = scale2 * df / (df - 2)
        expected, sd = expectations_in_outcome_units(outcome_transform(self), model.y, model.y - e, variance.sqrt())
        return Diagnostics(expected, sd, student_t_process.gain(e, scale2, df), is_outlier)

    def verdict_on(self, y: Tensor, e: Tensor, v: Tensor) -> tuple[Tensor, Tensor | None]:
        """Flagged are those whose tail is below `TAIL`."""
        df = self.value.marginal.df
        return log_cdf(-e.abs() / (v * (df - 2) / df).sqrt(), df) < math.log(TAIL), None
