"""Points of a space as a model's inputs.

A parameter of one value is no input. A Choice is given by its index, one-hot inside the model (see
`surrogates.transforms.input_encoding`); an Ordinal by the place of its value; all else stays in [0, 1].
"""

import torch
from torch import Tensor

from robustbo.searchspace.columns import cell_middles, cell_numbers
from robustbo.searchspace.parameters import Choice, Ordinal, Parameter
from robustbo.searchspace.parameters.ordinal import OFF_LIST
from robustbo.searchspace.parameters.scale import cell_middle
from robustbo.searchspace.space import ABSENT, Space


def input_columns(space: Space) -> list[int]:
    """The columns of unit-cube rows that are inputs: those of parameters with more than one value."""
    return [i for i, (_, p) in enumerate(space.parameters) if p.count != 1]


def input_parameters(space: Space) -> list[Parameter]:
    """The parameter of each input."""
    return [space.parameters[i][1] for i in input_columns(space)]


def category_counts(space: Space) -> dict[int, int]:
    """Input -> number of values, for every Choice of a space; those that it had once among them."""
    return {i: p.num_modelled for i, p in enumerate(input_parameters(space)) if isinstance(p, Choice)}


def discrete_levels(space: Space) -> dict[int, list[float]]:
    """Input -> all values that it takes, for everything else that is not searched as if any number would do."""
    parameters = {i: p for i, p in enumerate(input_parameters(space)) if not isinstance(p, Choice)}
    return {i: p.places if isinstance(p, Ordinal) else p.levels for i, p in parameters.items() if p.levels is not None}


def encode(space: Space, rows: list[list[float]] | Tensor) -> Tensor:
    """Unit-cube rows as the model's ``n x d`` inputs; can be differentiated in those that are in [0, 1]."""
    U = torch.as_tensor(rows, dtype=torch.float64).reshape(-1, len(space))[:, input_columns(space)]
    columns = list(U.unbind(-1))
    for i, parameter in enumerate(input_parameters(space)):
        if isinstance(parameter, Choice):
            columns[i] = (columns[i] * parameter.count).floor()
        elif isinstance(parameter, Ordinal):
            columns[i] = _places(parameter, columns[i])
    return torch.stack(columns, -1)


def _places(parameter: Ordinal, u: Tensor) -> Tensor:
    """The places of an ordinal's values at unit coordinates, and of numbers that it does not list."""
    places, is_off = u.new_tensor(parameter.places)[cell_numbers(parameter, u)], u > OFF_LIST / 2
    return torch.where(is_off, u - OFF_LIST, places) if is_off.any() else places


def decode(space: Space, X: Tensor) -> list[list[float]]:
    """The model's ``n x d`` inputs as unit-cube rows; the inverse of `encode`."""
    return unit_rows(space, X).tolist()


def unit_rows(space: Space, X: Tensor) -> Tensor:
    """The unit-cube rows of ``... x d`` inputs."""
    U = torch.full((*X.shape[:-1], len(space)), ABSENT, dtype=X.dtype)
    for i, (column, parameter) in enumerate(zip(input_columns(space), input_parameters(space), strict=True)):
        x = X[..., i]
        if isinstance(parameter, Choice):
            x = cell_middle(x.round(), parameter.count)
        elif isinstance(parameter, Ordinal):
            x = cell_middles(parameter, (x.unsqueeze(-1) - x.new_tensor(parameter.places)).abs().argmin(-1))
        U[..., column] = x
    return U
