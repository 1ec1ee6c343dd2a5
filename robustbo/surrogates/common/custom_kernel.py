"""Any GPyTorch kernel as the search sees it: gradients through autograd, where no explicit ones are written."""

import math

import torch
from gpytorch.kernels import Kernel
from torch import Tensor

from robustbo.numerics.gp.covariance import Covariance, CovarianceFunction


def covariance_function(module: Kernel, X: Tensor) -> CovarianceFunction:
    """A kernel module on ``n x d`` inputs; theta is its raw parameters, flattened.

    The module is left with the parameters of the last call; `set_kernel` writes others.
    """
    named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
    free = [p for _, p in named]

    def at(theta: Tensor) -> Covariance:
        set_kernel(module, theta)
        with torch.enable_grad():
            K = module(X).to_dense()
            priors = [prior.log_prob(closure(owner)).sum() for _, owner, prior, closure, _ in module.named_priors()]
            log_prior = torch.stack(priors).sum() if priors else K.new_zeros(())

        def back(G: Tensor) -> Tensor:
            with torch.enable_grad():
                total = (G * K).sum() + log_prior
            slopes = torch.autograd.grad(total, free, allow_unused=True, retain_graph=True)  # a climb may begin there
            return torch.cat(
                [(torch.zeros_like(p) if g is None else g).flatten() for g, p in zip(slopes, free, strict=True)]
            )

        return Covariance(K.detach(), log_prior.item(), back)

    return CovarianceFunction(at, (get_kernel(module),), _bounds(module, named))


def set_kernel(module: Kernel, theta: Tensor) -> None:
    """Write flattened raw parameters into the module."""
    with torch.no_grad():
        start = 0
        for p in (p for p in module.parameters() if p.requires_grad):
            p.copy_(theta[start : start + p.numel()].view_as(p))
            start += p.numel()


def get_kernel(module: Kernel) -> Tensor:
    """The module's raw parameters, flattened."""
    return torch.cat([p.detach().flatten() for p in module.parameters() if p.requires_grad])


def _bounds(module: Kernel, named: list[tuple[str, Tensor]]) -> list[tuple[float, float]]:
    """Raw bounds: those of constraints without a transform; a transformed parameter is free."""
    constraints = dict(module.named_constraints())
    bounds: list[tuple[float, float]] = []
    for name, p in named:
        constraint = constraints.get(f"{name}_constraint")
        low, high = -math.inf, math.inf
        if constraint is not None and not constraint.enforced:
            low, high = float(constraint.lower_bound), float(constraint.upper_bound)
        bounds += [(low, high)] * p.numel()
    return bounds
