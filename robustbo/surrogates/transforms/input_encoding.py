"""The encoding of a point for a model: every Choice one-hot (of very many values a word of bits each).

A parameter that does not exist at a point is encoded as the middle, or as none of the choices: points that differ only
there are equal to the model.
"""

from functools import lru_cache, partial
from typing import Any

import torch
from botorch.models.transforms.input import InputTransform, NumericToCategoricalEncoding
from torch import Tensor
from torch.nn.functional import one_hot

from robustbo import seeds
from robustbo.searchspace.columns import existence
from robustbo.searchspace.encoding import category_counts, input_columns, input_parameters, unit_rows
from robustbo.searchspace.parameters import Choice
from robustbo.searchspace.space import ABSENT, Space

BITS = 63  # of the word of one of very many values: as many as a derived seed has
ONE_HOT = 100  # values at most that have a column each: a length-scale each is what fits and maximizations pay for


def one_hot_inputs(space: Space) -> InputTransform | None:
    """Return the transform that encodes every Choice, and parameters that do not exist; None where nothing needs it."""
    if space.is_conditional:
        return ConditionalEncoding(space)
    counts = category_counts(space)
    if not counts:
        return None
    encoders = {column: partial(as_category, count=count) for column, count in counts.items()}
    widths = {column: width(count) for column, count in counts.items()}
    return NumericToCategoricalEncoding(
        dim=len(input_parameters(space)), categorical_features=widths, encoders=encoders
    )


def width(count: int) -> int:
    """Number of columns that encode one of so many values."""
    return count if count <= ONE_HOT else BITS


def as_category(index: Tensor, count: int) -> Tensor:
    """Encode values of a Choice by their numbers, ``...``, as columns for a kernel: ``... x width``.

    One of up to `ONE_HOT` values is one-hot. Of more, a column each would be a length-scale each, of which nearly
    nothing is ever learned; each has a word of `BITS` zeros and ones instead, as if drawn by chance. Any two of these
    differ in about half of their columns, so that no two values are much more alike than others before one is measured.

    Example:
        >>> as_category(torch.tensor([0, 1, 1999]), 2000).shape
        torch.Size([3, 63])
    """
    return one_hot(index, num_classes=count) if count <= ONE_HOT else _words(count)[index]


@lru_cache(maxsize=8)
def _words(count: int) -> Tensor:
    """``count x BITS`` words, one of each value; those of fewer values are the first of them."""
    numbers = torch.tensor([seeds.derive(0, index, "word of a value") for index in range(count)])
    return numbers.unsqueeze(-1) >> torch.arange(BITS) & 1


class ConditionalEncoding(InputTransform):
    """Every Choice one-hot, or all zeros where it does not exist; everything else in the middle where it does not.

    Args:
        space: A space with conditions.
    """

    is_one_to_many = False

    def __init__(self, space: Space) -> None:
        super().__init__()
        self.space = space
        self.transform_on_train = self.transform_on_eval = self.transform_on_fantasize = True

    def transform(self, X: Tensor) -> Tensor:
        """``... x d`` inputs as ``... x d'`` that the kernel sees; can be differentiated."""
        exists = existence(self.space, unit_rows(self.space, X.detach()))
        parts = []
        for i, column in enumerate(input_columns(self.space)):
            name, parameter = self.space.parameters[column]
            x = X[..., i : i + 1]
            is_present = exists[name].unsqueeze(-1) if name in exists else None
            if isinstance(parameter, Choice):
                x = as_category(x.squeeze(-1).round().long(), parameter.num_modelled).to(X)
                parts.append(x if is_present is None else x * is_present)
            else:
                parts.append(x if is_present is None else torch.where(is_present, x, ABSENT))
        return torch.cat(parts, -1)

    def equals(self, other: Any) -> bool:
        """Return whether another transform does the same."""
        return type(self) is type(other) and self.space == other.space
