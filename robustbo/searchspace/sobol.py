"""Scrambled Sobol points of the unit cube."""

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from robustbo.determinism.interrupts import Interrupts
from robustbo.lazy import Module

if TYPE_CHECKING:
    from scipy.stats import qmc
else:
    qmc = Module("scipy.stats.qmc")

MAX_DIMENSIONS = 21201  # of SciPy's sequences
BLOCK = 64  # points computed together: who asks for one after another makes a sequence anew once for as many
BLOCKS = 8  # that are kept


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
    with Interrupts():  # SciPy would lose one that comes while it reads its tables, and go on with points of none
        sequence = qmc.Sobol(dimensions, scramble=True, rng=seed)
    if index > 0:  # SciPy cannot skip no point
        sequence.fast_forward(index)
    with warnings.catch_warnings():  # of a count that is no power of two, whose balance is not needed here
        warnings.simplefilter("ignore", UserWarning)
        points: np.ndarray = sequence.random(count)
        return points
