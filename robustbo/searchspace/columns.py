"""Unit-cube rows as columns of values, many at once: what constraints are computed from, and its derivatives."""

import torch
from torch import Tensor

from robustbo.searchspace.parameters import Float, Int, Parameter
from robustbo.searchspace.parameters.listed import key
from robustbo.searchspace.space import Space


def is_continuous(parameter: Parameter) -> bool:
    """Whether it is searched as if any number would do."""
    return parameter.levels is None


def cell(parameter: Parameter, u: Tensor) -> Tensor:
    """The number of the value in whose cell each unit coordinate lies; of a parameter with `levels`."""
    if isinstance(parameter, Int):
        step = parameter.step or 1
        edges = [parameter.to_unit(parameter.nth(k) + step / 2) for k in range(parameter.count - 1)]
        return torch.bucketize(u.detach().contiguous(), torch.tensor(edges, dtype=u.dtype), right=True)
    return (u * (parameter.count or 1)).floor().clamp(0, (parameter.count or 1) - 1).long()


def middle(parameter: Parameter, index: Tensor) -> Tensor:
    """The unit coordinates of the values of these numbers."""
    return torch.tensor(parameter.levels, dtype=torch.float64)[index]


def numbers(parameter: Parameter, u: Tensor) -> Tensor:
    """The values at unit coordinates; of a continuous one not rounded, with derivatives."""
    if not is_continuous(parameter):
        levels = range(parameter.count or 1)
        return torch.tensor([float(parameter.nth(k)) for k in levels], dtype=u.dtype)[cell(parameter, u)]  # type: ignore[arg-type]
    if isinstance(parameter, Float) and parameter.count is None:
        if parameter.log:
            return parameter.low * (u * torch.log(torch.tensor(parameter.high / parameter.low, dtype=u.dtype))).exp()
        return parameter.low + u * (parameter.high - parameter.low)
    exact = [float(parameter.from_unit(each)) for each in u.detach().reshape(-1).tolist()]  # type: ignore[arg-type]
    low, high = parameter.interval or (0.0, 1.0)
    smooth = low * (u * torch.log(u.new_tensor(high / low))).exp() if parameter.log else low + u * (high - low)  # type: ignore[union-attr]
    return smooth + (u.new_tensor(exact).reshape(u.shape) - smooth).detach()


def values(space: Space, U: Tensor, names: set[str]) -> dict[str, Tensor]:
    """Columns of some parameters' values at ``n x d`` unit-cube rows; NaN where one does not exist."""
    there = presence(space, U)
    found = {}
    for column, (name, parameter) in enumerate(space.parameters):
        if name in names:
            value = numbers(parameter, U[..., column])
            found[name] = value if name not in there else torch.where(there[name], value, value.new_tensor(torch.nan))
    return found


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
