"""The probability that each value is wrong, of the target and of all sources together."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.belief.densities import MULTIPLES
from robustbo.numerics.belief.predictions import Predictions
from robustbo.numerics.belief.probability import Belief, WeightedFit, sample_belief
from robustbo.numerics.transfer.configuration import GroupFit
from robustbo.surrogates.pursuit.belief import PursuitBelief

LEAST = 0.1  # probability of a configuration whose draws are made


class TransferBelief(PursuitBelief):
    """A GP with values of other sources, which says of each value how probable it is that it is wrong."""

    _averaging: Any
    _auxiliary_wrong: Tensor | None = None

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
                q_of_all = self._certain(count)
                q_of_all[configuration.fit.numbers] = belief.q * self._odd(configuration.fit.model.y)[1]
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
        log_density, _ = self._odd(model.y)
        rate = self.options.rate(len(model.y))
        return sample_belief(model, [WeightedFit(1.0, at, lambda: fit.cache)], log_density, rate=rate, effort=effort)

    def _certain(self, count: int) -> Tensor:
        """``count`` probabilities of being wrong, of sources by themselves."""
        q = torch.zeros(count, dtype=torch.float64)
        for alone in self._averaging.alone[1:]:
            q[sorted(alone.wrong)] = 1.0
        return q

    @property
    def auxiliary_wrong(self) -> Tensor:
        """``m`` probabilities that a value of another source is wrong."""
        self.belief()
        assert self._auxiliary_wrong is not None
        return self._auxiliary_wrong
