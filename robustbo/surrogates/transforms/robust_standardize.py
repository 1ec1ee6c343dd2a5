"""Standardization of outcomes that a few wild values cannot move: median and interquartile range."""

import math

import torch
from botorch.models.transforms.outcome import Standardize
from torch import Tensor

from robustbo.surrogates.transforms.places import FEWEST, places_apart

NORMAL_IQR = 1.3489795  # interquartile range of the standard normal distribution
NORMAL_MAD = 0.67448975  # its median absolute deviation
BROKEN = 20.0  # more than a quarter of the values lie far out; two clusters of good ones do not differ by as much
CLUSTERED = 10.0  # times as large as the scale by values is that by places, where most values lie at one place
MIN_SCALE, ROUNDING = 1e-300, 1e-15  # a smaller scale is none; nor is one that is as small a part of the values
LARGEST = 1e100  # of a standardized value; squares of these still fit into float64


class RobustStandardize(Standardize):
    """`Standardize` with the median in place of the mean, and the interquartile range / 1.349 in place of the sd.

    Where more than half of the values are equal the range may be zero; the mean absolute deviation from the median
    takes its place then, and 1 where all values are equal. Where most values lie at one place of the unit cube, as they
    do once an optimization has converged, their range is that of neighbors: the scale is then the median absolute
    deviation of one value a place.

    Example:
        >>> Y = torch.tensor([[0.0], [1.0], [2.0], [3.0], [1e9]], dtype=torch.float64)
        >>> RobustStandardize(m=1)(Y)[0].squeeze(-1)[:4].abs().max() < 2
        tensor(True)
    """

    def forward(self, Y: Tensor, Yvar: Tensor | None = None, X: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Standardize outcomes; in training mode, learn center and scale from them first.

        Args:
            Y: ``batch x n x m`` outcomes.
            Yvar: ``batch x n x m`` noise variances.
            X: ``n x d`` points of the unit cube.
        """
        if self.training:
            self.learn(Y, X)
        Y_tf = ((Y - self.means) / self.stdvs).clamp(-LARGEST, LARGEST)
        return Y_tf, None if Yvar is None else Yvar / self.stdvs.square()

    def learn(self, Y: Tensor, X: Tensor | None = None) -> None:
        """Take center and scale from ``batch x n x m`` outcomes, and without batches from where they lie.

        Args:
            Y: The outcomes.
            X: ``n x d`` points of the unit cube.
        """
        center = quantile(Y, 0.5)
        scale, mean_distance = self.spread(Y, center), (Y - center).abs().mean(dim=-2, keepdim=True)
        if X is not None and Y.dim() == X.dim() == 2:
            scale = self._by_places(Y, center, scale, X)
        least = (ROUNDING * center.abs()).clamp_min(MIN_SCALE)
        scale = torch.where(scale > least, scale, mean_distance)
        self.take(center, torch.where(scale > least, scale, torch.ones_like(scale)))

    def _by_places(self, Y: Tensor, center: Tensor, scale: Tensor, X: Tensor) -> Tensor:
        """The scale by places, if it is far larger; of more places than twice the distant values it cannot be."""
        is_distant = (Y - center).abs() > 0.5 * CLUSTERED * NORMAL_MAD * scale
        most = 2 * int(is_distant.sum(-2).max()) + 1
        if most < FEWEST or not (places := places_apart(X, most)):
            return scale
        at_places = Y[places]
        by_places = deviation(at_places, quantile(at_places, 0.5))
        return torch.where(by_places > CLUSTERED * scale, by_places, scale)

    def take(self, means: Tensor, stdvs: Tensor) -> None:
        """Take center and scale as they are given."""
        self.means, self.stdvs = means, stdvs
        self._stdvs_sq = self.stdvs.square()
        self._is_trained = torch.tensor(True)

    def spread(self, Y: Tensor, center: Tensor) -> Tensor:
        """The scale of ``batch x n x m`` outcomes about their center, if it is not zero.

        That is by the interquartile range, which a quarter of gross values breaks; where it is `BROKEN` times the one
        by the median absolute deviation, which breaks at half, it is the latter.
        """
        by_range, by_deviation = (quantile(Y, 0.75) - quantile(Y, 0.25)) / NORMAL_IQR, deviation(Y, center)
        is_broken = (by_range > BROKEN * by_deviation) & (by_deviation > MIN_SCALE)
        return torch.where(is_broken, by_deviation, by_range)


def deviation(Y: Tensor, center: Tensor) -> Tensor:
    """The median absolute deviation of ``batch x n x m`` outcomes, as large as a normal sample's standard deviation."""
    return quantile((Y - center).abs(), 0.5) / NORMAL_MAD


def quantile(Y: Tensor, q: float) -> Tensor:
    """``batch x 1 x m`` quantiles of finite ``batch x n x m`` outcomes, in a third of the time of `torch.quantile`."""
    place, ordered = q * (Y.shape[-2] - 1), Y.sort(dim=-2).values
    below, above = (ordered[..., i, :].unsqueeze(-2) for i in (math.floor(place), math.ceil(place)))
    return torch.lerp(below, above, place - math.floor(place))


def are_equal(Y: Tensor) -> bool:
    """Return whether ``n x 1`` outcomes are all the same, except for rounding."""
    return bool(Y.max() - Y.min() <= ROUNDING * Y.abs().max())
