"""Values of other sources beside those that a surrogate is fitted to, and what is believed of the sources."""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from robustbo.numerics.transfer.relations import Relation


class AuxiliaryValues(NamedTuple):
    """Values of other sources, in a model's inputs and outcome units.

    Attributes:
        X: ``m x d`` inputs, as `train_X`.
        Y: ``m`` values.
        source: ``m`` integers: 0, 1, ... of each source.
        sds: ``m`` standard deviations of their noise; NaN where they are not known.
        vouched: ``m`` booleans: values that are right by the user's word.
        trusted: For each source whether it is the target but for its noise.
    """

    X: Tensor
    Y: Tensor
    source: Tensor
    sds: Tensor
    vouched: Tensor
    trusted: tuple[bool, ...]


@dataclass(frozen=True)
class SourceRelation:
    """The relation of a source to the objective, in outcome units: y = scale f + offset + bias(x) + noise.

    Attributes:
        relation: The likeliest: "same", "offset", "scaled", "biased" or "unrelated".
        probabilities: Of each relation that it may have.
        evidence: Nats that speak for its saying something of the objective.
        offset: How much higher it reads than ``scale`` times the objective, on average; NaN where it is unrelated.
        offset_sd: Standard deviation of that.
        scale: The factor; 1 where it is not free.
        scale_sd: Standard deviation of that.
        bias: Standard deviation of its bias, which is a function of the inputs; 0 where it has none.
        bias_sd: Standard deviation of that.
        wrong: The rows of the auxiliary values, of this source, that are wrong by themselves.
    """

    relation: Relation
    probabilities: dict[Relation, float]
    evidence: float
    offset: float
    offset_sd: float
    scale: float
    scale_sd: float
    bias: float
    bias_sd: float
    wrong: tuple[int, ...]

    def in_units(self, slope: float, center: float) -> "SourceRelation":
        """The relation in other units, of which the present ones are (y - center) / slope."""
        offset = slope * self.offset + center * (1 - self.scale)
        sds = abs(slope) * self.offset_sd, abs(slope) * self.bias, abs(slope) * self.bias_sd
        return SourceRelation(
            self.relation,
            self.probabilities,
            self.evidence,
            offset,
            sds[0],
            self.scale,
            self.scale_sd,
            *sds[1:],
            self.wrong,
        )
