"""The GP under all our exact surrogates: fitted by maximum a posteriori with explicit gradients, in milliseconds."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from botorch.models.transforms.input import InputTransform
from botorch.models.transforms.outcome import OutcomeTransform, Standardize
from botorch.utils.types import DEFAULT
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, Likelihood
from gpytorch.means import ConstantMean, Mean
from gpytorch.module import Module
from torch import Tensor

from robustbo.determinism.generator import no_draws
from robustbo.errors import FitError
from robustbo.numerics.gp.model import Model
from robustbo.surrogates.common import custom_kernel, priors
from robustbo.surrogates.common.closed_form import ClosedFormGP
from robustbo.surrogates.common.contract import Surrogate, outcome_transform
from robustbo.surrogates.common.likelihood import OutlierFixedNoiseLikelihood
from robustbo.surrogates.common.options import GPOptions
from robustbo.surrogates.common.placement import in_double
from robustbo.surrogates.common.row_variances import RowVariancesGP
from robustbo.surrogates.common.shared_errors import beside_shared_errors
from robustbo.surrogates.common.units import in_squared_outcome_units
from robustbo.surrogates.transforms.arcsinh import RobustArcsinh

ALL = slice(None)


class MapGP(ClosedFormGP, Surrogate, RowVariancesGP):
    """An exact GP whose observations may have variances of their own; a subclass finds them.

    The base is Matern-5/2 with ARD, a free signal variance, BoTorch's dimension-scaled prior on the length-scales, a
    profiled constant mean, and outcomes robustly standardized and through the inverse hyperbolic sine (or a warp:
    `warped_gp.WarpedGP`).

    Args:
        train_X: ``n x d`` inputs.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known noise variances.
        likelihood: Not to be given: the added variances live in the model's own.
        covar_module: Any GPyTorch kernel (fitted through autograd, slower); the named ``kernel`` by default.
        mean_module: A `ConstantMean`, whose constant is profiled out.
        outcome_transform: Of the class's own kind (`RobustArcsinh`) by default.
        input_transform: As in `SingleTaskGP`.
        options: Those of `GPOptions`; a subclass has its own.

    Raises:
        ValueError: If the shapes, the types (single or double precision), the likelihood or the mean are others.

    Attributes:
        map_estimate: After the fit, hyperparameters and added variances as the search found them.

    References:
        docs/equations.md sections 6 and 14.
    """

    options_class = GPOptions
    outcome_class: ClassVar[type[Standardize]] = RobustArcsinh
    options: Any  # of its `options_class`
    map_estimate: Any = None
    _noise_of_replicates = 0.0  # variance by which replicates may differ, where the noise is not known

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
        self.options = self.make_options(options)
        if train_X.dim() != 2 or train_Y.shape != (len(train_X), 1):
            shapes = f"{tuple(train_X.shape)} and {tuple(train_Y.shape)}"
            raise ValueError(f"train_X must be n x d and train_Y n x 1 (one outcome, no batches), got {shapes}")
        train_X, train_Y, train_Yvar = in_double(train_X=train_X, train_Y=train_Y, train_Yvar=train_Yvar)
        if likelihood is not None:
            raise ValueError("likelihood must not be given: this model brings its own; give train_Yvar if it is known")
        if mean_module is not None and not isinstance(mean_module, ConstantMean):
            raise ValueError(f"mean_module must be a ConstantMean, got {type(mean_module).__name__}")
        transformed = self.transform_inputs(X=train_X, input_transform=input_transform)
        named = self.options.kernel, self.options.is_signal_free
        self._named = named if covar_module is None else None
        super().__init__(
            train_X,
            train_Y,
            train_Yvar,
            None if train_Yvar is not None else self.new_likelihood(None),
            covar_module or priors.kernel_module(named[0], transformed.shape[-1], named[1]),
            mean_module,
            self.new_outcome_transform() if outcome_transform is DEFAULT else outcome_transform,
            input_transform,
        )
        if train_Yvar is not None:
            self.likelihood = self.new_likelihood(self.likelihood.noise)
        self.likelihood.set_outlier_variances(torch.zeros_like(self.train_targets))
        self.to(train_X)
        self._outcomes = train_Y.squeeze(-1)
        self.begin(train_X, train_Y, train_Yvar, input_transform)

    def begin(self, X: Tensor, Y: Tensor, Yvar: Tensor | None, input_transform: InputTransform | None) -> None:
        """Check or keep the arguments that a method needs; the GP has been set up."""

    def new_outcome_transform(self) -> Standardize:
        """The transform that outcomes go through unless another is given."""
        return self.outcome_class(m=1)

    def new_likelihood(self, noise: Tensor | None) -> Likelihood:
        """The likelihood: with ``n`` known noise variances, or one to be learned."""
        return priors.likelihood_module() if noise is None else OutlierFixedNoiseLikelihood(noise=noise)

    def search(self, model: Model) -> Any:
        """Find what `_adopt` takes over, with its log posterior density F; to be written by subclasses."""
        raise NotImplementedError

    def outlier_variances(self, model: Model, theta: Tensor) -> Tensor:
        """The ``n`` added variances at given hyperparameters, for a state that came from other rows."""
        return torch.zeros_like(model.y)

    @property
    def support(self) -> list[int]:
        """Sorted indices of the outliers."""
        return self._rho.nonzero().flatten().tolist()

    @property
    def rho(self) -> Tensor:
        """``n`` added variances in squared outcome units: as much more as the square of the error is."""
        return in_squared_outcome_units(
            outcome_transform(self), self._rho, self.train_targets, self.diagnose().expected
        )

    def custom_fit(self, mll: Any, **_: Any) -> Any:
        """Search and adopt the estimate; `fit_gpytorch_mll` calls this.

        Raises:
            FitError: If no hyperparameters give a finite likelihood.
        """
        self.eval()
        with torch.no_grad(), no_draws():
            estimate = self.search(self.search_model())
            if not math.isfinite(estimate.F):
                n = len(self.train_targets)
                raise FitError(f"{n} outcomes must give a finite likelihood for some hyperparameters, but they do not")
            self.map_estimate = estimate
            self._adopt(estimate)
        return mll.eval()

    def search_model(self, rows: Tensor | slice = ALL) -> Model:
        """The model for the search, of all observations or some; in evaluation mode."""
        X, y = self.train_inputs[0][rows], self.train_targets[rows]
        if self._named is not None:
            covariance = priors.covariance_function(X, *self._named)
        else:
            covariance = custom_kernel.covariance_function(self.covar_module, X)
        model = Model(y, covariance, priors.NOISE_PRIOR, self._noise_variances(rows), s2_least=self._least_noise())
        return beside_shared_errors(self, model._replace(s2_parts=self.noise_parts(rows)), rows)

    def is_cleared(self, rows: Tensor | slice = ALL) -> Tensor:
        """Return which observations agree with most at their point or are vouched for."""
        if self.vouched is None or len(self.vouched) != len(self.train_targets):  # of other data
            return self.agrees(rows)
        return self.agrees(rows) | self.vouched[rows]

    def agrees(self, rows: Tensor | slice) -> Tensor:
        """Return which observations agree with most at their point (`numerics.gp.replicates`)."""
        y, s2 = self.train_targets[rows], self._noise_variances(rows)
        s2 = self.noise_by_row(y.new_tensor(self._noise_of_replicates), rows) if s2 is None else s2
        return priors.agrees_with_replicates(self.train_inputs[0][rows], y, s2, outcome_transform(self))

    def _noise_variances(self, rows: Tensor | slice) -> Tensor | None:
        return self.likelihood.noise[rows] if isinstance(self.likelihood, FixedNoiseGaussianLikelihood) else None

    def _adopt(self, estimate: Any) -> None:
        model = self.search_model()
        self._set_theta(model, estimate.theta)
        cache = self._condition(model, estimate)
        self.mean_module.constant = cache.m
        self._set_outlier_variances(estimate.rho)
        self._prediction_cache = cache, self._dependencies()

    def _set_theta(self, model: Model, theta: Tensor) -> None:
        p = len(model.covariance.bounds)
        if self._named is not None:
            priors.set_kernel(self.covar_module, theta[:p], self._named[1])
        else:
            custom_kernel.set_kernel(self.covar_module, theta[:p])
        if model.s2_known is None:
            self.likelihood.noise = theta[p].exp().clamp_min(priors.MIN_S2)

    def set_train_data(self, inputs: Any = None, targets: Tensor | None = None, strict: bool = True) -> None:
        """Take other data; hyperparameters stay, and a fitted model computes the variances of single rows anew.

        Inputs alone are another view of the same rows: BoTorch transforms them, and back.
        """
        super().set_train_data(inputs, targets, strict)
        if inputs is not None and targets is not None:
            self._take_rows()

    def _take_rows(self) -> None:
        """Drop the variances of other rows, and of a fitted model compute those of these rows."""
        is_fitted = self.map_estimate is not None or self.likelihood.rho.any()
        self.likelihood.set_outlier_variances(torch.zeros_like(self.train_targets))
        if is_fitted:
            self._renew()

    def load_state_dict(self, state_dict: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Take hyperparameters; the variances of this model's own rows follow from them."""
        result = super().load_state_dict(state_dict, *args, **kwargs)
        self._renew()
        return result

    def _renew(self) -> None:
        is_training = self.training
        self.eval()
        with torch.no_grad():
            self._follow(self.search_model())
        self.train(is_training)

    def _follow(self, model: Model) -> None:
        """Set what follows from the hyperparameters: here the outliers' variances, in closed form."""
        self._set_outlier_variances(self.outlier_variances(model, self._theta(model)))

    def _theta(self, model: Model) -> Tensor:
        own, named = custom_kernel.get_kernel, self._named
        head = own(self.covar_module) if named is None else priors.get_kernel(self.covar_module, named[1])
        if model.s2_known is not None:
            return head
        return torch.cat([head, self.likelihood.noise.detach().log().reshape(1)])

    def parameters_now(self) -> Tensor:
        """All parameters in one vector, by which a change of them is seen."""
        return torch.cat([p.detach().flatten() for p in self.parameters()])

    @property
    def is_named(self) -> bool:
        """Return whether the kernel is one of those with explicit gradients."""
        return self._named is not None
