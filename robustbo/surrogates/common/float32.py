"""GPyTorch's modules as it makes them by default, in float32, whatever type torch's default has been set to."""

from typing import TypeVar

from gpytorch.module import Module

M = TypeVar("M", bound=Module)


def in_float32(module: M) -> M:
    """Turn what a new module holds into float32: bounds, initial values and priors of recorded fits are rounded so.

    Args:
        module: A kernel, likelihood or noise, before its ``to``; it is changed in place.

    Returns:
        The module.
    """
    module.float()
    for _, _, prior, *_ in module.named_priors():
        normal = getattr(prior, "base_dist", prior)  # of a `LogNormalPrior`, whose numbers are no buffers
        normal.loc, normal.scale = normal.loc.float(), normal.scale.float()
    return module
