"""Scrambled Sobol points of the unit cube: those of SciPy's sequences, to the bit.

They are computed here because SciPy's sequences import all of its statistics, a twelfth of the memory of an ask.

Notation:
    v  d x 30  direction numbers, one bit of a point's number each; their own highest bit is the first
    s  d       shift

References:
    Joe and Kuo (2008), Constructing Sobol sequences with better two-dimensional projections, for the direction numbers
    (PyTorch has them); Matousek (1998), On the L2-discrepancy for anchored boxes, for the scrambling by lower
    triangular matrices and a shift; Antonov and Saleev (1979) for the order of the points, that of Gray's code.
"""

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robustbo.lazy import Module

if TYPE_CHECKING:
    from torch import quasirandom
else:
    quasirandom = Module("torch.quasirandom")

MAX_DIMENSIONS = 21201  # of the direction numbers
BITS = 30  # of a coordinate, and of a point's number
BLOCK = 64  # points computed together: who asks for one after another makes a sequence anew once for as many
BLOCKS = 8  # that are kept

Integers = NDArray[np.uint32]


def sobol_rows(dimensions: int, seed: int, index: int, count: int) -> np.ndarray:
    """``count x d`` coordinates: the points from number ``index`` on of the sequence that ``seed`` scrambles."""
    start = index % BLOCK
    if start + count <= BLOCK:
        return _block(dimensions, seed, index // BLOCK)[start : start + count].copy()
    return _rows(dimensions, seed, index, count)


@lru_cache(maxsize=BLOCKS)
def _block(dimensions: int, seed: int, number: int) -> np.ndarray:
    return _rows(dimensions, seed, number * BLOCK, BLOCK)


def _rows(dimensions: int, seed: int, index: int, count: int) -> np.ndarray:
    if index + count > 2**BITS:
        raise ValueError(f"a Sobol sequence has {2**BITS} points, got a request for number {index + count - 1}")
    v, s = scramble(dimensions, seed)
    numbers = np.arange(index, index + count, dtype=np.uint32)
    code, points = numbers ^ (numbers >> 1), np.tile(s, (count, 1))
    for bit in range((index + count - 1).bit_length()):
        points ^= ((code >> bit) & 1)[:, None] * v[:, bit]
    return points * 2.0**-BITS


def scramble(dimensions: int, seed: int) -> tuple[Integers, Integers]:
    """Scrambled direction numbers v and the shift s of the sequence of a seed.

    Args:
        dimensions: From 1 to `MAX_DIMENSIONS`.
        seed: Of the scrambling.
    """
    rng = np.random.default_rng(seed).spawn(1)[0]
    s = _coin_tosses(rng, dimensions, BITS) @ (1 << np.arange(BITS, dtype=np.uint32))
    matrices = np.tril(_coin_tosses(rng, dimensions, BITS, BITS), -1) + np.eye(BITS, dtype=np.uint32)
    place = np.arange(BITS, dtype=np.uint32)[::-1, None]
    plain = quasirandom.SobolEngine(dimensions).sobolstate.numpy().astype(np.uint32)
    digits = (plain[:, None] >> place) & 1
    return (((matrices @ digits) & 1) << place).sum(1, dtype=np.uint32), s


def _coin_tosses(rng: np.random.Generator, *shape: int) -> Integers:
    return rng.integers(2, size=shape, dtype=np.uint32)
