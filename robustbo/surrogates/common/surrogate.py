"""The class of surrogates: BoTorch models that diagnose their observations; `contract` has the functions to ask one by.

Model classes take BoTorch's arguments, whose names Ax reads in the signature, and options of their own by keyword.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import fields
from typing import Any, ClassVar

import gpytorch
import torch
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.transforms.outcome import Standardize
from botorch.utils.datasets import SupervisedDataset
from gpytorch.mlls import ExactMarginalLogLikelihood, MarginalLogLikelihood
from torch import Tensor

from robustbo.numerics.improvement.wrong import NOISE_DOF
from robustbo.surrogates.common.diagnostics import Diagnostics, Tails, diagnose_by_leave_one_out, normal_tails
from robustbo.surrogates.common.on_one_thread import OnOneThread
from robustbo.surrogates.common.options import Options
from robustbo.surrogates.common.units import errors_in_model_units, in_model_units, in_outcome_units
from robustbo.validation import nearest


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
        names = option_names(cls)
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

    def subset_output(self, idcs: list[int]) -> Any:
        """Return a copy of the model of some of its outcomes, as BoTorch names them: the only one is 0 (or -1).

        Raises:
            ValueError: If another is named, or the one twice.
        """
        if len(idcs) != 1 or idcs[0] not in (0, -1):
            raise ValueError(f"idcs must be [0], since {type(self).__name__} has one outcome, got {idcs!r}")
        return deepcopy(self)

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
        return contract_class(self).marginals(self, X)  # which a model that is none of ours has not

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
            of_others = (diagnostics := contract_class(model).diagnose(model)).expected, diagnostics.sd
            return normal_tails(*errors_in_model_units(outcome_transform(model), model.train_targets, *of_others))
        with torch.no_grad(), gpytorch.settings.debug(False):  # it asks whether training was meant
            latent = model(model.train_inputs[0])
            likelihood = model.likelihood  # without an outlier's own variance, which would excuse it
            noise = likelihood.noise if hasattr(likelihood, "noise") else likelihood.noise_covar.base_noise.noise
            expected, sd = latent.mean, (latent.variance + noise).sqrt()
        return normal_tails(model.train_targets - expected, sd)

    def quantiles(self, X: Tensor, scores: Sequence[float]) -> Tensor:
        """See `contract.quantiles`: of a normal distribution, in the units that outcomes are transformed to."""
        model, transform = contract_class(self), outcome_transform(self)
        inside, width = in_model_units(transform, *model.marginals(self, X, True))
        ends = [in_outcome_units(transform, inside + score * width, width)[0] for score in scores]
        return torch.stack(ends, -1)

    def approximation(self) -> str:
        """Sentence on how the posterior is computed."""
        model: Any = self
        return f"exact, {len(model.train_targets)} values"

    def log_likelihood(self) -> float | None:
        """Log marginal likelihood of the outcomes as they are transformed, where the fit has one."""
        return None


def contract_class(model: GPyTorchModel) -> Any:
    """The class that answers for a model."""
    return type(model) if isinstance(model, Surrogate) else Surrogate


def option_names(cls: type[Surrogate]) -> set[str]:
    return {field.name for field in fields(cls.options_class)}


def outcome_transform(model: GPyTorchModel) -> Any:
    """The transform of a model's outcomes, None if there is none."""
    return getattr(model, "outcome_transform", None)
