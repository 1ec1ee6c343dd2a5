"""Unit-cube rows as columns of values, many at once: what constraints are computed from, and its slopes."""

import math
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.searchspace.parameters import MAX_LEVELS, Choice, Float, Int, Parameter
from robustbo.searchspace.parameters.listed import key
from robustbo.searchspace.space import Space


def is_continuous(parameter: Parameter) -> bool:
    """Return whether a parameter is searched as if any number would do: a number of very many values, never a list."""
    return isinstance(parameter, Float | Int) and (parameter.count is None or parameter.count > MAX_LEVELS)


class ValueCells(NamedTuple):
    """The cells of a parameter's unit interval, by the number of its value.

    Attributes:
        edges: Where all but the first begin.
        middles: Their coordinates.
        numbers: Their values; NaN where these are no numbers.
    """

    edges: Tensor
    middles: Tensor
    numbers: Tensor


@lru_cache(maxsize=1024)
def value_cells(parameter: Parameter) -> ValueCells:
    """The cells of a parameter with `levels`."""
    indices = range(parameter.count or 1)
    if isinstance(parameter, Int):
        edges = [parameter.to_unit(parameter.nth(k) + (parameter.step or 1) / 2) for k in indices[:-1]]
    else:
        edges = [k / len(indices) for k in indices[1:]]
    values = [math.nan if parameter.interval is None else float(parameter.nth(k) or 0) for k in indices]
    return ValueCells(
        *(torch.tensor(numbers or [], dtype=torch.float64) for numbers in (edges, parameter.levels, values))
    )


def cell_numbers(parameter: Parameter, u: Tensor) -> Tensor:
    """The number of the value in whose cell each unit coordinate lies (0 for NaN), for a parameter with `levels`."""
    u = u.nan_to_num(0.0)
    if isinstance(parameter, Int):
        return torch.bucketize(u.detach().contiguous(), value_cells(parameter).edges, right=True)
    return (u * (parameter.count or 1)).floor().clamp(0, (parameter.count or 1) - 1).long()


def value_numbers(parameter: Parameter, u: Tensor) -> Tensor:
    """The numbers of `cell_numbers`; those of values that a choice had once follow on the others."""
    if isinstance(parameter, Choice) and parameter.former:
        return (u.nan_to_num(0.0) * len(parameter.values)).floor().clamp(0, parameter.num_modelled - 1).long()
    return cell_numbers(parameter, u)


def cell_middles(parameter: Parameter, index: Tensor) -> Tensor:
    """The unit coordinates of the values of these numbers."""
    return value_cells(parameter).middles[index]


def values_at(parameter: Parameter, u: Tensor) -> Tensor:
    """The values at unit coordinates (NaN at NaN); those of a continuous parameter are not rounded to its digits."""
    if not is_continuous(parameter):
        return torch.where(u.isnan(), torch.nan, value_cells(parameter).numbers[cell_numbers(parameter, u)])
    if isinstance(parameter, Float) and parameter.count is None:
        value: Tensor = parameter.scale.value(u)
        return value
    exact = [u if math.isnan(u) else float(parameter.from_unit(u) or 0) for u in u.reshape(-1).tolist()]
    return u.new_tensor(exact).reshape(u.shape)


def value_slopes(parameter: Parameter, u: Tensor) -> Tensor:
    """The slopes of `values_at` along unit coordinates; with steps, those of a line through the values."""
    if not is_continuous(parameter):
        return torch.zeros_like(u)
    assert isinstance(parameter, Float | Int)
    scale = parameter.scale
    if isinstance(parameter, Int) and parameter.log:  # whose scale is one of logarithms
        return scale.value(u).exp() * scale.span
    return torch.ones_like(u) * scale.slope(u)


def existence(space: Space, U: Tensor) -> dict[str, Tensor]:
    """``n`` booleans for each parameter with a condition: whether it exists at rows."""
    if not space.is_conditional:
        return {}
    parameters, exists = dict(space.parameters), dict[str, Tensor]()
    columns = {name: column for column, name in enumerate(space.names)}
    for name, needed in space.conditions.items():
        holds = torch.ones(U.shape[:-1], dtype=torch.bool)
        for other, keys in needed.items():
            parameter = parameters[other]
            values = [parameter.nth(k) for k in range(parameter.count or 0)]
            values += parameter.former if isinstance(parameter, Choice) else ()
            is_needed = torch.tensor([key(value) in keys for value in values])
            holds &= is_needed[value_numbers(parameter, U[..., columns[other]])]
            if other in exists:
                holds &= exists[other]
        exists[name] = holds
    return exists
