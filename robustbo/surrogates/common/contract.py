"""The contract of surrogates: BoTorch models, fitted through `fit_gpytorch_mll`, that diagnose their observations.

Callers use the functions of this module: our models answer for themselves, `Surrogate` for any other BoTorch model.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from botorch.exceptions import ModelFittingError
from botorch.fit import fit_gpytorch_mll
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.transforms.outcome import OutcomeTransform
from botorch.posteriors import Posterior
from gpytorch.mlls import MarginalLogLikelihood
from linear_operator.utils.errors import NanError, NotPSDError
from torch import Tensor

from robustbo.determinism.threads import on_one_thread
from robustbo.errors import FitError, NumericalError
from robustbo.numerics.gp.wrong_density import RATE
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.diagnostics import Diagnostics, Tails
from robustbo.surrogates.common.quiet import quiet
from robustbo.surrogates.common.surrogate import Surrogate, contract_class, option_names
from robustbo.surrogates.common.surrogate import outcome_transform as outcome_transform  # callers ask it here

# The model's arguments that are BoTorch's; what else a class takes is an option of its own.
BOTORCH_ARGUMENTS = (
    *("train_X", "train_Y", "train_Yvar", "likelihood"),
    *("covar_module", "mean_module", "outcome_transform", "input_transform"),
)
AT_ONCE = 512  # points that are predicted together: the covariance of a posterior is dense


def capabilities(model: GPyTorchModel) -> Capabilities:
    """Capabilities of a model."""
    return model.options.capabilities if isinstance(model, Surrogate) else Capabilities()


def capabilities_for(cls: type[GPyTorchModel], options: Mapping[str, Any]) -> Capabilities:
    """Capabilities of a model of that class with some options, before it is made."""
    if not issubclass(cls, Surrogate):
        return Capabilities()
    names = option_names(cls)  # a subclass may take options of its own, which change nothing here
    return cls.make_options({name: value for name, value in options.items() if name in names}).capabilities


def prior_rate(model: GPyTorchModel, n: int) -> float:
    """The prior rate of wrong values among n that a model has."""
    return float(model.options.rate(n)) if isinstance(model, Surrogate) else RATE


def prior_rate_for(cls: type[GPyTorchModel], options: Mapping[str, Any], n: int) -> float:
    """The prior rate that a model of that class with some options has, before it is made."""
    if not issubclass(cls, Surrogate):
        return RATE
    return float(cls.make_options({name: x for name, x in options.items() if name in option_names(cls)}).rate(n))


def own_options(cls: type[GPyTorchModel]) -> set[str]:
    """The names of a model class's own options."""
    named = inspect.signature(cls.__init__).parameters.values()
    own = {p.name for p in named if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)} - {"self", *BOTORCH_ARGUMENTS}
    return own | option_names(cls) if issubclass(cls, Surrogate) else own


def outcome_class(cls: type[GPyTorchModel]) -> type[OutcomeTransform]:
    """The class of the transform that a model class's outcomes go through unless another is given."""
    return cls.outcome_class if issubclass(cls, Surrogate) else Surrogate.outcome_class


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
    return contract_class(model).marginal_log_likelihood(model)


def diagnose(model: GPyTorchModel) -> Diagnostics:
    """Diagnostics of each of a fitted surrogate's observations."""
    return contract_class(model).diagnose(model)


@on_one_thread
def marginals(model: GPyTorchModel, X: Tensor, is_noisy: bool = False) -> tuple[Tensor, Tensor]:
    """Means and standard deviations at ``m x d`` points: of the objective, or of a measurement there."""
    parts = [contract_class(model).marginals(model, part, is_noisy) for part in X.split(AT_ONCE)]
    mean, sd = (torch.cat(columns) for columns in zip(*parts, strict=True))
    return mean, sd


def at_inputs(model: GPyTorchModel, X: Tensor) -> tuple[Tensor, Tensor]:
    """Means and standard deviations of the objective at the ``n x d`` points that a model was fitted to."""
    return contract_class(model).at_inputs(model, X)


def probability_right(model: GPyTorchModel) -> Tensor | None:
    """``n`` probabilities that an observation is right, where a fitted surrogate has them."""
    return contract_class(model).probability_right(model)


def noise_dof(model: GPyTorchModel) -> float:
    """Degrees of freedom with which a fitted surrogate knows the noise, as it enters a comparison of replicates."""
    return float(contract_class(model).noise_dof(model))


def tails(model: GPyTorchModel, *, leave_one_out: bool = True) -> Tails:
    """The error of each of a fitted surrogate's observations by the others (or by all), and the tail beyond it."""
    return contract_class(model).tails(model, leave_one_out=leave_one_out)


@on_one_thread
def quantiles(model: GPyTorchModel, X: Tensor, scores: Sequence[float]) -> Tensor:
    """``m x q`` quantiles of a right measurement at ``m x d`` points, in the outcome's units.

    Args:
        model: A fitted surrogate.
        X: The points.
        scores: Below each of which a standard normal variable has the quantile's probability.
    """
    return torch.cat([contract_class(model).quantiles(model, part, scores) for part in X.split(AT_ONCE)])


@on_one_thread
def joint(model: GPyTorchModel, X: Tensor) -> tuple[Tensor, Tensor]:
    """Means, and the ``m x m`` covariance, of the objective at ``m x d`` points."""
    mean, sd = marginals(model, X)
    inner = model(model.transform_inputs(X)).covariance_matrix
    stretch = sd / inner.diagonal().sqrt()
    return mean, inner * stretch * stretch.unsqueeze(-1)


def approximation(model: GPyTorchModel) -> str:
    """Sentence on how the posterior of a fitted surrogate is computed."""
    return str(contract_class(model).approximation(model))


def log_likelihood(model: GPyTorchModel) -> float | None:
    """Log marginal likelihood of a fitted surrogate's outcomes as they are transformed, where it has one."""
    likelihood = contract_class(model).log_likelihood(model)
    return None if likelihood is None else float(likelihood)
