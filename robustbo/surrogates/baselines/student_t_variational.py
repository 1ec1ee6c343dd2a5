"""GPyTorch's variational GP with a Student-t likelihood; the baseline of the relevance pursuit paper."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from botorch.exceptions.warnings import OptimizationWarning, UserInputWarning
from botorch.models import SingleTaskVariationalGP
from botorch.models.transforms.input import InputTransform
from botorch.models.transforms.outcome import OutcomeTransform
from botorch.optim.fit import fit_gpytorch_mll_scipy
from botorch.utils.types import DEFAULT
from gpytorch.likelihoods import Likelihood, StudentTLikelihood
from gpytorch.means import Mean
from gpytorch.mlls import VariationalELBO
from gpytorch.module import Module
from torch import Tensor

from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.student_t.laplace import Noise
from robustbo.surrogates.common import priors
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.contract import Diagnosis, Surrogate, outcome_transform
from robustbo.surrogates.common.options import GPOptions
from robustbo.surrogates.common.units import in_outcome_units
from robustbo.surrogates.student_t.likelihood import DOF
from robustbo.surrogates.student_t.predictive import Predictive
from robustbo.surrogates.transforms.arcsinh import RobustArcsinh
from robustbo.validation import whole

WEIGHTLESS = 0.5  # of an observation's weight: one with less counts as an outlier
OF_OBSERVATIONS = "model.variational_strategy."  # what has one entry per inducing point, which are the observations

MOST_ITERATIONS = 100_000


@dataclass(frozen=True, kw_only=True)
class VariationalOptions(GPOptions):
    """The options of `StudentTVariationalGP`; see there."""

    dof: float = DOF
    max_iter: int = 400

    def check(self) -> None:
        """Raise a ValueError for an option that cannot be."""
        super().check()
        if not self.dof > 2:
            raise ValueError(f"dof must exceed 2 for a finite variance, got {self.dof!r}")
        whole("max_iter", self.max_iter, 1, MOST_ITERATIONS)

    @property
    def capabilities(self) -> Capabilities:
        """Of a baseline that is measured as it is: its diagnosis is in-sample."""
        return Capabilities(has_predictive=True, leaves_one_out=False, hears_replicates=False)


class StudentTVariationalGP(Surrogate, SingleTaskVariationalGP):
    """`SingleTaskVariationalGP` with an inducing point at each observation, our base kernel, and Student-t noise.

    Its diagnosis is in-sample, since a variational posterior has no leave-one-out formula: each observation is compared
    with a prediction that it has had its part in. An observation is an outlier where its weight is below 1/2.

    Args:
        train_X: ``n x d`` inputs; all that is not said here is as in `MapGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known squared scales, of which the mean is taken for all.
        likelihood: Not to be given.
        dof: Degrees of freedom to begin with; they are learned.
        max_iter: Iterations of L-BFGS-B at most; it has n (n + 3) / 2 variational parameters to find.
        kernel: "matern52" or "rbf".
        is_signal_free: Whether the signal variance is free, or 1.

    References:
        Ament et al. (2024), Robust Gaussian processes via relevance pursuit, section 6.
    """

    outcome_class: ClassVar = RobustArcsinh
    options_class = VariationalOptions
    options: Any  # of its `options_class`

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
        **options: Any,
    ) -> None:
        self.options = self.checked(options)
        if likelihood is not None:
            raise ValueError("likelihood must not be given: this model brings its own")
        transform = self.outcome_class(m=1) if outcome_transform is DEFAULT else outcome_transform
        transformed = self.transform_inputs(X=train_X, input_transform=input_transform)
        kernel = covar_module or priors.kernel_module(
            self.options.kernel, transformed.shape[-1], self.options.is_signal_free
        )
        own = StudentTLikelihood().to(train_X)
        own.initialize(deg_free=self.options.dof)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserInputWarning)  # of minibatches, which are not used here
            super().__init__(
                train_X,
                train_Y,
                own,
                learn_inducing_points=False,
                covar_module=kernel,
                mean_module=mean_module,
                inducing_points=transformed.clone(),
                outcome_transform=transform,
                input_transform=input_transform,
            )
        self.to(train_X)
        self.model.custom_fit = self.custom_fit  # the bound knows the inner model only
        targets, Yvar = (train_Y, train_Yvar) if transform is None else transform.eval()(train_Y, train_Yvar)
        self.train_inputs, self.train_targets = (train_X,), targets.squeeze(-1)
        own.noise = priors.NOISE_START if Yvar is None else Yvar.mean()
        own.raw_noise.requires_grad_(Yvar is None)

    def marginal_log_likelihood(self) -> VariationalELBO:
        """The evidence's lower bound, which is what is maximized."""
        return VariationalELBO(self.likelihood, self.model, num_data=len(self.train_targets))

    def custom_fit(self, mll: Any, **_: Any) -> Any:
        """Maximize the bound; `fit_gpytorch_mll` calls this."""
        self.train()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimizationWarning)  # it says that it stopped after so many iterations
            fit_gpytorch_mll_scipy(mll, options={"maxiter": self.options.max_iter})
        return mll.eval()

    def posterior(self, X: Tensor, *args: Any, **kwargs: Any) -> Any:
        """As in BoTorch; but what its first prediction keeps for the others is kept without the graph of that one."""
        self.eval()
        with torch.no_grad():
            self.model(self.model.variational_strategy.inducing_points)
        return super().posterior(X, *args, **kwargs)

    def predictive(self, X: Tensor) -> Predictive:
        """The heavy-tailed distribution of a measurement at each of ``... x d`` points."""
        self.eval()
        with torch.no_grad():
            latent = self.model(self.transform_inputs(X))
        noise = Noise(self.likelihood.noise.detach().squeeze(), self.likelihood.deg_free.detach().squeeze())
        return Predictive(latent.mean, latent.variance, noise, outcome_transform(self))

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The hyperparameters, without the variational distribution of these observations."""
        state = super().state_dict(*args, **kwargs)
        return {key: value for key, value in state.items() if not key.startswith(OF_OBSERVATIONS)}

    def load_state_dict(self, state_dict: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Take hyperparameters; the variational distribution stays as it is."""
        mine = super().state_dict()
        own = {key: value for key, value in mine.items() if key.startswith(OF_OBSERVATIONS)}
        return super().load_state_dict({**state_dict, **own}, *args, **kwargs)

    def diagnose(self) -> Diagnosis:
        """Predictions of the observations by all, themselves included, and the evidence against them."""
        self.eval()
        with torch.no_grad():
            latent = self.model(self.transform_inputs(self.train_inputs[0]))
            s2, nu = self.likelihood.noise.squeeze(), self.likelihood.deg_free.squeeze()
            variance = latent.variance + s2 * nu / (nu - 2)
            e = self.train_targets - latent.mean
            weight = (nu + 1) / (nu + (e.square() + latent.variance) / s2)
            expected, sd = in_outcome_units(outcome_transform(self), latent.mean, variance.sqrt())
            return Diagnosis(expected, sd, gain(e, variance), weight < WEIGHTLESS)
