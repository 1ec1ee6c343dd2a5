"""What a model sees of a point: every Choice one-hot, and only what exists there.

What does not exist at a point it sees in the middle, or as none of the choices: points that differ only there are the
same to it.
"""

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


def one_hot_inputs(space: Space) -> InputTransform | None:
    """What makes a model see every Choice one-hot, and only what exists; None where there is nothing to do."""
    if space.is_conditional:
        return ExistingInputs(space)
    counts = categories(space)
    if not counts:
        return None
    encoders = {column: partial(one_hot, num_classes=count) for column, count in counts.items()}
    return NumericToCategoricalEncoding(dim=len(inputs(space)), categorical_features=counts, encoders=encoders)


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
                x = one_hot(x.squeeze(-1).round().long(), parameter.count).to(X)
                parts.append(x if is_there is None else x * is_there)
            else:
                parts.append(x if is_there is None else torch.where(is_there, x, ABSENT))
        return torch.cat(parts, -1)

    def equals(self, other: Any) -> bool:
        """Whether another does the same."""
        return type(self) is type(other) and self.space == other.space
