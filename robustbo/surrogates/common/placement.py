"""Models whose data are in single precision, or on another device than the CPU.

A model computes in double precision, and lives where its data live: its posterior, gradients and fantasies are computed
there. What takes NumPy and SciPy (the search of a fit, beliefs, diagnoses) is done on the CPU, which is the faster of
the two for up to some thousand values: the model goes there for it, with all that it holds, and comes back. Results are
on the data's device, and in the type of the points that were asked for.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import is_dataclass
from functools import wraps
from typing import Any

import torch
from botorch.posteriors import GPyTorchPosterior, Posterior, TransformedPosterior
from gpytorch.distributions import MultivariateNormal
from linear_operator import to_linear_operator
from torch import Tensor
from torch.nn import Module

CPU = torch.device("cpu")
PRECISIONS = (torch.float32, torch.float64)
MODULES_OWN = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set")  # what `Module._apply` moves
Move = Callable[[Tensor], Tensor]


def in_double(**data: Tensor | None) -> tuple[Any, ...]:
    """Training data in double precision, where they are; None stays None.

    Raises:
        ValueError: If they are of a type of less than single precision, or on several devices.
    """
    tensors = {name: x for name, x in data.items() if x is not None}
    types, devices = ({name: of(x) for name, x in tensors.items()} for of in (_type, _device))
    if not set(types.values()) <= set(PRECISIONS):
        listed = ", ".join(f"{name} {dtype}" for name, dtype in types.items())
        raise ValueError(f"training data must be torch.float32 or torch.float64, got {listed}; call .double() on them")
    if len(set(devices.values())) > 1:
        listed = ", ".join(f"{name} on {device}" for name, device in devices.items())
        raise ValueError(f"training data must be on one device, got {listed}; call .to(device) on them")
    return tuple(None if x is None else x.double() for x in data.values())


def _type(x: Tensor) -> torch.dtype:
    return x.dtype


def _device(x: Tensor) -> torch.device:
    return x.device


def move_tensors(value: Any, move: Move, memo: dict[int, tuple[Any, Any]] | None = None) -> Any:
    """A value with all tensors in it moved: in tuples, lists, dictionaries, data classes and modules (these in place).

    What has no tensor in it is the same object as before, and what is in it twice still is.

    Args:
        value: The value.
        move: From a tensor to one elsewhere.
        memo: Of what has been moved already, by identity.
    """
    memo = {} if memo is None else memo
    if id(value) not in memo:
        memo[id(value)] = value, _move_parts(value, move, memo)  # the first keeps the identity taken
    return memo[id(value)][1]


def _move_parts(value: Any, move: Move, memo: dict[int, tuple[Any, Any]]) -> Any:
    if isinstance(value, Tensor):
        return move(value)
    if isinstance(value, Module):
        return value._apply(move)
    if isinstance(value, dict):
        parts = {key: move_tensors(part, move, memo) for key, part in value.items()}
        return parts if any(parts[key] is not part for key, part in value.items()) else value
    if isinstance(value, list | tuple):
        places = [move_tensors(part, move, memo) for part in value]
        if all(new is old for new, old in zip(places, value, strict=True)):
            return value
        return type(value)(*places) if hasattr(value, "_fields") else type(value)(places)
    if is_dataclass(value) and not isinstance(value, type):
        return _move_attributes(value, move, memo)
    return value


def _move_attributes(value: Any, move: Move, memo: dict[int, tuple[Any, Any]]) -> Any:
    attributes = {name: move_tensors(part, move, memo) for name, part in vars(value).items()}
    if all(new is vars(value)[name] for name, new in attributes.items()):
        return value
    twin = copy(value)
    for name, part in attributes.items():
        object.__setattr__(twin, name, part)  # it may be frozen
    return twin


class Placed:
    """A model that `to` moves with all that it holds, and that knows where its data are."""

    _home: torch.device | None = None  # where the data live, while the model is on the CPU

    def settle(self) -> None:
        """Compute what predictions need and only the CPU can; a fit has ended, or the model has other data."""

    def _apply(self, fn: Move, *args: Any) -> Any:
        before = vars(self).get("_train_targets")
        module: Any = super()
        module._apply(fn, *args)
        if vars(self).get("_train_targets") is not before:  # else GPyTorch would predict by what it has kept there
            vars(self)["prediction_strategy"] = None
        memo: dict[int, tuple[Any, Any]] = {id(self): (self, self)}
        for name, value in list(vars(self).items()):
            if name not in MODULES_OWN and not name.endswith("_hooks"):
                vars(self)[name] = move_tensors(value, fn, memo)
        return self


def on_cpu(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a model that runs on the CPU, with the model; a result comes to where the data are."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        device = self.train_targets.device
        if device == CPU:
            return method(self, *args, **kwargs)
        args, kwargs = move_tensors((args, kwargs), _to(CPU), {id(self): (self, self)})
        self.to(CPU)._home = device
        try:
            result = method(self, *args, **kwargs)
            self.settle()
        finally:
            self._home = None
            self.to(device)
        return move_tensors(result, _to(device), {id(self): (self, self)})

    return call


def at_home(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a model that runs where the data live, although its caller is `on_cpu`: products of large kernels."""

    @wraps(method)
    def call(self: Any, *args: Any) -> Any:
        if (home := self._home) is None:
            return method(self, *args)
        self.to(home)._home = None
        try:
            return method(self, *args)
        finally:
            self.to(CPU)._home = home

    return call


def answer_in_type_of_points(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a model that takes points of single precision too, and answers in the type of the first tensor."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = (x for x in (*args, *kwargs.values()) if isinstance(x, Tensor))
        dtype = next((x.dtype for x in tensors if x.dtype.is_floating_point), torch.float64)
        if dtype == torch.float64:
            return method(self, *args, **kwargs)
        precise = [_double(x) for x in args], {name: _double(x) for name, x in kwargs.items()}
        return in_type(method(self, *precise[0], **precise[1]), dtype)

    return call


def in_type(result: Any, dtype: torch.dtype) -> Any:
    """The answer of a model, in double precision, in another type; a model stays as it is."""
    if type(result) is GPyTorchPosterior:
        return _normal_in_type(result, dtype)
    if isinstance(result, Posterior):
        return TransformedPosterior(result, _to(dtype), lambda mean, _: mean.to(dtype), lambda _, v: v.to(dtype))
    return result if isinstance(result, Module) else move_tensors(result, _to(dtype))


def _normal_in_type(posterior: GPyTorchPosterior, dtype: torch.dtype) -> GPyTorchPosterior:
    normal = posterior.distribution
    covariance = to_linear_operator(normal.covariance_matrix.to(dtype))
    return GPyTorchPosterior(MultivariateNormal(normal.mean.to(dtype), covariance))


def _to(where: torch.device | torch.dtype) -> Move:
    def move(x: Tensor) -> Tensor:
        return x if isinstance(where, torch.dtype) and not x.dtype.is_floating_point else x.to(where)

    return move


def _double(x: Any) -> Any:
    return x.double() if isinstance(x, Tensor) and x.dtype.is_floating_point else x


ON_CPU = (
    *("custom_fit", "_renew", "diagnose", "diagnose_others", "probability_right", "tails", "quantiles", "predictive"),
    *("noise_dof", "at_inputs", "single_fits"),
)
IN_TYPE_OF_POINTS = (
    *("posterior", "condition_on_observations", "fantasize", "marginals", "quantiles", "diagnose_others", "at_inputs"),
)


def place_method(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A model's method of that name, where and in which type it is to be computed."""
    method = on_cpu(method) if name in ON_CPU else method
    return answer_in_type_of_points(method) if name in IN_TYPE_OF_POINTS else method
