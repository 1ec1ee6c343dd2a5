"""Where trials give a value: the model of failures, fitted to how all trials ended, as a function of the history alone.

A crash is information: it multiplies what a point promises by the probability that anything is measured there. A flake
is none: a rate of failures that have nothing to do with their points is learned along with it.

What the user has said counts: a failure that was a flake (``retry=True``) says nothing of its point, and one that was
none (``retry=False``) is no flake to the model either.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from botorch.acquisition import AcquisitionFunction
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor
from torch.autograd.function import once_differentiable

from robustbo import seeds
from robustbo.loop.cache import FitCache
from robustbo.loop.observations import Data, Row
from robustbo.numerics.failures.likelihood import Outcomes
from robustbo.numerics.failures.map_fit import Model, search
from robustbo.numerics.failures.predictive import Predictor, predictor
from robustbo.numerics.gp.covariance import stationary
from robustbo.searchspace.encoding import encode, one_hot_inputs
from robustbo.searchspace.space import Space
from robustbo.surrogates.common.priors import length_scale_prior

KERNEL = "matern52"


@dataclass(frozen=True)
class Viability:
    """A fitted model of where trials give a value.

    Attributes:
        space: The search space.
        numbers: The trials that it was fitted to.
        predictor: What it says.
    """

    space: Space
    numbers: tuple[int, ...]
    predictor: Predictor

    def log_p(self, rows: Sequence[Row]) -> Tensor:
        """``m`` log probabilities that a trial at a unit-cube row gives a value."""
        return self.predictor.log_viable(inputs(self.space, rows))[0]

    @cached_property
    def log_odds(self) -> dict[int, float]:
        """Of each trial, if it has failed: how much likelier it was a flake than its point's doing, in nats."""
        return dict(zip(self.numbers, self.predictor.log_odds.tolist(), strict=True))


def inputs(space: Space, rows: Sequence[Row]) -> Tensor:
    """``m x d`` inputs of the model."""
    X, one_hot = encode(space, [list(row) for row in rows]), one_hot_inputs(space)
    return X if one_hot is None else one_hot.transform(X)


def viability(data: Data, seed: int, fits: FitCache) -> Viability | None:
    """The model fitted to how trials ended; None where none has failed but by flakes that the user knows to be some."""
    failed = {trial.number: trial.retry is False for trial in data.failed if trial.retry is not True}
    if not failed:
        return None
    ok = [trial.number for trial in (*data.told, *data.excluded)]
    numbers = tuple(sorted([*ok, *failed]))
    is_ok, is_sure = ([number in some for number in numbers] for some in (ok, [n for n in failed if failed[n]]))
    rows = tuple(data.rows_of(numbers))

    def fit() -> Viability:
        return Viability(data.space, numbers, fitted(inputs(data.space, rows), is_ok, is_sure, seed))

    return fits.get(("viability", data.space, numbers, rows, tuple(is_ok), tuple(is_sure), seed), fit)


def fitted(X: Tensor, is_ok: Sequence[bool], is_sure: Sequence[bool], seed: int) -> Predictor:
    """The model fitted to how trials ended.

    Args:
        X: ``n x d`` inputs.
        is_ok: Whether each of ``n`` trials ended with a value.
        is_sure: Whether it failed by its point, by the user's word.
        seed: Of the samples.
    """
    outcomes = Outcomes(np.array(is_ok), np.array(is_sure))
    model = Model(outcomes, stationary(X, KERNEL, length_scale_prior(X.shape[-1]), None))
    return predictor(model, KERNEL, X, search(model).value, seeds.generator(seed, len(X), "failures"))


class LogViable(AcquisitionFunction):
    """The logarithm of an acquisition function times the probability that a value is obtained, of one point.

    Args:
        function: Gives logarithms.
        viability: Where trials give a value.
    """

    def __init__(self, function: AcquisitionFunction, viability: Viability) -> None:
        super().__init__(function.model)
        self._function, self._predictor = function, viability.predictor
        self._one_hot = one_hot_inputs(viability.space)
        for name in ("X_baseline", "X_pending"):  # near which a search looks
            if hasattr(function, name):
                setattr(self, name, getattr(function, name))

    @t_batch_mode_transform(expected_q=1)
    def forward(self, X: Tensor) -> Tensor:
        """The logarithm at ``b x 1 x d`` points."""
        Z = X if self._one_hot is None else self._one_hot.transform(X)
        return self._function(X) + _LogP.apply(Z.squeeze(-2), self._predictor)


class _LogP(torch.autograd.Function):
    """`Predictor.log_viable` with its explicit gradient."""

    @staticmethod
    def forward(ctx: Any, Z: Tensor, predictor: Predictor) -> Tensor:
        value, gradient = predictor.log_viable(Z)
        ctx.save_for_backward(gradient)
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_value: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return by_value.unsqueeze(-1) * gradient, None
