"""An acquisition function where trials may fail: times the probability of a value."""

from contextlib import AbstractContextManager, nullcontext

from botorch.acquisition import AcquisitionFunction
from botorch.models.transforms.input import InputTransform
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor

from robustbo.loop.acquisition.log_nei import ClosedForm, ExplicitGradient, transform_with_pullback
from robustbo.numerics.failures.predictive import Predictor

CAUTION = 3.0  # power of the probability of a value: a failure costs its trial, and nothing is learned of the values


class FeasibilityWeighted(AcquisitionFunction):
    """The logarithm of an acquisition function times a power of the probability of a value, of one point.

    Args:
        function: Gives logarithms.
        predictor: Where trials give a value.
        transform: From the points to the predictor's inputs; none by default.
    """

    def __init__(
        self, function: AcquisitionFunction, predictor: Predictor, transform: InputTransform | None = None
    ) -> None:
        super().__init__(function.model)
        self._function, self._predictor, self._transform = function, predictor, transform
        for name in ("X_baseline", "X_pending"):  # near which a search looks
            if hasattr(function, name):
                setattr(self, name, getattr(function, name))

    @t_batch_mode_transform(expected_q=1)
    def forward(self, X: Tensor) -> Tensor:
        """The logarithm at ``b x 1 x d`` points."""
        Z = X if self._transform is None else self._transform.transform(X)
        return self._function(X) + log_weight(Z.squeeze(-2), self._predictor)

    def value_and_gradient(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """The logarithm at ``b x d`` points, and the gradient there, of a function that has such a method too."""
        value, slope = self._function.value_and_gradient(X)
        Z, pull = transform_with_pullback(self._transform and self._transform.transform, X)
        more, steeper = self._predictor.log_viable(Z)
        return value + CAUTION * more, slope + CAUTION * pull(steeper)  # eq. 15.11


def log_weight(Z: Tensor, predictor: Predictor) -> Tensor:
    """``q`` logarithms of what to multiply promises by at ``q x d`` inputs of a predictor; can be differentiated."""
    return CAUTION * ExplicitGradient.apply(Z, lambda at, _: predictor.log_viable(at))  # eq. 15.11


def inner_closed_form(function: AcquisitionFunction) -> ClosedForm | None:
    """The formula that a function is, by itself or as a `FeasibilityWeighted`; None if it is neither."""
    inner = function._function if isinstance(function, FeasibilityWeighted) else function
    return inner if isinstance(inner, ClosedForm) else None


def with_fewer_samples(function: AcquisitionFunction) -> AbstractContextManager[None]:
    """Run the block with an eighth of the samples of the `ClosedForm` inside; others stay as they are."""
    inner = inner_closed_form(function)
    return nullcontext() if inner is None else inner.fewer_samples()
