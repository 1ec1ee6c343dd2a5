"""Values of other sources beside those that a surrogate is fitted to."""

from typing import NamedTuple

from torch import Tensor


class AuxiliaryValues(NamedTuple):
    """Values of other sources, in a model's inputs and outcome units.

    Attributes:
        X: ``m x d`` inputs, as `train_X`.
        Y: ``m`` values.
        source: ``m`` integers: 0, 1, ... of each source.
        sds: ``m`` standard deviations of their noise; NaN where they are not known.
        vouched: ``m`` booleans: values that are right by the user's word.
        share: ``m`` shares of the noise variance of a single measurement: 1/k for a mean of k.
        trusted: For each source whether it is the target except for its noise.
        depth: ``m`` distances of their levels from the target's, |log(level / target's)|; 0 where a source has none,
            None where no source has.
    """

    X: Tensor
    Y: Tensor
    source: Tensor
    sds: Tensor
    vouched: Tensor
    share: Tensor
    trusted: tuple[bool, ...]
    depth: Tensor | None = None
