"""The acquisition function that a search maximizes, and what it is of: one outcome, or several."""

from dataclasses import dataclass
from typing import Protocol

import torch
from botorch.acquisition import AcquisitionFunction
from torch import Tensor

from robustbo.lazy import cached_property
from robustbo.loop.acquisition.build import build_acquisition, has_closed_form
from robustbo.loop.acquisition.log_nehvi import build_multi_outcome
from robustbo.loop.acquisition.log_nei import Mixture
from robustbo.loop.belief.outcome_models import OutcomeModel, OutcomeModels, rows_with_values
from robustbo.loop.best.measured_points import MeasuredPoints
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.improvement.conditioned import means
from robustbo.numerics.improvement.goals import Goal


class Target(Protocol):
    """An acquisition function of fitted surrogates, before its incumbent and its pending points are said."""

    @property
    def fitted(self) -> FittedSurrogate:
        """The first surrogate, by which points are encoded."""

    @property
    def is_ours(self) -> bool:
        """Return whether all surrogates are of this library."""

    @property
    def rows(self) -> Tensor:
        """``n x d`` unit-cube rows of the points measured."""

    def build(self, name: str, X_pending: Tensor | None, seed: int, X_best: Tensor | None) -> AcquisitionFunction:
        """The acquisition function of a name; see `build_acquisition`."""

    def means(self, X: Tensor) -> Tensor:
        """Posterior means at ``m x d`` inputs, or numbers in the same order."""


@dataclass(frozen=True)
class SingleTarget:
    """The target of a single outcome: in closed form, where its surrogate has formulas.

    Attributes:
        fitted: The surrogate.
    """

    fitted: FittedSurrogate

    @property
    def is_ours(self) -> bool:
        """Return whether the surrogate is one of this library."""
        return self.fitted.is_ours

    @cached_property
    def rows(self) -> Tensor:
        """``n x d`` unit-cube rows of the points measured."""
        return torch.tensor(self.fitted.observations.X, dtype=torch.float64)

    def build(self, name: str, X_pending: Tensor | None, seed: int, X_best: Tensor | None) -> AcquisitionFunction:
        """The acquisition function of a name; see `build_acquisition`."""
        return build_acquisition(name, self.fitted.model, self.fitted.X, X_pending, seed, X_best, self._latents)

    def means(self, X: Tensor) -> Tensor:
        """Posterior means at ``m x d`` inputs, or numbers in the same order."""
        model = self.fitted.model
        if self._latents is None:
            return model.posterior(X).mean.squeeze(-1)
        weights, processes = zip(*self._latents, strict=True)
        return X.new_tensor(weights) @ means(processes, model.transform_inputs(X))

    @cached_property
    def _latents(self) -> Mixture | None:
        model = self.fitted.model
        return model.latents() if has_closed_form(model) else None


@dataclass(frozen=True)
class MultiTarget:
    """The target of several outcomes: objectives, and bounds to be kept.

    Attributes:
        points: The points measured whose values are believed, and the models of all outcomes.
        reference: The reference point, ``K`` coordinates in the user's units, turned so that larger is better.
    """

    points: MeasuredPoints
    reference: Tensor

    @property
    def models(self) -> OutcomeModels:
        """The model of each outcome."""
        return self.points.models

    @property
    def fitted(self) -> FittedSurrogate:
        """The surrogate of the first outcome, by which points are encoded."""
        return self.models[0].fitted

    @cached_property
    def goals(self) -> tuple[Goal, ...]:
        """The goal of each outcome, in its model's units."""
        reference = iter(self.reference.tolist())
        return tuple(_goal(model, next(reference) if model.outcome.is_objective else None) for model in self.models)

    @property
    def is_ours(self) -> bool:
        """Return whether all surrogates are of this library."""
        return all(model.fitted.is_ours for model in self.models)

    @cached_property
    def rows(self) -> Tensor:
        """``n x d`` unit-cube rows of the points measured, of any outcome."""
        return torch.tensor(rows_with_values(self.models), dtype=torch.float64)

    def build(self, name: str, X_pending: Tensor | None, seed: int, X_best: Tensor | None) -> AcquisitionFunction:
        """The acquisition function of a name; see `build_multi_outcome`."""
        models, X = [model.fitted.model for model in self.models], self.fitted.encoded(self.rows)
        return build_multi_outcome(name, models, self.goals, X, X_pending, seed, X_best)

    def means(self, X: Tensor) -> Tensor:
        """Ranks of the posterior means at ``m x d`` inputs: less by points that beat them, and by bounds broken."""
        means = [model.fitted.model.posterior(X).mean.squeeze(-1) for model in self.models]
        broken = sum((goal.violation(mean) for goal, mean in zip(self.goals, means, strict=True)), X.new_zeros(len(X)))
        Y = torch.stack([mean for goal, mean in zip(self.goals, means, strict=True) if goal.is_objective], -1)
        if Y.shape[-1] == 1:
            order = Y.squeeze(-1).argsort().argsort().to(X.dtype)  # ranks, which any bound outweighs
        else:
            order = -(Y.unsqueeze(0) > Y.unsqueeze(1)).all(-1).sum(-1).to(X.dtype)
        return torch.where(broken > 0, -len(X) * (1 + broken), order)


def _goal(model: OutcomeModel, reference: float | None) -> Goal:
    """The goal of one outcome, of a reference that is turned so that larger is better."""
    units = model.fitted.units
    low, high = sorted(map(units.to_model, model.outcome.bounds))
    return Goal(
        model.outcome.is_objective, low, high, None if reference is None else units.to_model(units.sign * reference)
    )
