"""Unit-cube rows as columns of values, many at once: what constraints are computed from, and its slopes."""

import math
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.searchspace.parameters import MAX_LEVELS, Float, Int, Parameter
from robustbo.searchspace.parameters.listed import key
from robustbo.searchspace.space import Space


def is_continuous(parameter: Parameter) -> bool:
    """Whether it is searched as if any number would do: a number of very many values; what is listed never is."""
    return isinstance(parameter, Float | Int) and (parameter.count is None or parameter.count > MAX_LEVELS)


class Cells(NamedTuple):
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
def cells(parameter: Parameter) -> Cells:
    """Those of a parameter with `levels`."""
    every = range(parameter.count or 1)
    if isinstance(parameter, Int):
        edges = [parameter.to_unit(parameter.nth(k) + (parameter.step or 1) / 2) for k in every[:-1]]
    else:
        edges = [k / len(every) for k in every[1:]]
    values = [math.nan if parameter.interval is None else float(parameter.nth(k) or 0) for k in every]
    return Cells(*(torch.tensor(each or [], dtype=torch.float64) for each in (edges, parameter.levels, values)))


def cell(parameter: Parameter, u: Tensor) -> Tensor:
    """The number of the value in whose cell each unit coordinate lies (0 for NaN); of a parameter with `levels`."""
    u = u.nan_to_num(0.0)
    if isinstance(parameter, Int):
        return torch.bucketize(u.detach().contiguous(), cells(parameter).edges, right=True)
    return (u * (parameter.count or 1)).floor().clamp(0, (parameter.count or 1) - 1).long()


def middle(parameter: Parameter, index: Tensor) -> Tensor:
    """The unit coordinates of the values of these numbers."""
    return cells(parameter).middles[index]


def numbers(parameter: Parameter, u: Tensor) -> Tensor:
    """The values at unit coordinates (NaN at NaN); of a continuous one as if any number would do, but rounded."""
    if not is_continuous(parameter):
        return torch.where(u.isnan(), torch.nan, cells(parameter).numbers[cell(parameter, u)])
    if isinstance(parameter, Float) and parameter.count is None:
        value: Tensor = parameter.scale.value(u)
        return value
    exact = [u if math.isnan(u) else float(parameter.from_unit(u) or 0) for u in u.reshape(-1).tolist()]
    return u.new_tensor(exact).reshape(u.shape)


def slope(parameter: Parameter, u: Tensor) -> Tensor:
    """The slopes of `numbers` along unit coordinates: of one with steps those of a line through them, else none."""
    if not is_continuous(parameter):
        return torch.zeros_like(u)
    assert isinstance(parameter, Float | Int)
    scale = parameter.scale
    if isinstance(parameter, Int) and parameter.log:  # whose scale is one of logarithms
        return scale.value(u).exp() * scale.span
    return torch.ones_like(u) * scale.slope(u)


def presence(space: Space, U: Tensor) -> dict[str, Tensor]:
    """Where each parameter with a condition exists: ``n`` booleans each."""
    if not space.is_conditional:
        return {}
    named, there = dict(space.parameters), dict[str, Tensor]()
    columns = {name: column for column, name in enumerate(space.names)}
    for name, needed in space.conditions.items():
        holds = torch.ones(U.shape[:-1], dtype=torch.bool)
        for other, keys in needed.items():
            parameter = named[other]
            is_one = torch.tensor([key(parameter.nth(k)) in keys for k in range(parameter.count or 0)])
            holds &= is_one[cell(parameter, U[..., columns[other]])]
            if other in there:
                holds &= there[other]
        there[name] = holds
    return there
