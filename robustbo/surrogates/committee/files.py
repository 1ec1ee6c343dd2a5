"""Observations that lie in files and are read some rows at a time."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class MemoryMap:
    """Observations in two NumPy files, of which nothing is in memory but the rows that are asked for.

    Attributes:
        X: File of ``n x d`` inputs; paths are made absolute here, and must mean the same where they are read.
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

    def __post_init__(self) -> None:
        for name in ("X", "y"):
            object.__setattr__(self, name, Path(getattr(self, name)).absolute())

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of inputs.

        Raises:
            ValueError: If the files do not hold as many rows of numbers.
            OSError: If one cannot be read.
        """
        X, y = _open_array(self.X), _open_array(self.y)
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
            OSError: If a file cannot be read.
        """
        order = np.argsort(rows.numpy(), kind="stable")  # a file is read forward
        back, forward = np.argsort(order), rows.numpy()[order]
        X, y = (np.asarray(_open_array(path)[forward], dtype=np.float64)[back] for path in (self.X, self.y))
        if len(bad := np.flatnonzero(~(np.isfinite(X).all(-1) & np.isfinite(y)))):
            raise ValueError(f"inputs and outcomes must be finite, row {rows[bad[0]].item()} of {self.y} is not")
        return torch.from_numpy(X), torch.from_numpy(y)


def _open_array(path: Path | str) -> np.ndarray:
    try:
        array = np.load(path, mmap_mode="r")
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file exists here") from None
    except ValueError as error:
        raise ValueError(f"{path}: must be a NumPy file (.npy) of numbers: {error}") from None
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path}: must be a NumPy file (.npy) of one array, got {type(array).__name__}")
    return array
