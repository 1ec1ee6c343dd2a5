"""The probability that each value is wrong, of the target and of all sources together, and draws to predict by."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.belief.densities import MULTIPLES
from robustbo.numerics.belief.predictions import Predictions
from robustbo.numerics.belief.probability import FEW, Belief, WeightedFit, sample_belief
from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.transfer.configuration import GroupFit
from robustbo.surrogates.common.rewarped_process import PredictingProcess
from robustbo.surrogates.pursuit.belief import PursuitBelief

LEAST = 0.1  # probability of a configuration whose draws are made
DRAWS = 16  # of the hyperparameters, at least, that predictions are averaged over


class MixturePart(NamedTuple):
    """A part of the mixture that predicts.

    Attributes:
        weight: How much it counts.
        fit: Of the target and the sources that are joined with it.
        process: The objective given all values, by that fit.
        s2: Noise variance of a new measurement of the target.
    """

    weight: float
    fit: GroupFit
    process: LatentProcess
    s2: float


class TransferBelief(PursuitBelief):
    """A GP with values of other sources, which says of each value how probable it is that it is wrong."""

    auxiliary: Any
    _averaging: Any
    _auxiliary_wrong: Tensor | None = None
    _mixture: tuple[Any, Sequence[MixturePart]] | None = None

    @property
    def may_be_flat(self) -> bool:
        """See `BesidePlateauGP.may_be_flat`; beside values of other sources there is no plateau."""
        return self.auxiliary is None and super().may_be_flat

    def _sample(self, effort: int = 1) -> Belief:
        if self._averaging is None:
            return super()._sample(effort)
        self.eval()
        pairs = list(zip(self._averaging.weights, self._averaging.configurations, strict=True))
        likely = [pair for pair in pairs if pair[0] >= min(LEAST, pairs[0][0])]
        total, n, count = math.fsum(w for w, _ in likely), len(self.train_targets), self._averaging.num_rows
        parts, q = list[Predictions](), torch.zeros(count, dtype=torch.float64)
        shares = torch.zeros(len(MULTIPLES), dtype=torch.float64)
        with torch.no_grad():
            for weight, configuration in likely:
                belief, share = self._sample_group(configuration.fit, effort), weight / total
                q_of_all, y = self._certain(count), configuration.fit.model.y
                q_of_all[configuration.fit.numbers] = belief.q * self._odd(y, y)[1]
                q += share * q_of_all
                shares += share * belief.shares
                own = belief.predictions.without(np.arange(n, len(belief.q)))
                parts.append(own.with_count(math.log(share)))
        self._auxiliary_wrong = q[n:]
        odd_share = self._share_wrong()
        return Belief(q[:n] / odd_share, shares, Predictions.concatenate(parts))

    def _sample_group(self, fit: GroupFit, effort: int) -> Belief:
        """The belief in the values of a configuration's fit, at its noise."""
        model, theta = fit.without_noise
        at = fit.level.fit._replace(theta=theta)
        log_density, _ = self._odd(model.y, model.y)
        rate = self.options.rate(len(model.y))
        return sample_belief(model, [WeightedFit(1.0, at, lambda: fit.cache)], log_density, rate=rate, effort=effort)

    def _certain(self, count: int) -> Tensor:
        """``count`` probabilities of being wrong, of sources by themselves."""
        q = torch.zeros(count, dtype=torch.float64)
        for alone in self._averaging.alone[1:]:
            q[sorted(alone.wrong)] = 1.0
        return q

    def predictors(self) -> Sequence[tuple[float, PredictingProcess]]:
        """Weights and processes that predictions are averaged over: of few values, draws of the hyperparameters.

        References:
            docs/equations.md (22.17), (22.18).
        """
        return [(part.weight, part.process) for part in self._parts()] or super().predictors()

    def _noises(self) -> list[float]:
        """Noise variances by each of the processes: those of the fits, which the tails of the noise belong to."""
        return [part.s2 for part in self._parts()] or super()._noises()

    def _parts(self) -> Sequence[MixturePart]:
        """Parts by draws of the hyperparameters; none of many values.

        Where all sources are unrelated, the target's values are too few for the approximation: the fit predicts.
        """
        if self._averaging is None or self._is_by_fits or not self.components or self._averaging.num_rows > FEW:
            return ()
        if self._mixture is None or self._mixture[0] is not self._components:
            with torch.no_grad():
                self._mixture = self._components, self._draw_parts()
        return self._mixture[1]

    def _draw_parts(self) -> Sequence[MixturePart]:
        usual, parts = float(self.likelihood.new_noise), list[MixturePart]()
        for component, configuration in zip(self._components, self._averaging.configurations, strict=True):
            s2, fit = usual if math.isnan(component.s2) else component.s2, configuration.fit
            count = 2 * math.ceil(DRAWS / 2 * component.weight)
            fits = fit.draws(count) if fit.joint.sources else [(1.0, fit)]
            parts += [MixturePart(component.weight * share, of, self._objective_by(of), s2) for share, of in fits]
        return parts

    def _objective_by(self, fit: GroupFit) -> LatentProcess:
        """The objective given all values, by a fit."""
        raise NotImplementedError

    @property
    def auxiliary_wrong(self) -> Tensor:
        """``m`` probabilities that a value of another source is wrong."""
        self.belief()
        assert self._auxiliary_wrong is not None
        return self._auxiliary_wrong
