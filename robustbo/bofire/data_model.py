"""The data model of our surrogates, which BoFire users write down and JSON keeps."""

from typing import Any, Literal

from bofire.data_models.features.api import ContinuousOutput, TaskInput
from bofire.data_models.kernels.api import AnyKernel
from bofire.data_models.surrogates.api import ScalerEnum, TrainableBotorchSurrogate
from botorch.models import SingleTaskGP
from pydantic import Field, field_validator, model_validator

from robustbo.surrogates.registry import SURROGATES, check_options
from robustbo.validation import one_of

EXACT = tuple(name for name, cls in SURROGATES.items() if issubclass(cls, SingleTaskGP))
SCALERS = ScalerEnum.STANDARDIZE, ScalerEnum.IDENTITY


class RobustSurrogate(TrainableBotorchSurrogate):
    """A surrogate of one outcome that finds wrong values among the experiments, and predicts without them.

    Use it as any BoTorch surrogate of BoFire: in `BotorchSurrogates` of a strategy, one for each output, or alone by
    `bofire.surrogates.api.map`, which gives it a method ``predict_outliers(experiments)``.

    Attributes:
        surrogate: Which of our methods, by its name in the registry (`EXACT` has those that BoFire can use).
        surrogate_options: The method's own options, for relevance pursuit those of
            `robustbo.surrogates.pursuit.model.RelevancePursuitGP`.
        kernel: A BoFire kernel instead of our Matern-5/2; slower, and without averaged predictions.
        scaler: Of the inputs, as in BoFire.
        output_scaler: ``STANDARDIZE``, which is robust here (median and quartiles, then what the method does to
            outcomes); or ``IDENTITY`` for outcomes that are standardized already.

    Raises:
        ValidationError: A ValueError of pydantic's, if there is more than one output, or one that is not continuous; if
            an input is a task; if there is no such method or option; or if the outcomes are to be scaled otherwise.

    Example:
        >>> from bofire.data_models.domain.api import Inputs, Outputs
        >>> from bofire.data_models.features.api import ContinuousInput
        >>> inputs = Inputs(features=[ContinuousInput(key="x", bounds=(0, 1))])
        >>> outputs = Outputs(features=[ContinuousOutput(key="y")])
        >>> RobustSurrogate(inputs=inputs, outputs=outputs, surrogate_options={"outlier_rate": 0.05}).surrogate
        'relevance-pursuit'
    """

    type: Literal["RobustSurrogate"] = "RobustSurrogate"
    surrogate: str = "relevance-pursuit"
    surrogate_options: dict[str, Any] = Field(default_factory=dict)
    kernel: AnyKernel | None = None

    @classmethod
    def is_output_implemented(cls, my_type: Any) -> bool:
        """Return whether a type of outputs can be modelled: only continuous ones can."""
        return issubclass(my_type, ContinuousOutput)

    @field_validator("surrogate")
    @classmethod
    def validate_surrogate(cls, name: str) -> str:
        """Check that the surrogate is an exact model of one outcome."""
        return one_of("surrogate", name, EXACT)

    @field_validator("output_scaler")
    @classmethod
    def validate_output_scaler(cls, scaler: ScalerEnum) -> ScalerEnum:
        """Refuse a logarithm, which a wrong value below zero does not have."""
        if scaler not in SCALERS:
            raise ValueError(
                f"output_scaler must be one of {[allowed.value for allowed in SCALERS]}, got {scaler.value!r}; "
                "wrong values may have no logarithm, so take the logarithm yourself, or leave it out: a warp "
                "already handles skewed outcomes"
            )
        return scaler

    @model_validator(mode="after")
    def validate_one_output(self) -> "RobustSurrogate":
        """Check that there is one output."""
        if len(self.outputs) != 1:
            keys = self.outputs.get_keys()
            raise ValueError(f"outputs must have one entry, got {keys}; use one RobustSurrogate for each output")
        return self

    @model_validator(mode="after")
    def validate_no_task(self) -> "RobustSurrogate":
        """Refuse a task: as one more parameter its experiments would count without being asked what they say."""
        if tasks := self.inputs.get_keys(TaskInput):
            raise ValueError(
                f"inputs must have no task, got {tasks}; leave out the experiments of other tasks, take BoFire's "
                "MultiTaskGPSurrogate, or tell them to robustbo.Optimizer as sources"
            )
        return self

    @model_validator(mode="after")
    def validate_surrogate_options(self) -> "RobustSurrogate":
        """Check that the method has these options, and can take them."""
        if self.kernel is not None and "kernel" in self.surrogate_options:
            raise ValueError("kernel must be given once: as BoFire's kernel, or by its name in surrogate_options")
        try:
            check_options(self.surrogate, self.surrogate_options)
        except TypeError as error:
            raise ValueError(str(error)) from error  # pydantic makes an error of its own of these alone
        return self
