"""Observations that lie in files and are read some rows at a time."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor


class MemoryMap(NamedTuple):
    """Observations in two NumPy files, of which nothing is in memory but the rows that are asked for.

    Attributes:
        X: File of ``n x d`` inputs.
        y: File of ``n`` outcomes.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> np.save(folder / "X.npy", np.arange(6.0).reshape(3, 2))
        >>> np.save(folder / "y.npy", np.arange(3.0))
        >>> MemoryMap(folder / "X.npy", folder / "y.npy").read(torch.tensor([2, 0]))[1].tolist()
        [2.0, 0.0]
    """

    X: Path | str
    y: Path | str

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of inputs.

        Raises:
            ValueError: If the files do not hold as many rows of numbers.
        """
        X, y = self._open()
        if X.ndim != 2 or y.shape != X.shape[:1] or not X.size or not all(a.dtype.kind in "fiu" for a in (X, y)):
            raise ValueError(
                f"X and y must hold n x d and n numbers, got {X.shape} {X.dtype} in {self.X} and "
                f"{y.shape} {y.dtype} in {self.y}"
            )
        return X.shape[0], X.shape[1]

    def read(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs and outcomes of some rows, in their order, as float64.

        Raises:
            ValueError: If a number is not finite; the first such row is named.
        """
        order = np.argsort(rows.numpy(), kind="stable")  # a file is read forward
        X, y = self._open()
        back = np.argsort(order)
        found = [np.asarray(part[rows.numpy()[order]], dtype=np.float64)[back] for part in (X, y)]
        if len(bad := np.flatnonzero(~(np.isfinite(found[0]).all(-1) & np.isfinite(found[1])))):
            raise ValueError(f"inputs and outcomes must be finite, row {rows[bad[0]].item()} of {self.y} is not")
        return torch.from_numpy(found[0]), torch.from_numpy(found[1])

    def _open(self) -> tuple[np.ndarray, np.ndarray]:
        return np.load(self.X, mmap_mode="r"), np.load(self.y, mmap_mode="r")
