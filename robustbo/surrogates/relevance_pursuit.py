"""Relevance pursuit of our own: explicit gradients, closed-form gains, and no cap on an outlier's variance."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import InputTransform
from botorch.models.transforms.outcome import OutcomeTransform
from botorch.utils.types import DEFAULT
from gpytorch.likelihoods import Likelihood
from gpytorch.means import ConstantMean, Mean
from gpytorch.module import Module
from torch import Tensor

from robustbo.errors import FitError
from robustbo.numerics.hyperparameters import Model, log_posterior, prior_covariance
from robustbo.numerics.pursuit import Level, score, screen, support_posterior
from robustbo.surrogates import autograd_covariance, base_gp
from robustbo.surrogates.base import Diagnosis, diagnose_by_leave_one_out
from robustbo.surrogates.outlier_likelihood import OutlierFixedNoiseLikelihood
from robustbo.surrogates.pursuit_options import LEVELS, PursuitOptions
from robustbo.surrogates.robust_standardize import RobustStandardize

RESCALE = 2.0  # outcomes are standardized anew where the inliers' scale differs by more than this factor


class RelevancePursuitGP(SingleTaskGP):
    """A GP that finds out which observations have an error of their own, and predicts without their weight.

    The base is a GP with Matern-5/2 kernel, ARD, a free signal variance, BoTorch's dimension-scaled prior on the
    length-scales and robustly standardized outcomes. An outlier's variance has no cap: at any magnitude the fit is the
    fit without that point.

    Args:
        train_X: ``n x d`` inputs.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known noise variances.
        likelihood: Not to be given: the added variances live in the model's own.
        covar_module: Any GPyTorch kernel (fitted through autograd, slower); the named ``kernel`` unless given.
        mean_module: A `ConstantMean`, whose constant is profiled out.
        outcome_transform: `RobustStandardize` unless given.
        input_transform: As in `SingleTaskGP`.
        direction: "backward" or "forward" through the levels.
        parameterization: Of the added variances: "log", "convex" or "canonical".
        levels: Support sizes to visit, as fractions of n (float) or counts (int).
        selection: "corrected" (`selection.corrected`), "botorch" or "paper".
        outlier_rate: Your own prior rate of outliers, in (0, 1); with "corrected".
        num_outliers: A known number of outliers; takes the place of the rule.
        kernel: "matern52" or "rbf".
        is_signal_free: Whether the signal variance is free, or 1 as in BoTorch's default.

    Attributes:
        support: After the fit, the sorted indices of the outliers.
        rho: After the fit, ``n`` added variances in squared outcome units.
        trace: After the fit, one `Level` per visited size, in the model's standardized units.
        support_posterior: After the fit, the posterior probability of each level of the trace.

    References:
        Ament et al. (2024), Robust Gaussian processes via relevance pursuit; equations.md section 6.

    Example:
        >>> from robustbo.surrogates.base import fit
        >>> X = torch.linspace(0, 1, 20, dtype=torch.float64).unsqueeze(-1)
        >>> Y = torch.sin(6 * X)
        >>> Y[[4, 11]] += 1e6
        >>> fit(RelevancePursuitGP(X, Y)).support
        [4, 11]
    """

    def __init__(
        self,
        train_X: Tensor,
        train_Y: Tensor,
        train_Yvar: Tensor | None = None,
        likelihood: Likelihood | None = None,
        covar_module: Module | None = None,
        mean_module: Mean | None = None,
        outcome_transform: OutcomeTransform | Any = DEFAULT,
        input_transform: InputTransform | None = None,
        *,
        direction: str = "backward",
        parameterization: str = "log",
        levels: Sequence[float] = LEVELS,
        selection: str = "corrected",
        outlier_rate: float | None = None,
        num_outliers: int | None = None,
        kernel: str = "matern52",
        is_signal_free: bool = True,
    ) -> None:
        if likelihood is not None:
            raise ValueError("likelihood must not be given: relevance pursuit brings its own; give train_Yvar if known")
        if mean_module is not None and not isinstance(mean_module, ConstantMean):
            raise ValueError(f"mean_module must be a ConstantMean, got {type(mean_module).__name__}")
        self._options = PursuitOptions(
            direction, parameterization, tuple(levels), selection, outlier_rate, num_outliers
        ).check(train_X.shape[-2])
        transformed = self.transform_inputs(X=train_X, input_transform=input_transform)
        self._named = (kernel, is_signal_free) if covar_module is None else None
        if covar_module is None:
            covar_module = base_gp.kernel_module(kernel, transformed.shape[-1], is_signal_free)
        if outcome_transform is DEFAULT:
            outcome_transform = RobustStandardize(m=1)
        super().__init__(
            train_X,
            train_Y,
            train_Yvar,
            None if train_Yvar is not None else base_gp.likelihood_module(),
            covar_module,
            mean_module,
            outcome_transform,
            input_transform,
        )
        if train_Yvar is not None:
            self.likelihood: Any = OutlierFixedNoiseLikelihood(noise=self.likelihood.noise)
        self.trace: list[Level] = []
        self.support_posterior: list[float] = []
        self.to(train_X)

    @property
    def support(self) -> list[int]:
        """Sorted indices of the outliers."""
        return self._rho.nonzero().flatten().tolist()

    @property
    def rho(self) -> Tensor:
        """``n`` added variances in squared outcome units."""
        scale = getattr(getattr(self, "outcome_transform", None), "stdvs", torch.ones(1))
        return self._rho * scale.square().flatten()

    @property
    def _rho(self) -> Tensor:
        return getattr(self.likelihood, "rho", torch.zeros_like(self.train_targets))

    def custom_fit(self, mll: Any, *, optimizer_kwargs: Mapping[str, Any] | None = None, **_: Any) -> Any:
        """Pursue the support and adopt what is found; `fit_gpytorch_mll` calls this.

        Raises:
            FitError: If no hyperparameters give a finite likelihood.
        """
        self.eval()
        with torch.no_grad():
            model = self._search_model()
            level = self._pursue(model)
            if self._standardize_on_inliers(level):
                model = self._search_model()
                level = self._pursue(model)
            self._adopt(model, level)
        return mll.eval()

    def _search_model(self) -> Model:
        X, y = self.train_inputs[0], self.train_targets
        if self._named is not None:
            covariance = base_gp.covariance_function(X, *self._named)
        else:
            covariance = autograd_covariance.covariance_function(self.covar_module, X)
        is_known = isinstance(self.likelihood, OutlierFixedNoiseLikelihood)
        return Model(y, covariance, base_gp.NOISE_PRIOR, self.likelihood.noise if is_known else None)

    def _pursue(self, model: Model) -> Level:
        rule = self._options.rule(len(model.y), len(model.start) + 1)
        self.trace = self._options.levels_of(model, rule)
        self.support_posterior = support_posterior(self.trace, rule)
        best = self._options.improve(model, max(self.trace, key=lambda level: score(level, rule)), rule)
        if not math.isfinite(best.fit.F):
            raise FitError(
                f"{len(model.y)} outcomes must give a finite likelihood for some hyperparameters, they do not"
            )
        return best

    def _standardize_on_inliers(self, level: Level) -> bool:
        """Learn center and scale again from the inliers; whether that changed the scale by more than `RESCALE`."""
        transform = getattr(self, "outcome_transform", None)
        inliers = level.fit.rho == 0
        if not isinstance(transform, RobustStandardize) or inliers.all() or inliers.sum() < 2:
            return False
        raw, _ = transform.untransform(self.train_targets.unsqueeze(-1))
        before = transform.stdvs
        transform.learn(raw[inliers])
        if (transform.stdvs / before).log().abs().item() < math.log(RESCALE):
            transform.learn(raw)
            return False
        transform.eval()
        targets, _ = transform(raw)
        self.set_train_data(targets=targets.squeeze(-1), strict=False)
        return True

    def _adopt(self, model: Model, level: Level) -> None:
        """Take over hyperparameters and variances of a level."""
        theta, rho = level.fit.theta, level.fit.rho
        p = len(model.covariance.start)
        if self._named is not None:
            base_gp.set_kernel(self.covar_module, theta[:p], self._named[1])
        else:
            autograd_covariance.set_kernel(self.covar_module, theta[:p])
        if model.s2_known is None:
            self.likelihood.noise = theta[p].exp().clamp_min(base_gp.MIN_S2)
        self.mean_module.constant = log_posterior(model, theta, rho).evidence.m
        self.likelihood.set_outlier_variances(self.train_inputs[0], rho)
        self.train()
        self.eval()  # drops what predictions had cached

    def load_state_dict(self, state_dict: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Take hyperparameters; the outliers among this model's own rows follow from them in closed form."""
        result = super().load_state_dict(state_dict, *args, **kwargs)
        is_training = self.training
        self.eval()
        with torch.no_grad():
            model = self._search_model()
            rule = self._options.rule(len(model.y), len(model.start) + 1)
            found = screen(model, self._theta(model), max(rule(1), 0.0))
            self.likelihood.set_outlier_variances(self.train_inputs[0], found.fit.rho)
        return self.train(is_training) and result

    def _theta(self, model: Model) -> Tensor:
        if self._named is not None:
            head = base_gp.get_kernel(self.covar_module, self._named[1])
        else:
            head = autograd_covariance.get_kernel(self.covar_module)
        return (
            head if model.s2_known is not None else torch.cat([head, self.likelihood.noise.detach().log().reshape(1)])
        )

    def diagnose(self) -> Diagnosis:
        """Leave-one-out expectations and evidence; the outliers are the support."""
        self.eval()
        with torch.no_grad():
            model = self._search_model()
            K0 = prior_covariance(model, self._theta(model))
        return diagnose_by_leave_one_out(self, self._rho, K0)
