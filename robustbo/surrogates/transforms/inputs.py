"""What a model sees of a point: every Choice one-hot (one of very many values by its digits), and what exists there.

What does not exist at a point it sees in the middle, or as none of the choices: points that differ only there are the
same to it.
"""

import math
from functools import partial
from typing import Any

import torch
from botorch.models.transforms.input import InputTransform, NumericToCategoricalEncoding
from torch import Tensor
from torch.nn.functional import one_hot

from robustbo.searchspace.columns import presence
from robustbo.searchspace.encoding import categories, inputs, unit_rows, varying
from robustbo.searchspace.parameters import Choice
from robustbo.searchspace.space import ABSENT, Space

DIGITS = 3  # of the number of one of very many values
ONE_HOT = 100  # values at most that have a column each: a length-scale each is what fits and maximizations pay for


def one_hot_inputs(space: Space) -> InputTransform | None:
    """What makes a model see every Choice one-hot, and only what exists; None where there is nothing to do."""
    if space.is_conditional:
        return ExistingInputs(space)
    counts = categories(space)
    if not counts:
        return None
    encoders = {column: partial(as_category, count=count) for column, count in counts.items()}
    widths = {column: width(count) for column, count in counts.items()}
    return NumericToCategoricalEncoding(dim=len(inputs(space)), categorical_features=widths, encoders=encoders)


def width(count: int) -> int:
    """In how many columns one of so many values is seen."""
    return count if count <= ONE_HOT else DIGITS * _base(count)


def as_category(index: Tensor, count: int) -> Tensor:
    """Values by their numbers, ``...``, as what a kernel sees of a Choice: ``... x width``.

    One of up to `ONE_HOT` values is one-hot. Of more, a column each would be a length-scale each, of which nothing is
    ever learned; they are seen by the `DIGITS` digits of their numbers, each one-hot. No two are the same, and those
    that share a digit, which are spread over the list, are somewhat alike.

    Example:
        >>> as_category(torch.tensor([0, 1, 1999]), 2000).shape
        torch.Size([3, 39])
    """
    if count <= ONE_HOT:
        return one_hot(index, num_classes=count)
    base, spread = _base(count), index * _step(count) % count
    digits = [spread // unit % base for unit in _units(base)]
    return torch.cat([one_hot(digit, num_classes=base) for digit in digits], -1)


def most_alike(index: int, count: int) -> list[int]:
    """The other values, by their numbers; of more than `ONE_HOT` those that differ in one digit alone.

    From one to the next of these every value is reached.

    Example:
        >>> len(most_alike(7, 20)), len(most_alike(7, 900))
        (19, 27)
    """
    if count <= ONE_HOT:
        return [other for other in range(count) if other != index]
    base, step = _base(count), _step(count)
    spread, back = index * step % count, pow(step, -1, count)
    moved = {spread + (digit - spread // unit % base) * unit for unit in _units(base) for digit in range(base)}
    return sorted(other * back % count for other in moved - {spread} if other < count)


def _units(base: int) -> list[int]:
    """What a digit of each place counts for."""
    return [base**place for place in range(DIGITS)]


def _base(count: int) -> int:
    """The smallest number base in which so many numbers have `DIGITS` digits."""
    base = math.floor(count ** (1 / DIGITS))
    while base**DIGITS < count:
        base += 1
    return base


def _step(count: int) -> int:
    """By what numbers are multiplied, so that neighbours in the list share no digit as a rule; none is lost."""
    step = round(count * (math.sqrt(5) - 1) / 2)
    while math.gcd(step, count) > 1:
        step += 1
    return step


class ExistingInputs(InputTransform):
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
        there = presence(self.space, unit_rows(self.space, X.detach()))
        parts = []
        for i, column in enumerate(varying(self.space)):
            name, parameter = self.space.parameters[column]
            x = X[..., i : i + 1]
            is_there = there[name].unsqueeze(-1) if name in there else None
            if isinstance(parameter, Choice):
                x = as_category(x.squeeze(-1).round().long(), parameter.count).to(X)
                parts.append(x if is_there is None else x * is_there)
            else:
                parts.append(x if is_there is None else torch.where(is_there, x, ABSENT))
        return torch.cat(parts, -1)

    def equals(self, other: Any) -> bool:
        """Whether another does the same."""
        return type(self) is type(other) and self.space == other.space
