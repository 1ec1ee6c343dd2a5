"""The search for the next point with several outcomes: as that with one, but for what is maximized."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from botorch.acquisition import AcquisitionFunction
from torch import Tensor

from robustbo.lazy import cached_property
from robustbo.loop.acquisition.log_nehvi import build_multi_outcome
from robustbo.loop.belief.front import reference_of
from robustbo.loop.belief.measured_points import Candidates, candidates
from robustbo.loop.belief.outcome_models import Learned, Several, rows_told, unknown_rows
from robustbo.loop.candidates.search import Search
from robustbo.loop.feasibility.model import FeasibilityModel
from robustbo.loop.observations.table import Data
from robustbo.numerics.improvement.goals import Goal
from robustbo.trials.settings import Settings


@dataclass(frozen=True)
class SearchSeveral(Search):
    """A search for the next point with several outcomes; see `Search`, whose surrogate is that of the first.

    Attributes:
        among: The points measured whose values are believed, and what has been learned of each outcome.
        reference: The reference point, ``K`` coordinates in the user's units, turned so that larger is better.
    """

    among: Candidates
    reference: Tensor

    @property
    def several(self) -> Several:
        """What has been learned of each outcome."""
        return self.among.several

    @cached_property
    def goals(self) -> tuple[Goal, ...]:
        """What is wanted of each outcome, in its model's units."""
        reference = iter(self.reference.tolist())
        return tuple(_goal(each, next(reference) if each.wanted.is_objective else None) for each in self.several)

    @property
    def is_ours(self) -> bool:
        """Whether all surrogates are of this library."""
        return all(each.fitted.is_ours for each in self.several)

    @cached_property
    def measured(self) -> Tensor:
        """``n x d`` unit-cube rows of the points measured, of any outcome."""
        return torch.tensor(rows_told(self.several), dtype=torch.float64)

    def _build(self, X_pending: Tensor | None, X_best: Tensor | None) -> AcquisitionFunction:
        models, X = [each.fitted.model for each in self.several], self.fitted.encoded(self.measured)
        return build_multi_outcome(self.name, models, self.goals, X, X_pending, self._samples, X_best)

    def _means(self, X: Tensor) -> Tensor:
        """How good posterior means at ``m x d`` inputs are: less by points that beat them, and by bounds broken."""
        said = [self._said(each, X) for each in self.several]
        broken = sum((goal.violation(mean) for goal, mean in zip(self.goals, said, strict=True)), X.new_zeros(len(X)))
        Y = torch.stack([mean for goal, mean in zip(self.goals, said, strict=True) if goal.is_objective], -1)
        if Y.shape[-1] == 1:
            order = Y.squeeze(-1).argsort().argsort().to(X.dtype)  # ranks, which any bound outweighs
        else:
            order = -(Y.unsqueeze(0) > Y.unsqueeze(1)).all(-1).sum(-1).to(X.dtype)
        return torch.where(broken > 0, -len(X) * (1 + broken), order)

    def _said(self, of: Learned, X: Tensor) -> Tensor:
        return of.fitted.model.posterior(X).mean.squeeze(-1)


def search(
    settings: Settings, data: Data, several: Several, viability: FeasibilityModel | None, seed: Callable[[str], int]
) -> SearchSeveral:
    """The search for a new point.

    Args:
        settings: What the run was told at its beginning.
        data: All trials; the values of those that are pending or quarantined are unknown to a model.
        several: What has been learned of each outcome.
        viability: Where trials give a value; None where none has failed.
        seed: Of each purpose.
    """
    among, first, unknown = candidates(data, several), several[0].fitted, unknown_rows(data, several)
    reference, root = reference_of(settings, among), seed("acquisition")
    return SearchSeveral(settings.acquisition, first, viability, unknown, data.region, root, among, reference)


def _goal(of: Learned, reference: float | None) -> Goal:
    """One outcome's, of a reference that is turned so that larger is better."""
    fitted, sign = of.fitted, of.wanted.sign
    low, high = sorted(sign * (bound / fitted.scale - fitted.center / fitted.scale) for bound in of.wanted.bounds)
    turned = None if reference is None else reference / fitted.scale - sign * fitted.center / fitted.scale
    return Goal(of.wanted.is_objective, low, high, turned)
