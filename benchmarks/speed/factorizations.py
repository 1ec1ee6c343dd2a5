"""Dense arithmetic of a computation, in Cholesky factorizations of an n x n matrix: n^3 / 3 operations.

Counted are the calls, from Python, of LAPACK, BLAS and torch that factor, invert, solve or multiply. What is looked up
in its module is counted, however that was imported; products of arrays (``@``) and torch's own (such as the gradient of
a Cholesky factor) are not.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import scipy.linalg
import torch
from scipy.linalg import blas, lapack

CHOLESKY = 1 / 3


class Call(NamedTuple):
    """A function that takes ``factor * n * size`` operations.

    Attributes:
        module: Where it is looked up.
        name: There.
        factor: Of the operations.
        at: Which argument is the matrix, of n rows.
        other: Which argument has so many numbers: the matrix itself, or what is on the right.
    """

    module: Any
    name: str
    factor: float
    at: int = 0
    other: int = 0


FACTORS = (
    *(Call(lapack, name, CHOLESKY) for name in ("dpotrf", "spotrf", "dposv", "sposv", "dsytrf")),
    *(Call(scipy.linalg, name, CHOLESKY) for name in ("cholesky", "cho_factor")),
    *(Call(torch.linalg, name, CHOLESKY) for name in ("cholesky", "cholesky_ex", "ldl_factor_ex")),
    Call(np.linalg, "cholesky", CHOLESKY),
)
SOLVES = (
    *(Call(lapack, name, 2 / 3) for name in ("dpotri", "spotri", "dsytri")),
    *(Call(lapack, name, 2, 0, 1) for name in ("dpotrs", "spotrs")),
    *(Call(lapack, name, 1, 0, 1) for name in ("dtrtrs", "strtrs")),
    Call(lapack, "dtrtri", 1 / 3),
    *(Call(blas, name, 1, 1, 2) for name in ("dtrsm", "strsm", "dtrmm")),
    *(Call(blas, name, 1, 1, 1) for name in ("dsyrk", "ssyrk")),
    *(Call(blas, name, 2, 1, 2) for name in ("dgemm", "sgemm", "dsymm")),
    Call(torch, "cholesky_inverse", 2 / 3),
    Call(torch, "cholesky_solve", 2, 1, 0),
    Call(torch.linalg, "solve_triangular", 1, 0, 1),
    Call(torch.linalg, "solve", 2, 0, 1),
    *(Call(torch.linalg, name, 2) for name in ("inv", "inv_ex")),
    *(Call(module, "eigh", 9) for module in (torch.linalg, scipy.linalg, np.linalg)),
)


@contextmanager
def count_calls(n: int) -> Iterator[Counter[str]]:
    """Within: under "work" the arithmetic, in Cholesky factorizations; by name the calls of n / 2 rows or more."""
    counts: Counter[str] = Counter()

    def counter_of(call: Call) -> Callable[..., Any]:
        function = getattr(call.module, call.name)

        def count_and_call(*arguments: Any, **options: Any) -> Any:
            matrices = arguments[call.at : call.at + 1] + arguments[call.other : call.other + 1]
            if (
                len(matrices) == 2
                and all(isinstance(A, np.ndarray | torch.Tensor) for A in matrices)
                and matrices[0].ndim > 1
            ):
                rows = matrices[0].shape[-2]
                counts["work"] += call.factor * rows * int(np.prod(matrices[1].shape)) / (CHOLESKY * n**3)
                counts[_full(call)] += rows >= n / 2
            return function(*arguments, **options)

        return count_and_call

    with ExitStack() as stack:
        for call in (*FACTORS, *SOLVES):
            stack.enter_context(patch.object(call.module, call.name, counter_of(call)))
        yield counts


def _full(call: Call) -> str:
    return f"{call.module.__name__}.{call.name}"


def num_factorizations(counts: Counter[str]) -> int:
    """Number of the calls, of n / 2 rows or more, that factored a matrix."""
    return sum(counts[_full(call)] for call in FACTORS)


def cholesky_seconds(n: int, times: int) -> list[float]:
    """Seconds of the processor of LAPACK's Cholesky factorization of an n x n matrix, so many times."""
    generator = np.random.default_rng(0)
    B = generator.random((n, n)).T
    B += n * np.eye(n)
    seconds = []
    for _ in range(times):
        C = B.copy(order="F")
        started = time.process_time()
        lapack.dpotrf(C, lower=1, clean=0, overwrite_a=1)
        seconds.append(time.process_time() - started)
    return seconds
