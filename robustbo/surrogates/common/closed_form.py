"""A fitted GP as matrices: its kernel, hyperparameters and factorized covariance, for closed formulas."""

from typing import Any

import torch
from torch import Tensor

from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.gp.prediction_cache import PredictionCache, prediction_cache
from robustbo.surrogates.common import priors
from robustbo.surrogates.common.contract import marginals, outcome_transform
from robustbo.surrogates.common.diagnostics import Diagnostics
from robustbo.surrogates.common.units import expectations_in_outcome_units, in_model_units, in_outcome_units

LEFT_OUT = 1e10  # variance that is added to an observation which is to say nothing, in that of the outcomes


class ClosedFormGP:
    """A `MapGP` that gives its fitted process as matrices; of a custom kernel those that need no formula."""

    _prediction_cache: tuple[PredictionCache, tuple[Tensor, ...]] | None = None

    @property
    def prediction_cache(self) -> PredictionCache:
        """The matrices that predictions need, at the present data and parameters: one factorization, cached."""
        gp: Any = self
        if self._prediction_cache is None or not all(map(torch.equal, self._prediction_cache[1], self._dependencies())):
            model = gp.search_model()
            self._prediction_cache = prediction_cache(model, gp._theta(model), gp._rho), self._dependencies()
        return self._prediction_cache[0]

    def _condition(self, model: Model, estimate: Any) -> PredictionCache:
        """Return the prediction cache at a search's estimate."""
        return prediction_cache(model, estimate.theta, estimate.rho)

    def _dependencies(self) -> tuple[Tensor, ...]:
        """The tensors that the prediction cache depends on."""
        gp: Any = self
        return gp.parameters_now(), gp.train_inputs[0], gp.train_targets, gp._rho

    def diagnose(self) -> Diagnostics:
        """Leave-one-out expectations and evidence; the outliers are the support."""
        gp: Any = self
        gp.eval()
        with torch.no_grad():
            cache = self.prediction_cache
            y, e, v = gp.train_targets, cache.e, cache.v
            expected, sd = expectations_in_outcome_units(outcome_transform(gp), y, y - e, v.sqrt())
            return Diagnostics(expected, sd, gain(e, v), gp._rho > 0)

    def diagnose_others(self, X: Tensor, Y: Tensor, sds: Tensor | None) -> Diagnostics:
        """Diagnose values that the model was not fitted to, by the rule for those that it was.

        Args:
            X: ``m x d`` points.
            Y: ``m`` values.
            sds: ``m`` standard deviations of their noise; None where it is inferred.
        """
        gp: Any = self
        with torch.no_grad():
            expected, sd = marginals(gp, X, sds is None)
            sd = sd if sds is None else torch.hypot(sd, sds)
            transform = outcome_transform(gp)
            inside, v = in_model_units(transform, expected, sd)
            y, _ = in_model_units(transform, Y, sd)
            is_outlier, weight = self.verdict_on(y, y - inside, v.square())
            expected, sd = expectations_in_outcome_units(transform, y, inside, v)
            return Diagnostics(expected, sd, gain(y - inside, v.square()), is_outlier, weight)

    def verdict_on(self, y: Tensor, e: Tensor, v: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return which of ``m`` values outside the fit are outliers, and their probabilities of being right.

        Unless a model has its own rule: those with more evidence against them than the least of its own outliers.

        Args:
            y: The values, in the model's own units.
            e: Their errors, less what is predicted.
            v: The variances of these errors.
        """
        own = self.diagnose()
        least = own.evidence[own.is_outlier].amin() if own.is_outlier.any() else torch.inf
        return gain(e, v) > least, None

    def log_likelihood(self) -> float | None:
        """Log marginal likelihood at the estimate, where the search has one."""
        gp: Any = self
        return float(gp.map_estimate.L) if isinstance(gp.map_estimate, Fit) else None

    def latents(self) -> list[tuple[float, LatentProcess]]:
        """The fitted processes that the model predicts by, with their weights: here one; see `gp.posterior`."""
        return [(1.0, self.latent())]

    def latent(self) -> LatentProcess:
        """The fitted process; the kernel must be a named one."""
        cache = self.prediction_cache
        return self._latent(cache.m, cache.root, cache.al)

    def process(self, model: Model, theta: Tensor, rho: Tensor) -> LatentProcess:
        """The process given the observations, at any hyperparameters and added variances."""
        evidence = log_posterior(model, theta, rho).evidence
        assert evidence.converged
        return self._latent(evidence.m, evidence.root, evidence.al, theta)

    def without(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Means and covariance of the objective at ``k`` of the observations, as the others predict it, by one fit.

        Args:
            rows: ``k`` indices, all of which are left out together.

        Returns:
            ``k`` and ``k x k``, in the outcome's units to first order. The kernel must be a named one.
        """
        gp: Any = self
        with torch.no_grad():
            model = gp.search_model()
            left_out = torch.zeros_like(gp._rho).index_fill(0, rows, LEFT_OUT * float(model.y.var() + 1.0))
            process = self.process(model, gp._theta(model), gp._rho + left_out)
            mean, covariance = process.posterior(gp.train_inputs[0][rows])
            sd = covariance.diagonal().clamp_min(0.0).sqrt()
            outcome, outcome_sd = in_outcome_units(outcome_transform(gp), mean, sd)
            stretch = torch.where(sd > 0, outcome_sd / sd, 0.0)
            return outcome, covariance * stretch * stretch.unsqueeze(-1)

    def _latent(self, m: Tensor, root: Tensor, al: Tensor, theta: Tensor | None = None) -> LatentProcess:
        gp: Any = self
        return LatentProcess(*self._stationary(theta), m, gp.train_inputs[0], root, al)

    def _stationary(self, theta: Tensor | None = None) -> tuple[str, Tensor, Tensor]:
        """A named kernel, its ``d`` length-scales and its signal variance: the model's own by default."""
        gp: Any = self
        assert gp._named is not None
        (kernel, is_signal_free), d = gp._named, gp.train_inputs[0].shape[-1]
        x = (priors.get_kernel(gp.covar_module, is_signal_free) if theta is None else theta).exp()
        return kernel, x[:d], x[d] if is_signal_free else torch.ones_like(x[0])
