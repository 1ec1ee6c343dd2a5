"""What every surrogate is: a BoTorch model, fitted through `fit_gpytorch_mll`, that knows about its observations.

Model classes take BoTorch's arguments positionally and their own options after ``*``; Ax reads that signature.
"""

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import gpytorch
import torch
from botorch.exceptions import ModelFittingError
from botorch.exceptions.warnings import BotorchWarning
from botorch.fit import fit_gpytorch_mll
from botorch.models.gpytorch import GPyTorchModel
from botorch.utils.datasets import SupervisedDataset
from gpytorch.mlls import ExactMarginalLogLikelihood, MarginalLogLikelihood
from linear_operator.utils.errors import NanError, NotPSDError
from linear_operator.utils.warnings import NumericalWarning
from torch import Tensor

from robustbo.errors import FitError
from robustbo.numerics.gp.leave_one_out import leave_one_out
from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.student_t.predictive import normal_log_tail

# The model's arguments that are BoTorch's; what else a class takes is an option of its own.
BOTORCH_ARGUMENTS = (
    "train_X",
    "train_Y",
    "train_Yvar",
    "likelihood",
    "covar_module",
    "mean_module",
    "outcome_transform",
    "input_transform",
)

MENDED = (
    "Optimization failed in `gen_candidates_scipy`",  # it goes on from other initial conditions
    "Optimization failed on the second try",  # and takes the best point it saw
    "Sparse invariant checks are implicitly disabled",  # said once, of a tensor of BoTorch's own making
    "Converting a tensor with requires_grad=True to a scalar",  # harmless, in BoTorch's relevance pursuit
)


class Diagnosis(NamedTuple):
    """What a fitted surrogate says of each of its n observations, in the outcome's units.

    Attributes:
        expected: What the other observations predict.
        sd: Standard deviation of that prediction, noise included.
        evidence: Nats by which the data are likelier if this observation has an error of its own.
        is_outlier: Whether the surrogate treats it as one.
        weight: How much it counts in the fit, 1 being all, where the surrogate weighs observations; else None.
    """

    expected: Tensor
    sd: Tensor
    evidence: Tensor
    is_outlier: Tensor
    weight: Tensor | None = None


class Tails(NamedTuple):
    """How far out each of n observations lies: its error in the model's units, and the log chance of one beyond."""

    e: Tensor
    log_chance: Tensor


def own_options(cls: type[GPyTorchModel]) -> set[str]:
    """The names of a model class's own options."""
    return set(inspect.signature(cls.__init__).parameters) - {"self", "args", "kwargs", *BOTORCH_ARGUMENTS}


class TakesOptions:
    """A BoTorch model class whose own options reach it through `construct_inputs`, as Ax's ``model_options`` do."""

    @classmethod
    def construct_inputs(cls, training_data: SupervisedDataset, **options: Any) -> dict[str, Any]:
        """The model's arguments for a data set, and its options.

        Args:
            training_data: Inputs, outcomes and, where known, noise variances.
            options: Keyword options of the class.
        """
        return {**super().construct_inputs(training_data), **options}  # type: ignore[misc]


def fit(model: GPyTorchModel, before: GPyTorchModel | None = None) -> GPyTorchModel:
    """Fit a surrogate's hyperparameters to its data.

    Args:
        model: A BoTorch model; its ``custom_fit`` is used if it has one.
        before: A model of the same class, fitted to all but the last of these observations. A class with a
            ``continue_from`` begins its search there; others take no notice.

    Returns:
        The same model, in evaluation mode.

    Raises:
        FitError: If the fit does not succeed.
    """
    if before is not None and hasattr(model, "continue_from"):
        model.continue_from(before)
    mll = marginal_log_likelihood(model)
    try:
        with quiet():
            fit_gpytorch_mll(mll)
    except (ModelFittingError, NanError, NotPSDError, torch.linalg.LinAlgError) as error:
        n = model.train_targets.shape[-1]
        raise FitError(f"{type(model).__name__} could not be fitted to {n} observations: {error}") from error
    return model.eval()


def marginal_log_likelihood(model: GPyTorchModel) -> MarginalLogLikelihood:
    """What a fit maximizes: the model's own, or the exact one."""
    if hasattr(model, "marginal_log_likelihood"):
        return model.marginal_log_likelihood()
    return ExactMarginalLogLikelihood(model.likelihood, model)


@contextmanager
def quiet() -> Iterator[None]:
    """Run the block without what BoTorch and its libraries say to their own developers, or mend themselves."""
    with warnings.catch_warnings():
        for category in (BotorchWarning, NumericalWarning, DeprecationWarning, FutureWarning):
            warnings.filterwarnings("ignore", category=category)
        for message in MENDED:
            warnings.filterwarnings("ignore", message=message)
        yield


def diagnose(model: GPyTorchModel) -> Diagnosis:
    """A fitted surrogate's word on each of its observations.

    A class with a ``diagnose`` of its own gives that; any other exact GP gives its leave-one-out predictions, with
    nothing called an outlier.
    """
    if hasattr(model, "diagnose"):
        return model.diagnose()
    rho = torch.zeros_like(model.train_targets)
    return diagnose_by_leave_one_out(model, rho)


def weights(model: GPyTorchModel, diagnosis: Diagnosis) -> Tensor | None:
    """How much each observation counts, at most 1: by a method ``probability_right`` of the model, or its diagnosis.

    A heavy tail's weights are relative to an error of one scale, and above 1 for smaller ones: these count wholly.
    """
    if hasattr(model, "probability_right"):
        return model.probability_right()
    return None if diagnosis.weight is None else diagnosis.weight.clamp(max=1.0)


def tails(model: GPyTorchModel, *, leave_one_out: bool = True) -> Tails:
    """How far out a fitted surrogate finds each of its observations.

    Args:
        model: One that has ``tails`` of its own, or any other, whose predictions are taken for normal.
        leave_one_out: Whether each observation is predicted by the others, or by all.
    """
    if hasattr(model, "tails"):
        return model.tails(leave_one_out=leave_one_out)
    if leave_one_out:
        found = diagnose(model)
        expected, sd = _in_model_units(model, found.expected, found.sd)
    else:
        with torch.no_grad(), gpytorch.settings.debug(False):  # it asks whether training was meant
            latent = model(model.train_inputs[0])
            likelihood = model.likelihood  # without an outlier's own variance, which would excuse it
            noise = likelihood.noise if hasattr(likelihood, "noise") else likelihood.noise_covar.base_noise.noise
            expected, sd = latent.mean, (latent.variance + noise).sqrt()
    e = model.train_targets - expected
    return normal_tails(e, sd)


def normal_tails(e: Tensor, sd: Tensor) -> Tails:
    """Errors of ``n`` predictions that are normal, and the chances of ones beyond."""
    return Tails(e, normal_log_tail(e, sd))


def diagnose_by_leave_one_out(model: GPyTorchModel, rho: Tensor, K0: Tensor | None = None) -> Diagnosis:
    """Leave-one-out expectations and evidence of an exact GP; the outliers are where rho is positive.

    Args:
        model: A fitted exact GP.
        rho: ``n`` variances that its likelihood adds to single observations, in the model's own (transformed) units.
        K0: ``n x n`` covariance of the observations without them; from the likelihood unless given.
    """
    model.eval()
    X, y = model.train_inputs[0], model.train_targets
    with torch.no_grad():
        prior = model.likelihood(model.forward(X), [X])
        K0 = prior.covariance_matrix - torch.diag(rho) if K0 is None else K0
        left_out = leave_one_out(y - prior.mean, K0, rho)
        evidence = gain(y - prior.mean - left_out.mean, left_out.variance)
        expected, sd = in_outcome_units(model, left_out.mean + prior.mean, left_out.variance.sqrt())
    return Diagnosis(expected, sd, evidence, rho > 0)


def in_outcome_units(model: GPyTorchModel, mean: Tensor, sd: Tensor) -> tuple[Tensor, Tensor]:
    """Means and standard deviations in the model's own (transformed) units, in those of the outcome."""
    transform = getattr(model, "outcome_transform", None)
    if transform is None:
        return mean, sd
    mean, variance = transform.untransform(mean.unsqueeze(-1), sd.square().unsqueeze(-1))
    return mean.squeeze(-1), variance.squeeze(-1).sqrt()


def in_squared_outcome_units(model: GPyTorchModel, rho: Tensor, expected: Tensor) -> Tensor:
    """``n`` added variances in squared outcome units: as much more as the square of the error is.

    Args:
        model: Whose observations have them.
        rho: The variances in the model's own (transformed) units.
        expected: ``n`` expected outcomes.
    """
    transform, y = getattr(model, "outcome_transform", None), model.train_targets.unsqueeze(-1)
    if transform is None:
        return rho
    (outcome, _), (inside, _) = transform.untransform(y), transform(expected.unsqueeze(-1))
    stretch = (outcome.squeeze(-1) - expected) / (y - inside).squeeze(-1)
    return torch.where(rho > 0, rho * stretch.square(), rho)


def _in_model_units(model: GPyTorchModel, mean: Tensor, sd: Tensor) -> tuple[Tensor, Tensor]:
    """The way back."""
    transform = getattr(model, "outcome_transform", None)
    if transform is None:
        return mean, sd
    inside, _ = transform(mean.unsqueeze(-1))
    _, stretch = transform.untransform(inside, torch.ones_like(inside))
    return inside.squeeze(-1), sd / stretch.squeeze(-1).sqrt()
