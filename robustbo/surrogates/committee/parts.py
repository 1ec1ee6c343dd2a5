"""Parts of files as shards: their rows, and the scaling of these."""

from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.committee import partition
from robustbo.numerics.committee.partition import Shards
from robustbo.surrogates.committee.files import MemoryMap
from robustbo.surrogates.transforms.robust_standardize import LARGEST, RobustStandardize

EDGE = 0.005  # share of a sample's inputs, on each side, that may be wild
FAR = 100.0  # ranges


class SampleScaling(NamedTuple):
    """An affine map from units to the model's: inputs by range, outcomes by median and interquartile range of a sample.

    Attributes:
        low: ``d`` least inputs, except for `EDGE` of them.
        spread: ``d`` ranges of all but these on both sides, 1 where there is none.
        center: Median of the outcomes.
        scale: Their robust standard deviation.
    """

    low: Tensor
    spread: Tensor
    center: Tensor
    scale: Tensor

    @classmethod
    def of(cls, X: Tensor, y: Tensor) -> "SampleScaling":
        """Return the scaling of a sample."""
        transform = RobustStandardize(m=1)
        transform.learn(y.unsqueeze(-1))
        low, high = X.quantile(X.new_tensor([EDGE, 1 - EDGE]), dim=0)
        spread = high - low
        return cls(low, torch.where(spread > 0, spread, 1.0), transform.means.squeeze(), transform.stdvs.squeeze())

    def inputs(self, X: Tensor) -> Tensor:
        """``n x d`` inputs as the model has them; those beyond `FAR` ranges count as there."""
        return ((X - self.low) / self.spread).clamp(-FAR, FAR)

    def to(self, X: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return inputs and outcomes as the model has them."""
        return self.inputs(X), ((y - self.center) / self.scale).clamp(-LARGEST, LARGEST)


class Part(NamedTuple):
    """Some blocks of the files, as shards.

    Attributes:
        of: The files.
        n: How many rows they have.
        blocks: Which blocks of consecutive rows.
        expert_size: Observations an expert, about.
        scaling: Of inputs and outcomes.
    """

    of: MemoryMap
    n: int
    blocks: Tensor
    expert_size: int
    scaling: SampleScaling

    @property
    def rows(self) -> list[Tensor]:
        """Row numbers, by expert."""
        return partition.rows_of(self.blocks, self.n, self.expert_size)

    def read(self) -> Shards:
        """The shards; raises what the files' own `read` does."""
        parts = self.rows
        X, y = self.scaling.to(*self.of.read(torch.cat(parts)))
        return partition.shard(X, y, list(torch.arange(len(y)).split([len(rows) for rows in parts])))
