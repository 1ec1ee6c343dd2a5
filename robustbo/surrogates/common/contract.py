"""The contract of surrogates: BoTorch models, fitted through `fit_gpytorch_mll`, that diagnose their observations.

Model classes take BoTorch's arguments, whose names Ax reads in the signature, and options of their own by keyword.
Callers use the functions of this module: our models answer for themselves, `Surrogate` for any other BoTorch model.
"""

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar

import gpytorch
import torch
from botorch.exceptions import ModelFittingError
from botorch.fit import fit_gpytorch_mll
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.transforms.outcome import OutcomeTransform, Standardize
from botorch.posteriors import Posterior
from botorch.utils.datasets import SupervisedDataset
from gpytorch.mlls import ExactMarginalLogLikelihood, MarginalLogLikelihood
from linear_operator.utils.errors import NanError, NotPSDError
from torch import Tensor

from robustbo.determinism.threads import on_one_thread
from robustbo.errors import FitError, NumericalError
from robustbo.numerics.gp.wrong_density import RATE
from robustbo.numerics.improvement.wrong import NOISE_DOF
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.diagnostics import Diagnostics, Tails, diagnose_by_leave_one_out, normal_tails
from robustbo.surrogates.common.on_one_thread import OnOneThread
from robustbo.surrogates.common.options import Options
from robustbo.surrogates.common.quiet import quiet
from robustbo.surrogates.common.units import errors_in_model_units
from robustbo.validation import nearest

# The model's arguments that are BoTorch's; what else a class takes is an option of its own.
BOTORCH_ARGUMENTS = (
    *("train_X", "train_Y", "train_Yvar", "likelihood"),
    *("covar_module", "mean_module", "outcome_transform", "input_transform"),
)
AT_ONCE = 512  # points that are predicted together: the covariance of a posterior is dense


class Surrogate(OnOneThread, GPyTorchModel):
    """A BoTorch model with diagnostics; its methods serve any other BoTorch model too.

    Attributes:
        options_class: The class of its own options.
        outcome_class: The class of the transform that its outcomes go through unless another is given.
        options: Its own options, checked.
        vouched: ``n`` booleans, set before a fit: the observations that the user has vouched for.
        shared_errors: ``n x k`` shared errors, set before a fit, each times its standard deviation in outcome units.
    """

    options_class: ClassVar[type[Options]] = Options
    outcome_class: ClassVar[type[Standardize]] = Standardize
    options: Any
    vouched: Tensor | None = None
    shared_errors: Tensor | None = None

    @classmethod
    def make_options(cls, options: Mapping[str, Any]) -> Any:
        """Return the options as the class has them, checked.

        Raises:
            TypeError: If there is none of such a name, or one of the wrong type.
            ValueError: If one cannot be.
        """
        names = _option_names(cls)
        if unknown := sorted(set(options) - names):
            hint = nearest(unknown[0], names)
            raise TypeError(f"{cls.__name__} has the options {sorted(names)}, got {unknown[0]!r}{hint}")
        return cls.options_class(**options)

    @classmethod
    def construct_inputs(cls, training_data: SupervisedDataset, **options: Any) -> dict[str, Any]:
        """The model's arguments for a data set, and its options, as Ax's ``model_options`` reach it.

        Args:
            training_data: Inputs, outcomes and, where known, noise variances.
            options: Keyword options of the class.
        """
        return {**super().construct_inputs(training_data), **options}

    def marginal_log_likelihood(self) -> MarginalLogLikelihood:
        """The objective that a fit maximizes: the exact marginal log likelihood unless the model has its own."""
        model: Any = self
        return ExactMarginalLogLikelihood(model.likelihood, model)

    def diagnose(self) -> Diagnostics:
        """Diagnostics of each observation: an exact GP's leave-one-out predictions, with nothing called an outlier."""
        model: Any = self
        return diagnose_by_leave_one_out(model, torch.zeros_like(model.train_targets), outcome_transform(model))

    def marginals(self, X: Tensor, is_noisy: bool = False) -> tuple[Tensor, Tensor]:
        """See `marginals`."""
        posterior = self.posterior(X, observation_noise=is_noisy)
        return posterior.mean.squeeze(-1), posterior.variance.squeeze(-1).sqrt()

    def at_inputs(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """See `at_inputs`."""
        return _contract_class(self).marginals(self, X)  # which a model that is none of ours has not

    def probability_right(self) -> Tensor | None:
        """``n`` probabilities that an observation is right, where the model has them."""
        return None

    def noise_dof(self) -> float:
        """Degrees of freedom with which the noise is known."""
        return NOISE_DOF

    def tails(self, *, leave_one_out: bool = True) -> Tails:
        """Each observation's error and the chance of one beyond it, its prediction being normal; see `tails`."""
        model: Any = self
        if leave_one_out:
            of_others = (diagnostics := diagnose(model)).expected, diagnostics.sd
            return normal_tails(*errors_in_model_units(outcome_transform(model), model.train_targets, *of_others))
        with torch.no_grad(), gpytorch.settings.debug(False):  # it asks whether training was meant
            latent = model(model.train_inputs[0])
            likelihood = model.likelihood  # without an outlier's own variance, which would excuse it
            noise = likelihood.noise if hasattr(likelihood, "noise") else likelihood.noise_covar.base_noise.noise
            expected, sd = latent.mean, (latent.variance + noise).sqrt()
        return normal_tails(model.train_targets - expected, sd)


def _contract_class(model: GPyTorchModel) -> Any:
    """The class that answers for a model."""
    return type(model) if isinstance(model, Surrogate) else Surrogate


def capabilities(model: GPyTorchModel) -> Capabilities:
    """Capabilities of a model."""
    return model.options.capabilities if isinstance(model, Surrogate) else Capabilities()


def capabilities_for(cls: type[GPyTorchModel], options: Mapping[str, Any]) -> Capabilities:
    """Capabilities of a model of that class with some options, before it is made."""
    if not issubclass(cls, Surrogate):
        return Capabilities()
    names = _option_names(cls)  # a subclass may take options of its own, which change nothing here
    return cls.make_options({name: value for name, value in options.items() if name in names}).capabilities


def prior_rate(model: GPyTorchModel, n: int) -> float:
    """The prior rate of wrong values among n that a model has."""
    return float(model.options.rate(n)) if isinstance(model, Surrogate) else RATE


def prior_rate_for(cls: type[GPyTorchModel], options: Mapping[str, Any], n: int) -> float:
    """The prior rate that a model of that class with some options has, before it is made."""
    if not issubclass(cls, Surrogate):
        return RATE
    return float(cls.make_options({name: x for name, x in options.items() if name in _option_names(cls)}).rate(n))


def _option_names(cls: type[Surrogate]) -> set[str]:
    return {field.name for field in fields(cls.options_class)}


def own_options(cls: type[GPyTorchModel]) -> set[str]:
    """The names of a model class's own options."""
    named = inspect.signature(cls.__init__).parameters.values()
    own = {p.name for p in named if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)} - {"self", *BOTORCH_ARGUMENTS}
    return own | _option_names(cls) if issubclass(cls, Surrogate) else own


def outcome_class(cls: type[GPyTorchModel]) -> type[OutcomeTransform]:
    """The class of the transform that a model class's outcomes go through unless another is given."""
    return cls.outcome_class if issubclass(cls, Surrogate) else Surrogate.outcome_class


def outcome_transform(model: GPyTorchModel) -> Any:
    """The transform of a model's outcomes, None if there is none."""
    return getattr(model, "outcome_transform", None)


def degrees_of_freedom(posterior: Posterior) -> Tensor | None:
    """Degrees of freedom of a Student-t posterior; None of any other."""
    return getattr(posterior, "df", None)


def warm_start(model: GPyTorchModel) -> Any:
    """The start of a search with more observations, as ``continue_from`` takes it; None where a model has none."""
    return model.warm_start if capabilities(model).continues else None


@on_one_thread
def fit(model: GPyTorchModel, before: Any = None, rows: Tensor | None = None) -> GPyTorchModel:
    """Fit a surrogate's hyperparameters to its data.

    Args:
        model: A BoTorch model; its ``custom_fit`` is used if it has one.
        before: The `warm_start` of a model of the same class and options, fitted to most of these observations. One
            that ``continues`` begins its search there; others take no notice.
        rows: For each of ``n`` observations its row in the other model, or -1; given with ``before``.

    Returns:
        The same model, in evaluation mode.

    Raises:
        FitError: If the fit does not succeed.
    """
    if before is not None and capabilities(model).continues:
        model.continue_from(before, rows)
    mll = marginal_log_likelihood(model)
    try:
        with quiet():
            fit_gpytorch_mll(mll)
    except (ModelFittingError, NanError, NotPSDError, NumericalError, torch.linalg.LinAlgError) as error:
        n = model.train_targets.shape[-1]
        raise FitError(f"{type(model).__name__} could not be fitted to {n} observations: {error}") from error
    return model.eval()


def marginal_log_likelihood(model: GPyTorchModel) -> MarginalLogLikelihood:
    """The objective that a fit maximizes."""
    return _contract_class(model).marginal_log_likelihood(model)


def diagnose(model: GPyTorchModel) -> Diagnostics:
    """Diagnostics of each of a fitted surrogate's observations."""
    return _contract_class(model).diagnose(model)


@on_one_thread
def marginals(model: GPyTorchModel, X: Tensor, is_noisy: bool = False) -> tuple[Tensor, Tensor]:
    """Means and standard deviations at ``m x d`` points: of the objective, or of a measurement there."""
    parts = [_contract_class(model).marginals(model, part, is_noisy) for part in X.split(AT_ONCE)]
    mean, sd = (torch.cat(columns) for columns in zip(*parts, strict=True))
    return mean, sd


def at_inputs(model: GPyTorchModel, X: Tensor) -> tuple[Tensor, Tensor]:
    """Means and standard deviations of the objective at the ``n x d`` points that a model was fitted to."""
    return _contract_class(model).at_inputs(model, X)


def probability_right(model: GPyTorchModel) -> Tensor | None:
    """``n`` probabilities that an observation is right, where a fitted surrogate has them."""
    return _contract_class(model).probability_right(model)


def noise_dof(model: GPyTorchModel) -> float:
    """Degrees of freedom with which a fitted surrogate knows the noise, as it enters a comparison of replicates."""
    return float(_contract_class(model).noise_dof(model))


def tails(model: GPyTorchModel, *, leave_one_out: bool = True) -> Tails:
    """The error of each of a fitted surrogate's observations by the others (or by all), and the tail beyond it."""
    return _contract_class(model).tails(model, leave_one_out=leave_one_out)
