"""Tensors of a device that this machine has not: a stand-in for a GPU, which computes on the CPU and minds the border.

What is on it meets nothing of another device (single numbers apart), as on a GPU; it cannot become a NumPy array; and
all that comes and goes is counted.
"""

from collections import Counter
from typing import ClassVar

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

DEVICE = torch.device("meta")  # by name; autograd knows its streams, and the numbers are ours

INDEXING = (torch.ops.aten.index.Tensor, torch.ops.aten.index_put_.default, torch.ops.aten.index_put.default)


class Elsewhere(Tensor):
    """A tensor on `DEVICE`; its numbers are in `inner`."""

    @staticmethod
    def __new__(cls, inner, requires_grad=False):
        return Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=DEVICE,
            requires_grad=requires_grad,
        )

    def __init__(self, inner, requires_grad=False):
        self.inner = inner

    def __repr__(self, **_):
        return f"Elsewhere({self.inner})"

    def numpy(self):
        raise TypeError(f"can't convert {DEVICE} device type tensor to numpy")

    def __array__(self, *_):
        return self.numpy()

    def tolist(self):
        return self.detach().inner.tolist()

    def __reduce_ex__(self, protocol):
        return Elsewhere, (self.detach().inner, self.requires_grad)

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return run(func, args, kwargs or {})


def run(func, args, kwargs):
    """Do an operation on the numbers, where its tensors are on one device; a copy may go from one to the other."""
    leaves = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
    is_there = any(isinstance(x, Elsewhere) for x in leaves)
    if is_there and func is not torch.ops.aten.copy_.default:
        may_index = func in INDEXING  # by places on the CPU, as on a GPU
        strangers = [x for x in leaves if not isinstance(x, Elsewhere) and x.dim() > 0]
        strangers = [x for x in strangers if not (may_index and x.dtype in (torch.int64, torch.bool))]
        if strangers:
            raise RuntimeError(f"{func}: expected all tensors on {DEVICE}, got one on {strangers[0].device}")
    goes_there = is_there
    if (device := kwargs.get("device")) is not None:
        goes_there, kwargs = _is_there(device), kwargs | {"device": torch.device("cpu")}
        if leaves and goes_there != is_there:
            Watch.moves["there" if goes_there else "back"] += 1
    result = func(*tree_map(_inner, args), **tree_map(_inner, kwargs))
    if func._schema.name.endswith("_") and isinstance(args[0], Elsewhere):
        return args[0]
    return tree_map(lambda x: Elsewhere(x) if goes_there and isinstance(x, Tensor) else x, result)


def _inner(x):
    return x.inner if isinstance(x, Elsewhere) else x


class FromNumbers(TorchFunctionMode):
    """What is made of Python's numbers on `DEVICE`: torch looks no further, so that they would be lost."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is Tensor.new_tensor and isinstance(args[0], Elsewhere):
            dtype = kwargs.get("dtype") or args[0].dtype
            return Elsewhere(torch.tensor(*args[1:], dtype=dtype))
        if func in (torch.tensor, torch.as_tensor) and _is_there(kwargs.get("device")):
            return Elsewhere(func(*args, **kwargs | {"device": "cpu"}))
        if func is Tensor.quantile and isinstance(args[0], Elsewhere):  # which changes the shape of what it makes
            return Elsewhere(func(*tree_map(_inner, args), **kwargs))
        return func(*args, **kwargs)


def _is_there(device):
    return device is not None and torch.device(device).type == DEVICE.type


class Watch(TorchDispatchMode):
    """Count what comes and goes within it; tensors that are made on `DEVICE` are there."""

    moves: ClassVar = Counter()

    def __enter__(self):
        Watch.moves.clear()
        self.numbers = FromNumbers().__enter__()
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        self.numbers.__exit__(*error)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return run(func, args, kwargs or {})
