"""Labels of measurements: who or what measured each of them, and when."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SourceLabels:
    """The sources of ``n`` measured rows.

    Attributes:
        names: ``k`` kinds of source, as ("reactor", "operator").
        levels: The levels of each kind, sorted.
        codes: ``n x k`` integers: which level of a kind measured a row; -1 where the row has no label of that kind.
        order: ``n`` times of the rows: their positions in the order of telling, or hours.

    Raises:
        ValueError: If the shapes do not agree, or a code names no level.

    Example:
        >>> labels = SourceLabels(("reactor",), (("R1", "R2"),), np.array([[0], [1], [-1]]), np.arange(3.0))
        >>> labels.rows_of(0, 1).tolist()
        [1]
    """

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    codes: np.ndarray
    order: np.ndarray

    def __post_init__(self) -> None:
        n, k = len(self.order), len(self.names)
        if self.codes.shape != (n, k) or len(self.levels) != k:
            shapes = f"{self.codes.shape} for {n} rows, {k} names and {len(self.levels)} lists of levels"
            raise ValueError(f"codes must have a row a measurement and a column a kind of source, got {shapes}")
        for name, levels, column in zip(self.names, self.levels, self.codes.T, strict=True):
            if n and not -1 <= column.min() <= column.max() < len(levels):
                code = column.min() if column.min() < -1 else column.max()
                raise ValueError(f"codes of {name} must be from -1 to {len(levels) - 1}, got {code}")

    def rows_of(self, kind: int, level: int) -> np.ndarray:
        """The rows that a level of a kind of source measured, in the order of their times."""
        rows = np.flatnonzero(self.codes[:, kind] == level)
        return rows[np.argsort(self.order[rows], kind="stable")]

    def among(self, rows: np.ndarray) -> "SourceLabels":
        """The labels of some rows alone, with all levels."""
        return SourceLabels(self.names, self.levels, self.codes[rows], self.order[rows])
