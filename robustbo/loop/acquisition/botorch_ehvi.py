"""BoTorch's improvements of hypervolume in PyTorch alone: the same bits with a compiler and without one.

BoTorch compiles a kernel of its own for the processor, 20 s at the first use, and does without where that fails.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botorch.acquisition.multi_objective import logei
from torch import Tensor


@contextmanager
def _without_kernel() -> Iterator[None]:
    before = logei._C, logei._load_attempted
    logei._C, logei._load_attempted = None, True
    try:
        yield
    finally:
        logei._C, logei._load_attempted = before


class _WithoutKernel:
    """A mixin by which BoTorch finds no compiled kernel, and makes none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        with _without_kernel():
            super().__init__(*args, **kwargs)

    def _compute_log_qehvi(self, samples: Tensor, X: Tensor | None = None) -> Tensor:
        with _without_kernel():
            improvement: Tensor = super()._compute_log_qehvi(samples, X)  # type: ignore[misc]
        return improvement


class LogEHVI(_WithoutKernel, logei.qLogExpectedHypervolumeImprovement):
    """BoTorch's over what is believed."""


class SampledLogNEHVI(_WithoutKernel, logei.qLogNoisyExpectedHypervolumeImprovement):
    """BoTorch's noisy one."""
