"""Belief in values that others at their point agree with: a pursuit follows them where that explains the values."""

import torch
from torch import Tensor

from robustbo.numerics.gp.model import Model, new_noise
from robustbo.numerics.gp.replicates import are_distinct
from robustbo.numerics.improvement.needles import judge_points
from robustbo.numerics.pursuit.growth import Pursuit
from robustbo.numerics.pursuit.support_fit import Level
from robustbo.numerics.pursuit.walk import score
from robustbo.surrogates.common.diagnostics import Diagnostics
from robustbo.surrogates.common.map_gp import ALL
from robustbo.surrogates.pursuit.beginnings import clear
from robustbo.surrogates.pursuit.belief import PursuitBelief

EVEN = 0.5  # probability of being wrong from which on a value is an outlier


class PursuitOfReplicates(PursuitBelief):
    """A pursuit whose fit follows values that agree at their point, unless it is better without."""

    _before: tuple[Pursuit, Tensor] | None = None
    _pursued: Pursuit | None = None
    _is_followed: tuple[Tensor, Tensor] | None = None  # inputs, and which of these agree with most at their point

    @property
    def _pursuit(self) -> Pursuit:
        assert self._pursued is not None
        return self._pursued

    def _pursue(self, model: Model) -> Level:
        """Pursue the support from where the last pursuit ended; to be written by the subclass."""
        raise NotImplementedError

    def _take(self, pursued: Pursuit) -> None:
        """Take a pursuit for the last one; to be written by the subclass."""
        raise NotImplementedError

    def _follow_replicates(self, level: Level) -> Level:
        """Let the fit follow values that agree with their replicates, where that is no worse than to leave them out.

        What agrees is right by itself (`numerics.gp.replicates`); but errors of one kind agree, too, and at a needle
        the objective is none that a fit could follow. These stay out, and are judged by themselves.
        """
        X, model = self.train_inputs[0], self.search_model()
        if are_distinct(X):
            return level
        if model.s2_known is None:
            self._noise_of_replicates = new_noise(model, level.fit.theta).item()
        agrees, (_, place) = super().agrees(ALL), X.unique(dim=0, return_inverse=True)
        points = place[agrees & (level.fit.rho > 0)].unique()
        is_followed = agrees & ~torch.isin(place, points)
        self._is_followed = X, is_followed
        for together in [points, *points.split(1)] if len(points) > 1 else [points]:
            group = agrees & torch.isin(place, together)
            if is_followed[group].all():
                continue
            left_out = self._pursuit
            self._is_followed = X, is_followed | group
            model = self.search_model()
            self._before = clear(left_out, model), torch.arange(len(X))
            followed, penalty = self._pursue(model), self.options.penalty(model)
            if score(followed, penalty) >= score(level, penalty):
                level, is_followed = followed, is_followed | group
            else:
                self._is_followed = X, is_followed
                self._take(left_out)
        return level

    def probability_right(self, effort: int = 1) -> Tensor:
        """``n`` probabilities that an observation is right; see `PursuitBelief.probability_right`.

        Where values agree with each other, and the fit leaves them out, all at their point are judged together.
        """
        right = super().probability_right(effort)
        for group, wrong in self._judge_left_out():
            right[group] = 1 - wrong
        return right

    def diagnose(self) -> Diagnostics:
        """See `PursuitBelief.diagnose`; values that are right by themselves are no outliers."""
        diagnosis = super().diagnose()
        is_outlier = diagnosis.is_outlier.clone()
        for group, wrong in self._judge_left_out():
            is_outlier[group] = wrong > EVEN
        return diagnosis._replace(is_outlier=is_outlier)

    def _judge_left_out(self) -> list[tuple[Tensor, Tensor]]:
        """The observations of each point at which values agree, and are not followed; how probably they are wrong.

        Of a point at which the user has vouched for a value, others are judged beside that, by the fit.
        """
        X, is_followed = self.train_inputs[0], self._mask_of_these()
        if is_followed is None or are_distinct(X):
            return []
        with torch.no_grad():
            _, place = X.unique(dim=0, return_inverse=True)
            is_judged = super().agrees(ALL) & ~is_followed
            if self.vouched is not None and len(self.vouched) == len(X):
                is_judged &= ~torch.isin(place, place[self.vouched])
            groups = [(place == point).nonzero().flatten() for point in place[is_judged].unique()]
            model, rate = self.search_model(), self.options.rate(len(X))
            return judge_points(model, self.map_estimate, groups, rate, self.noise_dof()) if groups else []

    def _mask_of_these(self) -> Tensor | None:
        """The mask of observations that agree with most at their point and are followed; None of other inputs."""
        if self._is_followed is None or not torch.equal(self._is_followed[0], self.train_inputs[0]):
            return None
        return self._is_followed[1]

    def agrees(self, rows: Tensor | slice) -> Tensor:
        """Return which observations agree with most at their point; of those of a search, which the fit follows."""
        is_followed = self._mask_of_these()
        return super().agrees(rows) if is_followed is None else is_followed[rows]
