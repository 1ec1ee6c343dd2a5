"""A GP with a Student-t likelihood, by Laplace's approximation: no value is left out, but wild ones pull less."""

import math
from dataclasses import dataclass

import torch
from gpytorch.likelihoods import Likelihood
from torch import Tensor

from robustbo.numerics.gp.ascent import Ascent
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.student_t import likelihood, map_fit
from robustbo.numerics.student_t import predictive as heavy_tail
from robustbo.numerics.student_t.laplace import Laplace, Noise, with_signed_curvatures
from robustbo.numerics.student_t.map_fit import HeavyModel
from robustbo.numerics.student_t.paths import draw_weights
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.diagnostics import Diagnostics, Tails
from robustbo.surrogates.common.explicit_posterior import ExplicitPosterior
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.common.options import GPOptions
from robustbo.surrogates.common.units import expectations_in_outcome_units
from robustbo.surrogates.student_t.likelihood import DOF, check_dof, heavy_tailed_likelihood
from robustbo.surrogates.student_t.mll import LaplaceMarginalLogLikelihood
from robustbo.surrogates.student_t.predictive import StudentTPredictive

TAIL = 0.005  # a value that the others give a smaller chance, on either side, is called an outlier


@dataclass(frozen=True, kw_only=True)
class StudentTOptions(GPOptions):
    """The options of `StudentTGP`; see there."""

    dof: float | None = DOF
    is_clamped: bool = False

    def check(self) -> None:
        """Raise a ValueError for an invalid option."""
        super().check()
        check_dof(self.dof)

    @property
    def capabilities(self) -> Capabilities:
        """Robust at any degrees of freedom that are named."""
        return Capabilities(is_robust=True, is_heeded=True, is_cubic=True, has_predictive=True, continues=True)


class StudentTGP(ExplicitPosterior, MapGP):
    """A GP whose noise is Student-t; the posterior of its latent values by Laplace's approximation.

    Args:
        train_X: ``n x d`` inputs; other arguments as in `MapGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known squared scales of the noise.
        dof: Degrees of freedom, or None to learn them (2 at least).
        is_clamped: Whether curvatures below 1e-6 count as 1e-6, as in the distributed robust GP paper; else exact.

    Attributes:
        laplace: After the fit, the approximation, in the model's own (transformed) units.

    References:
        Vanhatalo, Jylanki and Vehtari (2009), Gaussian process regression with Student-t likelihood; docs/equations.md
        sections 1 and 2.

    Example:
        >>> import torch
        >>> from robustbo.surrogates.common.contract import diagnose, fit
        >>> X = torch.linspace(0, 1, 20, dtype=torch.float64).unsqueeze(-1)
        >>> Y = torch.sin(6 * X)
        >>> Y[[4, 11]] += 1e6
        >>> diagnose(fit(StudentTGP(X, Y))).is_outlier.nonzero().flatten().tolist()
        [4, 11]
    """

    options_class = StudentTOptions
    laplace: Laplace | None = None
    _before: Tensor | None = None

    def new_likelihood(self, noise: Tensor | None) -> Likelihood:
        """Student-t noise of a scale to be learned, or of ``n`` known squared scales."""
        return heavy_tailed_likelihood(noise, self.options.dof)

    def marginal_log_likelihood(self) -> LaplaceMarginalLogLikelihood:
        """The objective that a fit maximizes."""
        return LaplaceMarginalLogLikelihood(self.likelihood, self)

    @property
    def warm_start(self) -> Tensor | None:
        """The end of this model's search."""
        return self.map_estimate.x if isinstance(self.map_estimate, Ascent) else None

    def continue_from(self, before: Tensor | None, _: Tensor) -> None:
        """Begin the next search where that of another model ended, one fitted to most of these observations."""
        self._before = before

    def search(self, model: Model) -> Ascent:
        """The highest of the maxima that the starts lead to: the last fit's end and the most plausible, or all."""
        heavy, before, self._before = HeavyModel(model, self.options.dof), self._before, None
        return map_fit.search(heavy, None if before is None else [before, heavy.starts[0]])

    def _adopt(self, ascent: Ascent) -> None:
        self._set_theta(self.search_model(), ascent.x)
        self.mean_module.constant = ascent.x[-1]
        self.likelihood.set_dof(ascent.value.noise.nu.item())
        self._set_laplace(ascent.value)

    def _set_laplace(self, laplace: Laplace) -> None:
        self.laplace = laplace if self.options.is_clamped else with_signed_curvatures(laplace)
        _ = self.laplace.R  # made now, not within whatever asks for a prediction first
        self._mark()
        V = likelihood.em_variance(laplace.r, *laplace.noise)
        self._set_outlier_variances(V - laplace.noise.s2 * self.likelihood.stretch)

    def _follow(self, model: Model) -> None:
        """Find the mode for this model's own rows."""
        x = torch.cat([self._theta(model), self.mean_module.constant.detach().reshape(1)])
        fixed = HeavyModel(model, self.likelihood.dof.item())
        self._set_laplace(map_fit.evaluate(fixed, x).laplace)

    def explain(self, k: Tensor) -> tuple[Tensor, Tensor]:
        """Moves of mean and covariance by the data; see `ExplicitPosterior`."""
        assert self.laplace is not None
        return self.laplace.explain(k)

    def draw_weights(self, u: Tensor) -> Tensor:
        """See `ExplicitPosterior`."""
        assert self.laplace is not None
        return draw_weights(self.laplace, u)

    @property
    def has_posterior(self) -> bool:
        """Return whether the mode has been found."""
        return self.laplace is not None

    def latent(self) -> LatentProcess:
        """The fitted process in numbers, for explicit formulas; the kernel must be a named one."""
        assert self.laplace is not None
        R = self.laplace.R  # curvatures have any sign
        latent = self._latent(self.mean_module.constant.detach(), R, self.laplace.a)
        return latent._replace(partner=torch.eye(len(R), dtype=R.dtype, device=R.device))

    def predictive(self, X: Tensor) -> StudentTPredictive:
        """The heavy-tailed distribution of a measurement at each of ``... x d`` points."""
        self.eval()
        with torch.no_grad():
            posterior = self(self.transform_inputs(X))
        assert self.laplace is not None
        s2, nu = self.laplace.noise
        if (s2 != s2.max()).any():
            raise ValueError("predictive needs one scale of the noise, this model was given several")
        noise = Noise(s2.max(), nu)
        return StudentTPredictive(posterior.mean, posterior.variance, noise, outcome_transform(self))

    @property
    def weights(self) -> Tensor:
        """``n`` posterior weights (nu + 1) / (nu + r^2 / s2) of the observations: above 1 only for the nearest.

        References:
            docs/equations.md section 1, E[s2 / V_i | y_i, f_i].
        """
        assert self.laplace is not None
        return self.laplace.noise.s2 / likelihood.em_variance(self.laplace.r, *self.laplace.noise)  # eq. 1.5

    def tails(self, *, leave_one_out: bool = True) -> Tails:
        """Each observation's error and the chance of one beyond it; see `contract.tails`."""
        assert self.laplace is not None
        at = self.laplace
        latent, v = heavy_tail.cavity(at) if leave_one_out else (at.f, at.v)
        e = at.r + at.f - latent
        return Tails(e, heavy_tail.log_cdf(-e.abs(), torch.zeros_like(e), v, at.noise))

    def verdict_on(self, y: Tensor, e: Tensor, v: Tensor) -> tuple[Tensor, Tensor | None]:
        """Outliers are those whose tail is below `TAIL`, at the mean scale where several are known."""
        assert self.laplace is not None
        noise = self.laplace.noise._replace(s2=self.laplace.noise.s2.mean())
        latent = (v - heavy_tail.variance(noise)).clamp_min(0.0)
        return heavy_tail.log_cdf(-e.abs(), torch.zeros_like(e), latent, noise) < math.log(TAIL), None

    def _is_outlier(self) -> Tensor:
        return (self.tails().log_chance < math.log(TAIL)) & ~self.is_cleared()

    def diagnose(self) -> Diagnostics:
        """Return each observation's prediction by the others (its cavity), and the evidence of an error of its own.

        An observation is an outlier where its tail is below `TAIL`, unless most of those at its point agree with it.
        """
        assert self.laplace is not None
        at, m = self.laplace, self.mean_module.constant.detach()
        latent, v = heavy_tail.cavity(at)
        variance = v + heavy_tail.variance(at.noise)
        evidence = gain(at.r + at.f - latent, variance)
        transform, y = outcome_transform(self), self.train_targets
        expected, sd = expectations_in_outcome_units(transform, y, m + latent, variance.sqrt())
        return Diagnostics(expected, sd, evidence, self._is_outlier(), self.weights)
