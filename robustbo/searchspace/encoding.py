"""Points of a space as a model's inputs: a Choice by its index, one-hot inside the model."""

from functools import partial

import torch
from botorch.models.transforms.input import InputTransform, NumericToCategoricalEncoding
from torch import Tensor
from torch.nn.functional import one_hot

from robustbo.searchspace.parameters import Choice
from robustbo.searchspace.space import Space


def categories(space: Space) -> dict[int, int]:
    """Column -> number of values, for every Choice of a space."""
    return {i: len(p.values) for i, (_, p) in enumerate(space.parameters) if isinstance(p, Choice)}


def encode(space: Space, rows: list[list[float]]) -> Tensor:
    """Unit-cube rows as the model's ``n x d`` inputs: a Choice becomes its index, all else stays in [0, 1]."""
    X = torch.tensor(rows, dtype=torch.float64).reshape(len(rows), len(space))
    for column, count in categories(space).items():
        X[:, column] = (X[:, column] * count).floor()
    return X


def decode(space: Space, X: Tensor) -> list[list[float]]:
    """The model's ``n x d`` inputs as unit-cube rows; the inverse of `encode`."""
    X = X.clone()
    for column, count in categories(space).items():
        X[:, column] = (X[:, column].round() + 0.5) / count
    return X.tolist()


def one_hot_inputs(space: Space) -> InputTransform | None:
    """What makes a model see every Choice one-hot; None where there is none."""
    counts = categories(space)
    if not counts:
        return None
    encoders = {column: partial(one_hot, num_classes=count) for column, count in counts.items()}
    return NumericToCategoricalEncoding(dim=len(space), categorical_features=counts, encoders=encoders)
