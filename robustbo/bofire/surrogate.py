"""Our surrogates at work in BoFire: fitted to its experiments, and asked which of them are wrong."""

from copy import deepcopy
from typing import Any

import bofire.kernels.api as kernels
import numpy as np
import pandas as pd
import torch
from bofire.surrogates.botorch import TrainableBotorchSurrogate
from bofire.surrogates.mapper import register
from botorch.exceptions import InputDataError
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import InputTransform
from botorch.models.transforms.outcome import OutcomeTransform
from torch import Tensor

from robustbo.bofire.data_model import RobustSurrogate as DataModel
from robustbo.determinism.isolation import isolation
from robustbo.determinism.surroundings import pin_surroundings
from robustbo.errors import FitError
from robustbo.surrogates.common import contract
from robustbo.surrogates.registry import model_class

FITS = 0  # the seed of what a fit draws: the same experiments have the same fit, whatever was drawn before


@register(DataModel)
class RobustBotorchSurrogate(TrainableBotorchSurrogate):
    """The surrogate that `bofire.surrogates.api.map` makes of the data model `RobustSurrogate`.

    A fit draws nothing from torch's generator, so that a strategy's seed alone says which candidates come next.

    Attributes:
        model: The BoTorch model, one of `robustbo.surrogates`, once it is fitted.
    """

    model: Any = None

    def __init__(self, data_model: DataModel, **kwargs: Any) -> None:
        self.surrogate = data_model.surrogate
        self.surrogate_options = data_model.surrogate_options
        self.kernel = data_model.kernel
        super().__init__(data_model=data_model, **kwargs)

    def predict_outliers(self, experiments: pd.DataFrame, options: dict[str, Any] | None = None) -> pd.DataFrame:
        """Fit to the experiments; return for each the prediction of all the others and the evidence against it.

        Args:
            experiments: In BoFire's form. Those without a valid, finite value are no part of the answer.
            options: As of ``fit``.

        Returns:
            A row for each experiment, with its index and in its order. Columns: labcode, if the experiments have one;
            value, expected (the prediction of the others), sd (of that prediction, noise included), evidence (in nats,
            of the value having an error of its own; 5 nats: 150 times as likely), flagged (whether the model treats it
            as wrong). All but the evidence are in the output's own units.

        Raises:
            ValueError: If no experiment has a valid, finite value.
            FitError: If the fit does not succeed.
        """
        valid = self.outputs.validate_experiments(experiments.copy())
        self.fit(valid, options)
        (key,) = self.outputs.get_keys()
        rows = self._preprocess_experiments(valid)
        diagnostics = _diagnose(self.model)
        named = {"labcode": rows["labcode"]} if "labcode" in rows else {}
        return pd.DataFrame(
            {
                **named,
                "value": rows[key].astype(float),
                "expected": diagnostics.expected.numpy(),
                "sd": diagnostics.sd.numpy(),
                "evidence": diagnostics.evidence.numpy(),
                "flagged": diagnostics.is_outlier.numpy(),
            },
            index=rows.index,
        )

    def _predict(self, transformed_X: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        with contract.quiet():
            return super()._predict(transformed_X)

    def _preprocess_experiments(self, experiments: pd.DataFrame) -> pd.DataFrame:
        """Return the experiments with a valid value; one that is not finite counts as missing."""
        (key,) = self.outputs.get_keys()
        return super()._preprocess_experiments(experiments[~np.isinf(experiments[key].astype(float))])

    def _fit_botorch(
        self,
        tX: Tensor,
        tY: Tensor,
        input_transform: InputTransform | None = None,
        outcome_transform: OutcomeTransform | None = None,
        **kwargs: Any,
    ) -> None:
        if not len(tY):
            raise ValueError(f"experiments must have a valid value of {self.outputs.get_keys()[0]!r}, got none")
        own = {} if outcome_transform is not None else {"outcome_transform": None}  # BoFire's own is not robust
        self.model = _fit_model(self._new_model, tX, tY, input_transform, own)

    def _new_model(self, tX: Tensor, tY: Tensor, input_transform: InputTransform | None, own: dict[str, Any]) -> Any:
        covariance = {} if self.kernel is None else {"covar_module": self._kernel_of(tX, input_transform)}
        options = {**own, **covariance, **self.surrogate_options}
        own_inputs = deepcopy(input_transform)  # BoFire hands the same to the next fit, which learns in it
        return model_class(self.surrogate)(tX, tY, input_transform=own_inputs, **options)

    def _kernel_of(self, tX: Tensor, input_transform: InputTransform | None) -> Any:
        d = (tX if input_transform is None else input_transform(tX)).shape[-1]
        indices = self.get_feature_indices
        return kernels.map(self.kernel, torch.Size(), list(range(d)), features_to_idx_mapper=indices).to(tX)


@pin_surroundings
def _fit_model(make: Any, *arguments: Any) -> SingleTaskGP:
    with isolation(FITS), contract.quiet():
        try:
            model = make(*arguments)
        except InputDataError as error:
            raise FitError(f"the surrogate cannot fit these values; remove the most extreme ones: {error}") from error
        return contract.fit(model)


@pin_surroundings
def _diagnose(model: SingleTaskGP) -> contract.Diagnostics:
    with isolation(FITS), contract.quiet():
        return contract.diagnose(model)
