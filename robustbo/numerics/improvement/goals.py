"""Goals: what is wanted of an outcome."""

import math
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Goal:
    """Goal of one outcome, in its model's units: larger is better.

    Attributes:
        is_objective: Whether it is to be maximized.
        low: The least value that will do.
        high: The greatest.
        reference: Of an objective among several: what counts as no good.
    """

    is_objective: bool
    low: float = -math.inf
    high: float = math.inf
    reference: float | None = None

    @property
    def is_bounded(self) -> bool:
        """Return whether some values will not do."""
        return self.low > -math.inf or self.high < math.inf

    def violation(self, mean: Tensor) -> Tensor:
        """Amounts by which values break the bounds."""
        return (self.low - mean).clamp_min(0) + (mean - self.high).clamp_min(0)
